"""The lane ``thumbnail``: each content is drawn once, and everything ends somewhere."""

from __future__ import annotations

import io
from collections.abc import Callable
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest
from sqlalchemy import select, text
from sqlalchemy.orm import Session, sessionmaker

from tasks.congregation.documents import files, thumbnails
from tasks.congregation.documents.rendering.pictures import Picture
from tasks.congregation.documents.rendering.renderer import Refused
from tasks.lane import Bench
from tasks.lanes import janitor, thumbnail
from tasks.models import (
    Congregation,
    Document,
    DocumentVersion,
    Event,
    LooseFile,
    StoredFile,
    ThumbnailReason,
    ThumbnailState,
)
from tasks.storage.local import LocalStorage
from tests.conftest import NOW
from tests.support import board_rows as rows
from tests.support.board_rows import PICTURE, FakeRenderer
from tests.support.fakes import FakePost, bench

R, S = ThumbnailReason, ThumbnailState


class Board:
    """A congregation with files, and a clock that can be moved."""

    def __init__(self, make_session: sessionmaker[Session], folder: Path) -> None:
        self.make_session = make_session
        self.storage = LocalStorage(folder)
        self.now = NOW
        self.of = self.congregation("st-mary")

    def congregation(self, slug: str) -> Congregation:
        row = Congregation(slug=slug, name=slug, timezone="UTC")
        with self.make_session(expire_on_commit=False) as session, session.begin():
            session.add(row)
        return row

    def file(self, content: bytes = b"%PDF-1", **values: Any) -> StoredFile:
        of = values.pop("of", self.of)
        values = {"run_at": NOW, **values}
        with self.make_session.begin() as session:
            return rows.stored_file(session, of.id, content, self.storage, **values)

    def document(self, file: StoredFile) -> Document:
        with self.make_session.begin() as session:
            return rows.document(session, self.of.id, file)

    def bench(self, renderer: FakeRenderer | None = None) -> Bench:
        return bench(
            self.make_session,
            lambda: self.now,
            FakePost(),
            storage=self.storage,
            renderer=renderer or FakeRenderer(),
        )

    def sweep(
        self, renderer: FakeRenderer | None = None, limit: int = 10
    ) -> thumbnail.ThumbnailSweep:
        return thumbnail.sweep(self.bench(renderer), limit)

    def read(self, file: StoredFile) -> StoredFile:
        with self.make_session() as session:
            return session.get_one(StoredFile, file.id)

    def events(self) -> list[str]:
        with self.make_session() as session:
            return [each.type for each in session.scalars(select(Event))]

    def keys(self) -> set[str]:
        return set(self.storage.keys(""))


@pytest.fixture
def board(make_session: sessionmaker[Session], tmp_path: Path) -> Board:
    return Board(make_session, tmp_path / "files")


def test_a_file_gets_its_thumbnail_and_its_documents_tell(board: Board) -> None:
    file = board.file()
    board.document(file)
    swept = board.sweep()
    done = board.read(file)
    assert swept == thumbnail.ThumbnailSweep(made=(file.id,))
    assert done.thumbnail_state is S.READY
    assert (done.thumbnail_width, done.thumbnail_height) == (2, 3)
    assert done.thumbnail_at == NOW
    assert done.thumbnail_key is not None
    with board.storage.open(done.thumbnail_key) as stream:
        assert stream.read() == PICTURE.data
    assert board.events() == ["document.thumbnail_ready"]
    with board.make_session() as session:
        assert session.scalars(select(LooseFile)).all() == []


def test_what_waits_longest_comes_first_and_no_more_than_asked(board: Board) -> None:
    late, early = (
        board.file(b"late", run_at=NOW - timedelta(minutes=1)),
        board.file(b"early", run_at=NOW - timedelta(minutes=2)),
    )
    board.file(b"to come", run_at=NOW + timedelta(seconds=1))
    unasked = board.file(
        b"unasked", run_at=NOW - timedelta(days=9), thumbnail_state=S.NONE
    )
    swept = board.sweep(limit=2)
    assert swept.made == (early.id, late.id)
    assert swept.is_full
    assert board.sweep().made == (unasked.id,)
    assert board.sweep() == thumbnail.ThumbnailSweep()


def test_congregations_take_turns(board: Board) -> None:
    flood = [
        board.file(f"{n}".encode(), run_at=NOW - timedelta(hours=1)) for n in range(3)
    ]
    other = board.file(b"other", of=board.congregation("st-paul"))
    with board.make_session.begin() as session:
        taken = [thumbnails.claim_next(session, NOW) for _ in range(4)]
    ids = [claim.file_id for claim in taken if claim is not None]
    assert ids[1] == other.id
    assert set(ids) == {other.id, *(file.id for file in flood)}


def test_two_workers_never_have_the_same_file(board: Board) -> None:
    files = {board.file(b"1").id, board.file(b"2").id}
    with board.make_session.begin() as session:
        first = thumbnails.claim_next(session, NOW)
    with board.make_session.begin() as session:
        second = thumbnails.claim_next(session, NOW)
        assert thumbnails.claim_next(session, NOW) is None
    assert {claim.file_id for claim in (first, second) if claim} == files


def test_what_another_try_cannot_change_fails_at_once_and_may_be_asked_for_again(
    board: Board,
) -> None:
    file = board.file()
    board.document(file)
    swept = board.sweep(FakeRenderer(Refused(R.PASSWORD)))
    done = board.read(file)
    assert swept.failed == (file.id,)
    assert (done.thumbnail_state, done.thumbnail_reason) == (S.FAILED, R.PASSWORD)
    assert board.events() == ["document.thumbnail_failed"]
    assert board.keys() == {file.key}
    assert board.sweep() == thumbnail.ThumbnailSweep()
    with board.make_session.begin() as session:
        assert thumbnails.ask_again(session, [file.id], NOW) == 1
        assert thumbnails.ask_again(session, [file.id], NOW) == 0
    assert board.sweep().made == (file.id,)
    assert board.read(file).thumbnail_reason is None


def test_what_may_pass_is_tried_three_times_with_pauses(board: Board) -> None:
    file = board.file()
    hanging = FakeRenderer(Refused(R.TIMED_OUT))
    for seconds in (5, 10):
        assert board.sweep(hanging).retried == (file.id,)
        waiting = board.read(file)
        assert waiting.thumbnail_state is S.PENDING
        assert waiting.thumbnail_reason is R.TIMED_OUT
        pause = (waiting.run_at - board.now).total_seconds()
        assert seconds <= pause <= 1.2 * seconds
        board.now = waiting.run_at
    assert board.sweep(hanging).failed == (file.id,)
    assert board.read(file).thumbnail_state is S.FAILED


def test_a_file_that_is_not_in_the_storage_has_its_reason(board: Board) -> None:
    file = board.file()
    board.storage.delete(file.key)
    drawer = FakeRenderer()
    assert board.sweep(drawer).retried == (file.id,)
    assert board.read(file).thumbnail_reason is R.FILE_MISSING
    assert drawer.given == []


def test_a_document_removed_while_it_is_drawn_leaves_nothing_behind(
    board: Board,
) -> None:
    file = board.file()
    document = board.document(file)

    def remove() -> Picture:
        with board.make_session.begin() as session:
            for version in session.scalars(select(DocumentVersion)):
                session.delete(version)
            session.flush()
            session.delete(session.get_one(Document, document.id))
            session.flush()
            files.release(session, file.id, board.now)
        return PICTURE

    assert board.sweep(FakeRenderer(remove)).lost == (file.id,)
    assert board.events() == []
    assert len(board.keys()) == 2
    assert len(janitor.sweep(board.bench(), 100).files) == 2
    assert board.keys() == set()


def test_a_late_worker_is_shut_out_and_its_picture_removed(board: Board) -> None:
    file = board.file()
    with board.make_session.begin() as session:
        late = thumbnails.claim_next(session, NOW)
    assert late is not None
    board.now = NOW + thumbnails.LEASE + timedelta(seconds=1)
    assert board.sweep().made == (file.id,)
    board.storage.put(late.picture_key, io.BytesIO(b"old"), limit=9)
    with board.make_session.begin() as session:
        assert thumbnails.settle(session, late, PICTURE, board.now) == "lost"
    janitor.sweep(board.bench(), 100)
    kept = board.read(file).thumbnail_key
    assert kept is not None
    assert board.keys() == {file.key, kept}


def test_a_file_that_takes_its_worker_down_three_times_is_given_up(
    board: Board,
) -> None:
    file = board.file()
    board.document(file)
    for _ in range(3):
        with board.make_session.begin() as session:
            assert thumbnails.claim_next(session, board.now) is not None
        board.now += thumbnails.LEASE + timedelta(seconds=1)
    assert board.sweep() == thumbnail.ThumbnailSweep()
    assert board.read(file).thumbnail_reason is R.WORKER_VANISHED
    assert board.events() == ["document.thumbnail_failed"]


def test_what_a_dead_worker_had_written_is_removed_after_a_day(board: Board) -> None:
    file = board.file()
    with board.make_session.begin() as session:
        claim = thumbnails.claim_next(session, NOW)
    assert claim is not None
    board.storage.put(claim.picture_key, io.BytesIO(PICTURE.data), limit=999)
    board.now = NOW + timedelta(days=1)
    janitor.sweep(board.bench(), 100)
    assert board.keys() == {file.key}


def test_the_backlog_counts_what_is_due(board: Board) -> None:
    board.file(b"1", run_at=NOW - timedelta(minutes=1))
    board.file(b"2", thumbnail_state=S.FAILED)
    board.file(b"3", run_at=NOW + timedelta(minutes=1))
    with board.make_session() as session:
        found = thumbnail.backlog(session, NOW)
    assert (found.n_due, found.oldest_due_at) == (1, NOW - timedelta(minutes=1))


def test_files_that_are_done_cost_a_claim_nothing(
    board: Board, now: datetime, noon: Callable[[], datetime]
) -> None:
    statement = select(StoredFile.id).where(*thumbnails.is_due(NOW))
    with board.make_session() as session:
        dialect = session.get_bind().dialect
        shown = str(
            statement.compile(dialect=dialect, compile_kwargs={"literal_binds": False})
        )
        assert "IN ('none', 'pending')" in shown
        if dialect.name == "sqlite":
            plan = session.execute(
                text(f"EXPLAIN QUERY PLAN {shown.replace('?', '1')}")
            ).all()
            assert "ix_stored_files_waiting" in str(plan)


def test_equal_contents_are_one_file_and_go_with_their_last_document(
    board: Board,
) -> None:
    ids = []
    for _ in range(2):
        upload = files.upload_pdf(
            board.make_session.begin,
            board.storage,
            board.of.id,
            io.BytesIO(b"%PDF-1"),
            limit=100,
            now=NOW,
        )
        with board.make_session.begin() as session:
            ids.append(files.adopt(session, upload, NOW).id)
    assert ids[0] == ids[1]
    janitor.sweep(board.bench(), 100)
    assert len(board.keys()) == 1
    _release(board, ids[0])
    janitor.sweep(board.bench(), 100)
    assert board.keys() == set()


def _release(board: Board, id_: UUID) -> None:
    with board.make_session.begin() as session:
        files.release(session, id_, NOW)
