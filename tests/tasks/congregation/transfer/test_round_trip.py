"""Out of one congregation and into another: equal apart from ids, table by table."""

from __future__ import annotations

from pathlib import Path

from sqlalchemy import func, select

import dashboard.operators.models  # noqa: F401  # its tables join the metadata
from tasks.congregation.transfer.entities import ENTITIES, PLACE
from tasks.congregation.transfer.stays import STAYS
from tasks.models import Base, Event, ExternalRef, Member, OutboxEntry
from tasks.models.document import LooseFile, StoredFile
from tasks.models.long_job import LongJobState
from tasks.storage.local import LocalStorage
from tests.support import factories, travelling_rows
from tests.support import transfer_rows as rows
from tests.support.transfer_rows import Begin


def test_every_table_of_a_congregation_travels_or_says_why_not() -> None:
    tables = {t.name for t in Base.metadata.tables.values() if "congregation_id" in t.c}
    # Whose congregations an operator sees is a matter of the console.
    tables -= {"operator_congregations"}
    travels = {entity.table.name for entity in ENTITIES}
    assert travels | set(STAYS) == tables
    assert travels & set(STAYS) == set()
    assert all(reason.endswith(".") for reason in STAYS.values())


def test_what_is_referred_to_comes_first() -> None:
    for entity in ENTITIES:
        for other in entity.references.values():
            assert PLACE[other] < PLACE[entity.name], (entity.name, other)


def test_a_congregation_goes_out_and_comes_in_equal_apart_from_ids(
    begin: Begin, tmp_path: Path
) -> None:
    storage = LocalStorage(tmp_path / "files")
    with begin() as session:
        one = factories.congregation(session, "one")
        two = factories.congregation(session, "two")
        three = factories.congregation(session, "three")
        travelling_rows.fill(session, one, storage)
    at = rows.bench(begin, tmp_path / "files")
    exported, archive = rows.export(at, one)
    assert exported.report["warnings"] == []
    imported = rows.take_over(at, two, archive)
    assert imported.state is LongJobState.DONE, imported.error
    _, again = rows.export(at, two)
    rows.take_over(at, three, again)
    with begin() as session:
        first = rows.snapshot(session, one)
        assert all(first[entity.name] for entity in ENTITIES), "a table without a row"
        assert rows.snapshot(session, two) == first
        assert rows.snapshot(session, three) == first
        keys = select(StoredFile.key).where(StoredFile.congregation_id == two)
        assert {storage.size(key) for key in session.scalars(keys)} == {12}
        waiting = select(LooseFile.key).where(LooseFile.remove_after > factories.NOW)
        assert session.scalars(waiting).all() == []


def test_an_archive_that_comes_twice_changes_nothing_and_then_updates(
    begin: Begin, tmp_path: Path
) -> None:
    with begin() as session:
        one = factories.congregation(session, "one")
        two = factories.congregation(session, "two")
        travelling_rows.fill(session, one, LocalStorage(tmp_path / "files"))
    at = rows.bench(begin, tmp_path / "files")
    rows.take_over(at, two, rows.export(at, one)[1])
    again = rows.check(at, two, rows.export(at, one)[1])
    assert (again.report["n_rows"], again.report["n_problems"]) == (0, 0)
    assert again.report["conflicts"] == {}
    with begin() as session:
        n_refs = session.scalar(select(func.count()).select_from(ExternalRef))
        ada = session.scalars(
            select(Member).where(
                Member.congregation_id == one, Member.first_name == "Ada"
            )
        ).one()
        ada.phone = "0700"
    updated = rows.take_over(at, two, rows.export(at, one)[1])
    assert updated.report["counts"]["members"]["updated"] == 1
    assert updated.report["n_rows"] == 1
    with begin() as session:
        found = session.scalars(select(Member).where(Member.congregation_id == two))
        ada_there = next(row for row in found if row.first_name == "Ada")
        assert (ada_there.phone, ada_there.version) == ("0700", 2)
        assert session.scalar(select(func.count()).select_from(ExternalRef)) == n_refs


def test_a_transfer_tells_rules_and_endpoints_what_it_did(
    begin: Begin, tmp_path: Path
) -> None:
    with begin() as session:
        one = factories.congregation(session, "one")
        two = factories.congregation(session, "two")
        travelling_rows.fill(session, one, LocalStorage(tmp_path / "files"))
    at = rows.bench(begin, tmp_path / "files")
    rows.take_over(at, two, rows.export(at, one)[1])
    with begin() as session:
        found = session.execute(select(Event.type, Event.congregation_id)).all()
        assert set(found) == {
            ("data_transfer.completed", one),
            ("data_transfer.completed", two),
        }
        assert session.scalars(select(OutboxEntry.id)).all() == []
