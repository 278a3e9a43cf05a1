"""What operators do to documents and sections, and what becomes of the files."""

from __future__ import annotations

import io
from concurrent.futures import ThreadPoolExecutor
from datetime import date, timedelta
from pathlib import Path
from threading import Barrier
from uuid import UUID

import pytest
from sqlalchemy import select
from sqlalchemy.orm import Session, sessionmaker

from tasks.congregation.documents import board, files, sections
from tasks.congregation.documents.drafts import DocumentDraft, clean_filename
from tasks.congregation.documents.files import Upload
from tasks.errors import Conflict, InvalidInput, NotFound
from tasks.lanes import expirations, janitor
from tasks.models import (
    AuditEntry,
    Congregation,
    Document,
    DocumentVersion,
    Measure,
    Notification,
    StoredFile,
)
from tasks.operations.audit import Actor
from tasks.storage.local import LocalStorage
from tests.conftest import NOW
from tests.support.counted import counted
from tests.support.fakes import FakePost, bench

WHO = Actor("operator@example.org")
TODAY = NOW.date()
EVE = TODAY - timedelta(days=1)


class Desk:
    """One congregation with a section, and an operator at work."""

    def __init__(self, make_session: sessionmaker[Session], folder: Path) -> None:
        self.make_session = make_session
        self.storage = LocalStorage(folder)
        of = Congregation(slug="st-mary", name="St Mary", timezone="UTC")
        with make_session(expire_on_commit=False) as session, session.begin():
            session.add(of)
            session.flush()
            self.of = of.id
            self.section = sections.add_section(session, of.id, "Rosters", WHO).id

    def upload(self, content: bytes = b"%PDF-1") -> Upload:
        return files.upload_pdf(
            self.make_session.begin,
            self.storage,
            self.of,
            io.BytesIO(content),
            limit=100,
            now=NOW,
        )

    def draft(self, **values: object) -> DocumentDraft:
        return DocumentDraft(**{"title": "Roster", "section_id": self.section} | values)  # type: ignore[arg-type]

    def add(self, content: bytes = b"%PDF-1", **values: object) -> UUID:
        upload = self.upload(content)
        with self.make_session.begin() as session:
            return board.add_document(
                session, upload, "a.pdf", self.draft(**values), WHO, NOW
            ).id

    def replace(self, id_: UUID, content: bytes) -> None:
        upload = self.upload(content)
        with self.make_session.begin() as session:
            board.replace_file(session, id_, upload, "b.pdf", WHO, NOW)

    def contents(self) -> list[bytes]:
        """Tidy up, and return what is in the storage."""
        janitor.sweep(
            bench(self.make_session, lambda: NOW, FakePost(), storage=self.storage),
            100,
        )
        found = []
        for key in self.storage.keys(""):
            with self.storage.open(key) as stream:
                found.append(stream.read())
        return sorted(found)


@pytest.fixture
def desk(make_session: sessionmaker[Session], tmp_path: Path) -> Desk:
    return Desk(make_session, tmp_path / "files")


def test_a_new_document_has_one_version_and_is_told_of(desk: Desk) -> None:
    id_ = desk.add(title="  Roster   of Ångström ")
    with desk.make_session() as session:
        row = session.get_one(Document, id_)
        assert (row.title, row.search_title) == (
            "Roster of Ångström",
            "roster of angstrom",
        )
        version = session.scalars(select(DocumentVersion)).one()
        assert (version.number, version.file_id) == (1, row.file_id)
        assert session.scalars(select(Notification.type)).all() == ["document.created"]
        deeds = session.scalars(select(AuditEntry.action)).all()
    assert sorted(deeds) == ["board_section.created", "document.created"]


def test_a_replaced_file_stays_as_a_version_and_can_be_taken_back(desk: Desk) -> None:
    id_ = desk.add(b"%PDF-1")
    desk.replace(id_, b"%PDF-2")
    with desk.make_session.begin() as session:
        row = board.take_back(session, id_, 1, WHO, NOW)
        first, second, third = session.scalars(
            select(DocumentVersion).order_by(DocumentVersion.number)
        )
        assert (row.number, row.file_id) == (3, first.file_id)
        assert third.file_id == first.file_id != second.file_id
    assert desk.contents() == [b"%PDF-1", b"%PDF-2"]
    with desk.make_session.begin() as session, pytest.raises(NotFound):
        board.take_back(session, id_, 9, WHO, NOW)
    with pytest.raises(Conflict, match="this very file"):
        desk.replace(id_, b"%PDF-1")


def test_files_go_with_the_last_document_that_needs_them(desk: Desk) -> None:
    one, two = desk.add(b"%PDF-1"), desk.add(b"%PDF-1", title="The same")
    desk.replace(two, b"%PDF-2")
    assert desk.contents() == [b"%PDF-1", b"%PDF-2"]
    with desk.make_session.begin() as session:
        board.delete_document(session, two, WHO, NOW)
    assert desk.contents() == [b"%PDF-1"]
    with desk.make_session.begin() as session:
        board.delete_document(session, one, WHO, NOW)
        assert session.scalars(select(StoredFile)).all() == []
    assert desk.contents() == []


def test_a_change_that_is_rolled_back_leaves_the_file_to_the_janitor(
    desk: Desk,
) -> None:
    upload = desk.upload()
    with (
        desk.make_session() as session,
        pytest.raises(InvalidInput),
        session.begin(),
    ):
        board.add_document(session, upload, "a.pdf", desk.draft(title=" "), WHO, NOW)
    assert desk.contents() == [b"%PDF-1"]  # reserved: it may still be needed
    later = NOW + timedelta(days=1)
    janitor.sweep(
        bench(desk.make_session, lambda: later, FakePost(), storage=desk.storage), 100
    )
    assert list(desk.storage.keys("")) == []
    with desk.make_session() as session, pytest.raises(Conflict, match="too long"):
        files.adopt(session, upload, later)


def test_what_cannot_be_accepted_has_a_sentence_and_a_field(desk: Desk) -> None:
    upload = desk.upload()
    for values, field in (
        ({"title": ""}, "title"),
        ({"title": "x" * 201}, "title"),
        ({"title": "a\u202eb"}, "title"),
        ({"section_id": desk.of}, "section"),
        ({"visible_from": date(1, 1, 1)}, "visible_from"),
        ({"visible_from": TODAY, "visible_until": EVE}, "visible_until"),
        ({"position": -1}, "position"),
    ):
        with desk.make_session() as session, pytest.raises(InvalidInput) as caught:
            board.add_document(session, upload, "a", desk.draft(**values), WHO, NOW)
        assert caught.value.field == field
    for content, code in ((b"", "file_empty"), (b"<html>", "not_a_pdf")):
        with pytest.raises(InvalidInput) as caught:
            desk.upload(content)
        assert caught.value.code == code
    with pytest.raises(InvalidInput, match="larger than 100 bytes"):
        desk.upload(b"%PDF-" + b"x" * 100)


def test_a_change_upon_an_old_sight_is_refused(desk: Desk) -> None:
    id_ = desk.add()
    with desk.make_session.begin() as session:
        draft = desk.draft(title="New", is_highlighted=True)
        board.change_document(session, id_, draft, WHO, NOW, version=1)
    with desk.make_session() as session, pytest.raises(Conflict):
        board.change_document(session, id_, desk.draft(), WHO, NOW, version=1)


def test_sections_are_unique_and_go_only_when_empty(desk: Desk) -> None:
    desk.add()
    with desk.make_session.begin() as session:
        again = sections.add_section(session, desk.of, " Rosters ", WHO)
        assert again.id == desk.section
        other = sections.add_section(session, desk.of, "Letters", WHO)
        assert other.position > again.position
        with pytest.raises(Conflict, match="already"):
            sections.change_section(session, other.id, "Rosters", 1, WHO)
        sections.change_section(session, other.id, "News", 0, WHO)
        with pytest.raises(Conflict, match="has documents"):
            sections.remove_section(session, desk.section, WHO)
        sections.remove_section(session, other.id, WHO)
    with desk.make_session() as session, pytest.raises(NotFound):
        sections.remove_section(session, other.id, WHO)


def test_of_each_last_day_that_is_near_it_is_told_once(desk: Desk) -> None:
    near = desk.add(b"%PDF-1", visible_until=TODAY + timedelta(days=7))
    desk.add(b"%PDF-2", visible_until=TODAY + timedelta(days=8))
    desk.add(b"%PDF-3", visible_until=TODAY - timedelta(days=1))
    desk.add(b"%PDF-4")
    for told in ((near,), ()):
        work = bench(desk.make_session, lambda: NOW, FakePost())
        assert expirations.sweep(work, 10).told == told
    tomorrow = bench(desk.make_session, lambda: NOW + timedelta(days=1), FakePost())
    swept = expirations.sweep(tomorrow, 1)
    assert len(swept.told) == 1
    assert near not in swept.told
    with desk.make_session() as session:
        types = session.scalars(select(Notification.type)).all()
    assert types.count("document.expiring") == 2
    # At noon, six hours after the lane's own.
    assert counted(desk.make_session, "expirations") == {
        Measure.SUCCEEDED: 2,
        Measure.WAIT + 17: 2,
    }


def test_names_of_files_are_harmless() -> None:
    for name, shown in (
        ("-r 9999.pdf", "-r 9999.pdf"),
        ("$(id).pdf", "$(id).pdf"),
        ("a\r\nb.pdf", "ab.pdf"),
        ("..", "document.pdf"),
        (".pdf", "document.pdf"),
        ("", "document.pdf"),
    ):
        assert clean_filename(name) == shown


def test_two_uploads_of_one_content_at_once_are_one_file(desk: Desk) -> None:
    barrier = Barrier(2)

    def add(title: str) -> None:
        upload = desk.upload()
        barrier.wait(30)
        with desk.make_session.begin() as session:
            draft = desk.draft(title=title)
            board.add_document(session, upload, "a.pdf", draft, WHO, NOW)

    with ThreadPoolExecutor(2) as pool:
        list(pool.map(add, ("One", "Two")))
    with desk.make_session() as session:
        assert len(session.scalars(select(StoredFile)).all()) == 1
        assert len(session.scalars(select(Document)).all()) == 2
    assert desk.contents() == [b"%PDF-1"]


def test_a_content_that_comes_back_while_it_is_removed_is_not_lost(desk: Desk) -> None:
    old = desk.add()
    barrier = Barrier(2)

    def remove() -> None:
        barrier.wait(30)
        with desk.make_session.begin() as session:
            board.delete_document(session, old, WHO, NOW)

    def add() -> None:
        upload = desk.upload()
        barrier.wait(30)
        with desk.make_session.begin() as session:
            board.add_document(session, upload, "a.pdf", desk.draft(), WHO, NOW)

    with ThreadPoolExecutor(2) as pool:
        for done in [pool.submit(remove), pool.submit(add)]:
            done.result(60)
    assert desk.contents() == [b"%PDF-1"]
