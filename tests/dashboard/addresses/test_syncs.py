"""The pages of syncs: asked for, watched, cancelled, their reports fetched."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path
from typing import Any
from unittest.mock import Mock
from uuid import UUID

import pytest
from sqlalchemy import Engine, select, update
from sqlalchemy.orm import Session

from tasks.clock import utcnow
from tasks.config import Config
from tasks.congregation.loose_files import remove_loose
from tasks.db import sessions
from tasks.lane import Bench
from tasks.lanes.sync import sweep
from tasks.models import Congregation, Sync
from tasks.models.long_job import LongJobState
from tasks.storage import StorageFailed, Stored, make_storage
from tasks.storage.local import LocalStorage
from tests.dashboard.conftest import Browser
from tests.support import address_rows
from tests.support.address_rows import Door, ban, bano, street
from tests.support.fakes import FakePost, bench


@pytest.fixture
def of(congregation: Congregation, sqlite_engine: Engine) -> UUID:
    """Let the congregation want addresses."""
    with Session(sqlite_engine) as session, session.begin():
        address_rows.area(session, congregation.id)
    return congregation.id


@pytest.fixture
def worker(sqlite_engine: Engine, config: Config) -> Bench:
    """Return what the lane works with."""
    from dataclasses import replace

    made = bench(sessions(sqlite_engine), utcnow, FakePost())
    return replace(made, storage=make_storage(config))


def _ask(browser: Browser, of: UUID, *files: bytes, **values: str) -> Any:
    given = [(io.BytesIO(data), f"file-{n}.csv") for n, data in enumerate(files)]
    return browser.post(
        "/addresses/syncs",
        data={"congregation_id": str(of), "files": given, **values},
    )


def _sync(engine: Engine) -> Sync:
    with Session(engine) as session:
        return session.scalars(select(Sync).order_by(Sync.id.desc())).first()  # type: ignore[return-value]


def test_uploaded_files_are_read_and_the_report_can_be_fetched(
    as_operator: Browser, of: UUID, worker: Bench, sqlite_engine: Engine
) -> None:
    answer = _ask(as_operator, of, ban(street(5)), bano([Door("77"), Door("s/n")]))
    where = answer.headers["Location"]
    assert answer.status_code == 303, answer.text
    waiting = as_operator.get(where).text
    assert 'hx-trigger="every 2s"' in waiting
    assert "Why is it waiting?" in waiting

    sweep(worker, 1)

    page = as_operator.get(where).text
    assert "hx-trigger" not in page
    assert "have no house number" in page
    told = json.loads(as_operator.get(f"{where}/report.json").text)
    assert (told["state"], told["report"]["created"]) == ("done", 6)
    rows = list(csv.reader(io.StringIO(as_operator.get(f"{where}/report.csv").text)))
    assert ["created", "6", ""] in rows
    assert ["rejected: no_number", "1", "file-1.csv:2"] in rows
    assert "file-0.csv" in as_operator.get("/addresses/syncs").text
    assert "77" in as_operator.get("/addresses/").text


def test_a_second_request_shows_the_sync_that_is_under_way(
    as_operator: Browser, of: UUID, sqlite_engine: Engine, config: Config
) -> None:
    first = _ask(as_operator, of, ban(street(5)))
    second = _ask(as_operator, of, ban(street(5)))
    assert second.headers["Location"] == first.headers["Location"]
    assert "under way already" in as_operator.get(second.headers["Location"]).text
    with Session(sqlite_engine) as session:
        assert len(session.scalars(select(Sync)).all()) == 1
    assert len(make_storage(config).keys("")) == 1


def test_departments_become_addresses_of_their_files(
    as_operator: Browser, of: UUID, sqlite_engine: Engine
) -> None:
    _ask(as_operator, of, departments="54, 2a", form="bano")
    names = [each["name"] for each in _sync(sqlite_engine).sources]
    assert names == ["bano-54.csv", "bano-2A.csv"]


@pytest.mark.parametrize(
    ("values", "said"),
    [
        ({}, "Choose a department"),
        ({"departments": "20"}, "is no department"),
        ({"urls": "https://example.org/a.csv"}, "no known source"),
        ({"urls": "https://10.0.0.1/a.csv"}, "private"),
        ({"urls": "nonsense"}, "must begin with https"),
        ({"congregation_id": ""}, "Choose a congregation"),
    ],
)
def test_a_request_that_cannot_be_done_is_refused_in_words(
    as_operator: Browser, of: UUID, values: dict[str, str], said: str
) -> None:
    data = {"congregation_id": str(of)} | values
    answer = as_operator.post("/addresses/syncs", data=data)
    assert answer.status_code == 422
    assert said in answer.text


def test_a_congregation_has_to_say_first_which_places_are_its_own(
    as_operator: Browser, congregation: Congregation, config: Config, worker: Bench
) -> None:
    answer = _ask(as_operator, congregation.id, ban(street(5)))
    assert answer.status_code == 422
    assert "which postal codes" in answer.text
    remove_loose(worker, 10)
    assert make_storage(config).keys("") == []


def test_a_sync_is_cancelled_before_it_begins_and_told_while_it_reads(
    as_operator: Browser, of: UUID, sqlite_engine: Engine
) -> None:
    where = _ask(as_operator, of, ban(street(5))).headers["Location"]
    as_operator.post(f"{where}/cancel")
    assert _sync(sqlite_engine).state is LongJobState.CANCELLED
    as_operator.post(f"{where}/cancel")
    assert "come to its end already" in as_operator.get(where).text

    where = _ask(as_operator, of, ban(street(5))).headers["Location"]
    begun = {
        "state": LongJobState.RUNNING,
        "started_at": utcnow(),
        "progress_done": 250,
        "progress_total": 1000,
        "phase": "Reading file-0.csv",
    }
    with Session(sqlite_engine) as session, session.begin():
        session.execute(
            update(Sync).where(Sync.state == LongJobState.QUEUED).values(begun)
        )
    page = as_operator.get(where).text
    assert "25 %" in page
    assert "Reading file-0.csv" in page
    as_operator.post(f"{where}/cancel")
    assert "Ends in a moment" in as_operator.get(where).text
    assert _sync(sqlite_engine).cancel_asked_at is not None


def test_viewers_may_look_but_not_start(as_viewer: Browser, of: UUID) -> None:
    assert as_viewer.get("/addresses/syncs").status_code == 200
    assert as_viewer.get("/addresses/syncs/new").status_code == 403
    assert _ask(as_viewer, of, ban(street(5))).status_code == 403


def test_files_of_a_sync_that_cannot_be_kept_are_not_left_over(
    as_operator: Browser,
    of: UUID,
    config: Config,
    worker: Bench,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    put, no = LocalStorage.put, StorageFailed("The disk is full.")

    def fail(self: LocalStorage, key: str, stream: Any, *, limit: int) -> Stored:
        if self.keys(""):
            raise no
        return put(self, key, stream, limit=limit)

    monkeypatch.setattr(LocalStorage, "put", fail)
    monkeypatch.setattr(LocalStorage, "delete", Mock(side_effect=no))
    answer = _ask(as_operator, of, ban(street(5)), ban(street(6)))
    assert answer.status_code == 422
    assert "The disk is full." in answer.text
    assert len(make_storage(config).keys("")) == 1

    monkeypatch.undo()
    remove_loose(worker, 10)
    assert make_storage(config).keys("") == []


def test_a_file_that_is_too_large_is_refused_in_words(
    as_operator: Browser, of: UUID, app: Any, tmp_path: Path, config: Config
) -> None:
    from dataclasses import replace

    app.config["CARILLON"] = replace(config, archive_limit=1024)
    answer = _ask(as_operator, of, b"x" * 5_000)
    assert answer.status_code == 422
    assert "larger than" in answer.text
    assert make_storage(config).keys("") == []
