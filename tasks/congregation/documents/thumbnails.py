"""Thumbnails of stored files: claimed, settled, asked for again, and reported."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final
from uuid import UUID

from sqlalchemy import ColumnElement, func, literal_column, or_, select, update
from sqlalchemy.orm import Session, aliased

from tasks import doorbell
from tasks.automation.own import Happening, report
from tasks.backlogs import waiting
from tasks.backoff import Pauses, wait_after
from tasks.bulk import among
from tasks.congregation import loose_files
from tasks.congregation.documents.files import LANE, PURPOSE
from tasks.congregation.documents.rendering.pictures import Picture
from tasks.congregation.documents.rendering.renderer import PERMANENT, Refused
from tasks.congregation.documents.sentences import SENTENCES
from tasks.lane import Backlog
from tasks.models.congregation import Congregation
from tasks.models.document import (
    Document,
    StoredFile,
    ThumbnailReason,
    ThumbnailState,
)
from tasks.models.rollup import Measure
from tasks.rollups.work import Work, note_work
from tasks.storage import key_of

#: Longer than fetching the file and the renderer's patience together.
LEASE: Final = timedelta(seconds=75)
TRIES: Final = 3
PAUSES: Final = Pauses(timedelta(seconds=5), timedelta(minutes=5), is_kept=True)
#: What becomes of a try, as it is counted.
_OUTCOMES: Final = {
    "made": Measure.SUCCEEDED,
    "retried": Measure.RETRIED,
    "failed": Measure.FAILED,
}
_S = ThumbnailState
#: In the words of the partial index, so that both databases use it.
_WAITS: Final = StoredFile.thumbnail_state.in_(
    [literal_column("'none'"), literal_column("'pending'")]
)


@dataclass(frozen=True, slots=True)
class Claim:
    """A file whose thumbnail is being made; ``attempt`` is the fence."""

    file_id: UUID
    congregation_id: UUID
    attempt: int
    key: str  # the PDF
    picture_key: str  # where its PNG goes; reserved


def claim_next(session: Session, now: datetime) -> Claim | None:
    """Take the file that waits longest; ``None``: none does, or others take them.

    Congregations take turns: one that has a file under way comes after the others.
    What nobody asked for, such as files of an import, comes last.
    """
    while (file := _next(session, now)) is not None:
        if file.lease_until is not None:  # whoever had it did not come back
            file.failures += 1
            if file.failures >= TRIES:
                _give_up(session, file, ThumbnailReason.WORKER_VANISHED, now)
                gone = Work(file.congregation_id, Measure.FAILED)
                note_work(session, LANE, [gone], now)
                continue
        file.thumbnail_state = _S.PENDING
        file.attempt += 1
        file.lease_until = now + LEASE
        name = f"{file.id}-{file.attempt}.png"
        key = key_of(file.congregation_id, PURPOSE, name)
        loose_files.reserve(session, file.congregation_id, key, now)
        return Claim(file.id, file.congregation_id, file.attempt, file.key, key)
    return None


def settle(
    session: Session, claim: Claim, got: Picture | Refused, now: datetime
) -> str:
    """Write down what came of it: "made", "retried", "failed", or "lost".

    Lost: the file was removed meanwhile, or somebody else has it; then the picture is
    removed as well.
    """
    file = session.scalars(
        select(StoredFile)
        .where(StoredFile.id == claim.file_id, StoredFile.attempt == claim.attempt)
        .with_for_update()
        .execution_options(populate_existing=True)
    ).first()
    if file is None or file.lease_until is None:
        loose_files.drop(session, claim.picture_key, now)
        return "lost"
    began = file.lease_until - LEASE
    wait = None if file.failures else began - file.run_at
    if isinstance(got, Picture):
        _keep(session, file, claim, got, now)
        word = "made"
    else:
        loose_files.drop(session, claim.picture_key, now)
        word = _fail(session, file, got, now)
    work = Work(file.congregation_id, _OUTCOMES[word], wait, now - began)
    note_work(session, LANE, [work], now)
    return word


def ask_again(session: Session, file_ids: Sequence[UUID], now: datetime) -> int:
    """Let thumbnails that failed be tried anew, with all tries; returns how many."""
    asked = session.execute(
        update(StoredFile)
        .where(
            among(session, StoredFile.id, file_ids),
            StoredFile.thumbnail_state == _S.FAILED,
        )
        .values(
            thumbnail_state=_S.PENDING,
            thumbnail_reason=None,
            failures=0,
            run_at=now,
            lease_until=None,
        )
        .execution_options(synchronize_session="fetch")
    )
    doorbell.ask(session, LANE)
    return int(asked.rowcount)  # type: ignore[attr-defined]  # a cursor result


def may_be_drawn(session: Session, of: Sequence[UUID], limit: int) -> Sequence[UUID]:
    """Return files without thumbnail that another try could give one, oldest first.

    Args:
        of: congregations.
    """
    return session.scalars(
        select(StoredFile.id)
        .where(
            among(session, StoredFile.congregation_id, of),
            StoredFile.thumbnail_state == _S.FAILED,
            StoredFile.thumbnail_reason.not_in(PERMANENT),
        )
        .order_by(StoredFile.id)
        .limit(limit)
    ).all()


def backlog(session: Session, now: datetime) -> Backlog:
    """Return how many files wait for their thumbnail."""
    return waiting(session, StoredFile.run_at, *is_due(now))


def is_due(now: datetime) -> tuple[ColumnElement[bool], ...]:
    """Return what makes a file's thumbnail due."""
    is_free = or_(StoredFile.lease_until.is_(None), StoredFile.lease_until < now)
    return (_WAITS, StoredFile.run_at <= now, is_free)


def _next(session: Session, now: datetime) -> StoredFile | None:
    other = aliased(StoredFile)
    n_under_way = (
        select(func.count())
        .where(
            other.congregation_id == StoredFile.congregation_id,
            other.lease_until >= now,
        )
        .scalar_subquery()
    )
    return session.scalars(
        select(StoredFile)
        .where(*is_due(now))
        .order_by(
            StoredFile.thumbnail_state == _S.NONE,
            n_under_way,
            StoredFile.run_at,
            StoredFile.id,
        )
        .limit(1)
        .with_for_update(skip_locked=True, of=StoredFile)
        .execution_options(populate_existing=True)
    ).first()


def _keep(
    session: Session, file: StoredFile, claim: Claim, picture: Picture, now: datetime
) -> None:
    loose_files.keep(session, claim.picture_key, now)
    if file.thumbnail_key is not None:
        loose_files.let_go(session, file.congregation_id, file.thumbnail_key, now)
    file.thumbnail_state = _S.READY
    file.thumbnail_reason = None
    file.thumbnail_key = claim.picture_key
    file.thumbnail_width, file.thumbnail_height = picture.width, picture.height
    file.thumbnail_at = now
    file.lease_until = None
    file.failures = 0
    _tell(session, file, "document.thumbnail_ready", now)


def _fail(session: Session, file: StoredFile, got: Refused, now: datetime) -> str:
    file.failures += 1
    if got.is_permanent or file.failures >= TRIES:
        _give_up(session, file, got.reason, now)
        return "failed"
    file.thumbnail_reason = got.reason
    file.run_at = now + wait_after(file.failures, pauses=PAUSES)
    file.lease_until = None
    return "retried"


def _give_up(
    session: Session, file: StoredFile, reason: ThumbnailReason, now: datetime
) -> None:
    file.thumbnail_state = _S.FAILED
    file.thumbnail_reason = reason
    file.thumbnail_at = now
    file.lease_until = None
    session.flush()
    _tell(session, file, "document.thumbnail_failed", now)


def _tell(session: Session, file: StoredFile, what: str, now: datetime) -> None:
    """Report it of each document that the file is today."""
    said: dict[str, str] = {}
    if file.thumbnail_reason is not None:
        said["error"] = SENTENCES[file.thumbnail_reason]
    of = session.execute(
        select(Congregation.name, Congregation.slug).where(
            Congregation.id == file.congregation_id
        )
    ).one()
    documents = session.scalars(
        select(Document).where(Document.file_id == file.id).order_by(Document.id)
    )
    report(
        session,
        [
            Happening(
                what,
                file.congregation_id,
                each.id,
                {
                    "congregation": {"name": of.name, "slug": of.slug},
                    "document": {"id": str(each.id), "title": each.title, **said},
                },
                occurrence=f"{file.id}:{file.attempt}",
            )
            for each in documents
        ],
        now,
    )
