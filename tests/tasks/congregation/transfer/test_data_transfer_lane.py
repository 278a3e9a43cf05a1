"""The lane of archives: one at a time, cancelled, given back, killed, and expired."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import replace
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest
from sqlalchemy import Engine, func, select

from tasks.congregation import loose_files
from tasks.congregation.transfer import starting, steering, working
from tasks.congregation.transfer.jobs import KEEP_EXPORTS
from tasks.db import sessions
from tasks.errors import Conflict, NotFound
from tasks.lanes import data_transfer, rescue
from tasks.long_jobs import LEASE
from tasks.models import AuditEntry, Event, Member, Transfer
from tasks.models.long_job import LongJobState
from tests.support import archives, factories, travelling_rows
from tests.support import transfer_rows as rows
from tests.support.locks import waits_for_a_lock
from tests.support.processes import until
from tests.support.transfer_rows import ANNA, NOW, Begin

_ADA = {"id": "1", "first_name": "Ada", "last_name": "Lamp"}


@pytest.fixture
def archive(tmp_path: Path) -> bytes:
    return archives.write(tmp_path / "a.carillon", {"members": [_ADA]}).read_bytes()


class _Killed(BaseException):
    """Stands for a worker's death: nothing of its own clean-up is done."""


def test_a_worker_that_dies_in_an_import_has_changed_nothing(
    begin: Begin, tmp_path: Path, archive: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    with begin() as session:
        of = factories.congregation(session)
    at = rows.bench(begin, tmp_path / "files")
    for place in ("in_import", "in_import_writing"):
        checked = rows.check(at, of, archive)
        id_ = rows.confirm(at, checked)

        def die(name: str, place: str = place) -> None:
            if name == place:
                raise _Killed

        monkeypatch.setattr(working, "reached", die)
        with pytest.raises(_Killed):
            data_transfer.sweep(at, 1)
        late = replace(at, clock=lambda: NOW + LEASE + timedelta(seconds=1))
        assert id_ in rescue.sweep(late, 100).long_jobs
        with begin() as session:
            row = session.get_one(Transfer, id_)
            assert (row.state, row.error_code) == (LongJobState.FAILED, "vanished")
            assert session.scalar(select(func.count()).select_from(Member)) == 0
            failed = select(Event.id).where(Event.type == "data_transfer.failed")
            assert session.scalars(failed).all()
        # The archive is the check's again, so it can be taken over yet.
        monkeypatch.setattr(working, "reached", lambda _: None)
        with begin() as session:
            check = session.get_one(Transfer, checked.id)
            assert starting.why_not(check) is None
            steering.remove(session, check.id, ANNA, NOW)


def test_a_death_in_an_export_leaves_no_file(
    sqlite_begin: Begin, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with sqlite_begin() as session:
        of = factories.congregation(session)
        starting.start_export(session, of, ANNA, files=True, audit=True, now=NOW)
    at = rows.bench(sqlite_begin, tmp_path / "files")

    def die(_: str) -> None:
        raise _Killed

    monkeypatch.setattr(working, "reached", die)
    with pytest.raises(_Killed):
        data_transfer.sweep(at, 1)
    assert len(at.storage.keys("")) == 1
    later = replace(at, clock=lambda: NOW + timedelta(days=2))
    assert len(loose_files.remove_loose(later, 10)) == 1
    assert at.storage.keys("") == []


def test_one_transfer_of_a_congregation_at_a_time(
    sqlite_begin: Begin, tmp_path: Path, archive: bytes
) -> None:
    with sqlite_begin() as session:
        of = factories.congregation(session)
        first = starting.start_export(
            session, of, ANNA, files=False, audit=False, now=NOW
        ).id
    with sqlite_begin() as session, pytest.raises(Conflict, match="under way"):
        starting.start_export(session, of, ANNA, files=False, audit=False, now=NOW)
    with sqlite_begin() as session:
        steering.cancel(session, first, ANNA, NOW)
    with sqlite_begin() as session, pytest.raises(Conflict, match="its end"):
        steering.cancel(session, first, ANNA, NOW)
    at = rows.bench(sqlite_begin, tmp_path / "files")
    assert data_transfer.sweep(at, 1).done == ()
    checked = rows.check(at, of, archive)
    rows.run(at, rows.confirm(at, checked))
    with sqlite_begin() as session, pytest.raises(Conflict, match="was imported"):
        starting.confirm(session, checked.id, ANNA, 1, NOW)
    with sqlite_begin() as session, pytest.raises(NotFound):
        steering.get_transfer(session, of)


def test_a_waiting_import_that_is_cancelled_can_be_confirmed_again(
    sqlite_begin: Begin, tmp_path: Path, archive: bytes
) -> None:
    with sqlite_begin() as session:
        of = factories.congregation(session)
    at = rows.bench(sqlite_begin, tmp_path / "files")
    checked = rows.check(at, of, archive)
    with sqlite_begin() as session, pytest.raises(Conflict, match="another one by now"):
        starting.confirm(session, checked.id, ANNA, 99, NOW)
    id_ = rows.confirm(at, checked)
    with sqlite_begin() as session:
        steering.cancel(session, id_, ANNA, NOW)
    assert rows.run(at, rows.confirm(at, checked)).state is LongJobState.DONE


def test_a_running_transfer_hears_that_it_is_cancelled_or_the_worker_stops(
    sqlite_begin: Begin, tmp_path: Path, archive: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    with sqlite_begin() as session:
        of = factories.congregation(session)
    stopping = threading.Event()
    at = replace(rows.bench(sqlite_begin, tmp_path / "files"), stopping=stopping)
    checked = rows.check(at, of, archive)
    id_ = rows.confirm(at, checked)
    asked: list[Callable[[], Any]] = [stopping.set, lambda: _cancel(at.begin, id_)]

    def interrupt(*_: Any) -> None:
        asked.pop(0)()

    monkeypatch.setattr(working, "_put_files", interrupt)
    assert data_transfer.sweep(at, 1).given_back == (id_,)
    stopping.clear()
    assert data_transfer.sweep(at, 1).cancelled == (id_,)
    with sqlite_begin() as session:
        assert session.scalar(select(func.count()).select_from(Member)) == 0
        assert starting.why_not(session.get_one(Transfer, checked.id)) is None


def _cancel(begin: Begin, id_: Any) -> None:
    with begin() as session:
        steering.cancel(session, id_, ANNA, NOW)


def test_an_archive_that_changed_meanwhile_changes_nothing(
    begin: Begin, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with begin() as session:
        of = factories.congregation(session)
    at = rows.bench(begin, tmp_path / "files")
    territory = {"id": "1", "number": "7"}
    path = archives.write(
        tmp_path / "a", {"members": [_ADA], "territories": [territory]}
    )
    id_ = rows.confirm(at, rows.check(at, of, path.read_bytes()))

    def interfere(*_: Any) -> None:
        from tasks.models import Territory

        with begin() as session:
            session.add(Territory(congregation_id=of, number="7"))

    monkeypatch.setattr(working, "_put_files", interfere)
    row = rows.run(at, id_)
    assert (row.state, row.error_code) == (LongJobState.FAILED, "changed_meanwhile")
    with begin() as session:
        assert session.scalar(select(func.count()).select_from(Member)) == 0


def test_archives_are_let_go_after_their_time_and_downloads_are_written_down(
    begin: Begin, tmp_path: Path
) -> None:
    with begin() as session:
        of = factories.congregation(session)
    at = rows.bench(begin, tmp_path / "files")
    row, _ = rows.export(at, of, audit=True)
    with begin() as session:
        steering.fetch(session, row.id, ANNA)
    assert data_transfer.sweep(at, 1).expired == ()
    later = replace(at, clock=_after(KEEP_EXPORTS))
    assert data_transfer.sweep(later, 1).expired == (row.id,)
    assert len(loose_files.remove_loose(later, 10)) == 1
    assert at.storage.keys("") == []
    with begin() as session:
        assert session.get_one(Transfer, row.id).is_expired
        actions = session.scalars(
            select(AuditEntry.action).order_by(AuditEntry.id)
        ).all()
        with pytest.raises(Conflict, match="export again"):
            steering.fetch(session, row.id, ANNA)
    assert actions == [
        "transfer.requested",
        "transfer.exported",
        "transfer.downloaded",
    ]


def test_a_file_that_the_storage_lost_stays_out_with_its_document(
    sqlite_begin: Begin, tmp_path: Path
) -> None:
    at = rows.bench(sqlite_begin, tmp_path / "files")
    with sqlite_begin() as session:
        one = factories.congregation(session, "one")
        two = factories.congregation(session, "two")
        travelling_rows.fill(session, one, at.storage)
    for key in at.storage.keys(f"{one}/board/"):
        at.storage.delete(key)
    exported, archive = rows.export(at, one)
    assert "does not have the file" in " ".join(exported.report["warnings"])
    counts = rows.take_over(at, two, archive).report["counts"]
    assert (counts["board-sections"]["new"], "documents" in counts) == (1, False)


def _after(span: timedelta) -> Callable[[], datetime]:
    return lambda: NOW + span


@pytest.mark.parametrize("at_once", ["remove", "import"])
def test_an_archive_that_is_removed_is_nobody_else_s(
    postgres_engine: Engine, at_once: str
) -> None:
    begin = sessions(postgres_engine).begin
    refused: list[Conflict] = []
    with begin() as session:
        of = factories.congregation(session)
        id_ = UUID(rows.on_its_way(session, of, "x")["transfer_id"])
        row = session.get_one(Transfer, id_)
        row.report = row.report | {"n_problems": 0}

    def too() -> None:
        try:
            with begin() as session:
                if at_once == "remove":
                    steering.remove(session, id_, ANNA, NOW)
                else:
                    starting.confirm(session, id_, ANNA, 1, NOW)
        except Conflict as error:
            refused.append(error)

    other = threading.Thread(target=too)
    with begin() as session:
        steering.remove(session, id_, ANNA, NOW)
        other.start()
        until(lambda: waits_for_a_lock(postgres_engine))
    other.join(30)

    expected = {
        "remove": "There is no archive to remove.",
        "import": "The archive was imported, or is not kept any more. Upload it again.",
    }
    assert [error.message for error in refused] == [expected[at_once]]
