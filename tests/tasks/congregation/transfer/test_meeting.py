"""Rows of an archive meet rows that are here: updated, left out, never another's."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from sqlalchemy import func, select

from tasks.models import Account, Duty, ExternalRef, Member, Territory
from tasks.models.document import Document, StoredFile
from tasks.models.long_job import LongJobState
from tests.support import archives, factories
from tests.support import transfer_rows as rows
from tests.support.transfer_rows import Begin
from tests.tasks.congregation.transfer.conftest import ADA, archive_of

SECTION = {"id": "s", "name": "Rosters"}


def test_rows_of_another_congregation_are_never_taken(
    begin: Begin, tmp_path: Path
) -> None:
    """Neither by their ids, nor by the addresses and numbers that they have there."""
    with begin() as session:
        mine = factories.congregation(session, "mine")
        theirs = factories.congregation(session, "theirs")
        account = Account(congregation_id=theirs, email="x@example.org", name="Theirs")
        session.add(account)
        session.flush()
        stolen, session_id = str(account.id), str(theirs)
    at = rows.bench(begin, tmp_path / "files")
    entities = {"accounts": [{"id": stolen, "email": "X@example.org", "name": "Mine"}]}
    said = archives.manifest({}) | {}
    source = said["source"] | {"congregation": session_id}
    archive = archive_of(tmp_path, entities, source=source)
    assert rows.take_over(at, mine, archive).report["counts"]["accounts"]["new"] == 1
    with begin() as session:
        found = session.scalars(select(Account).order_by(Account.name)).all()
        assert [(row.name, row.congregation_id) for row in found] == [
            ("Mine", mine),
            ("Theirs", theirs),
        ]
        # Nor does what an archive became there count here.
        ref = ExternalRef(
            congregation_id=theirs,
            source=archives.SOURCE,
            entity="members",
            external_id="1",
            row_id=found[1].id,
        )
        session.add(ref)
    taken = rows.take_over(at, mine, archive_of(tmp_path, {"members": [ADA]}))
    assert taken.report["counts"]["members"]["new"] == 1


def test_what_is_here_by_its_number_or_address_is_updated_and_said(
    sqlite_begin: Begin, tmp_path: Path
) -> None:
    with sqlite_begin() as session:
        of = factories.congregation(session)
        session.add(Territory(congregation_id=of, number="7", name="Old"))
        session.add(Duty(congregation_id=of, key="k", name="Same"))
        session.add(
            Member(
                congregation_id=of,
                first_name="Ada",
                last_name="Lamp",
                search_name="lamp ada",
            )
        )
    at = rows.bench(sqlite_begin, tmp_path / "files")
    entities = {
        "members": [ADA],
        "territories": [{"id": "7", "number": "7", "name": "New"}],
        "duties": [{"id": "d", "key": "k", "name": "Same"}],
    }
    checked = rows.check(at, of, archive_of(tmp_path, entities))
    assert checked.report["conflicts"] == {"territories": {"n": 1, "lines": [1]}}
    assert "beside them (line 1)" in " ".join(checked.report["warnings"])
    done = rows.run(at, rows.confirm(at, checked))
    assert done.report["counts"]["territories"]["updated"] == 1
    with sqlite_begin() as session:
        territory = session.scalars(select(Territory)).one()
        assert (territory.name, territory.version) == ("New", 2)
        assert session.scalar(select(func.count()).select_from(Member)) == 2
        refs = set(session.scalars(select(ExternalRef.entity)))
    assert refs == {"members", "territories", "duties"}


def test_what_is_not_known_is_left_out_and_said(
    sqlite_begin: Begin, tmp_path: Path
) -> None:
    with sqlite_begin() as session:
        of = factories.congregation(session)
    at = rows.bench(sqlite_begin, tmp_path / "files")
    entities = {
        "members": [ADA | {"password": "x", "congregation_id": "y"}],
        "spells": [{"id": "1"}],
    }
    checked = rows.check(at, of, archive_of(tmp_path, entities, version="1.7"))
    told = " ".join(checked.report["warnings"])
    for words in ("“password” of 1 rows", "1 rows of “spells”", "1.7, which is newer"):
        assert words in told, told


def test_a_document_needs_its_file_and_shares_it_with_its_like(
    sqlite_begin: Begin, tmp_path: Path
) -> None:
    with sqlite_begin() as session:
        of = factories.congregation(session)
    at = rows.bench(sqlite_begin, tmp_path / "files")
    for content, fault in ((b"%PDF-1.4 x", None), (b"no PDF", "is no PDF")):
        digest = archives.hashlib.sha256(content).hexdigest()
        file = {"id": "f", "sha256": digest, "size": len(content)}
        document = {
            "id": "d",
            "section_id": "s",
            "title": "Roster",
            "file_id": "f",
            "filename": "r.pdf",
        }
        entities: dict[str, list[dict[str, Any]]] = {
            "board-sections": [SECTION],
            "stored-files": [file],
            "documents": [document],
        }
        checked = rows.check(at, of, archive_of(tmp_path, entities, content))
        if fault:
            assert fault in checked.report["problems"][0]["sentence"]
            continue
        assert rows.run(at, rows.confirm(at, checked)).state is LongJobState.DONE
        with sqlite_begin() as session:
            document_id = session.scalars(select(Document.file_id)).one()
            assert session.scalars(select(StoredFile.id)).all() == [document_id]
