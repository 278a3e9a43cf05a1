"""What the pages of the board read."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, datetime
from typing import Final
from uuid import UUID

from sqlalchemy import ColumnElement, Select, and_, case, false, or_, select
from sqlalchemy.orm import Session

from dashboard.paging import Key, Page, paginate
from tasks.congregation.days import local_day
from tasks.congregation.documents.expiring import SOON
from tasks.congregation.documents.sentences import SENTENCES
from tasks.errors import NotFound
from tasks.models import (
    BoardSection,
    Congregation,
    Document,
    DocumentVersion,
    StoredFile,
    ThumbnailState,
)
from tasks.saying import say
from tasks.search.documents import standing

#: By congregation, section and place.
KEYS: Final[tuple[Key, ...]] = (
    Congregation.slug,
    BoardSection.position,
    BoardSection.name,
    case((Document.is_highlighted, 0), else_=1),
    Document.position,
    Document.search_title,
    Document.id,
)


@dataclass(frozen=True, slots=True)
class Card:
    """One document as the board shows it."""

    document: Document
    section: BoardSection
    file: StoredFile
    congregation: Congregation
    today: date  # the congregation's

    @property
    def state(self) -> str:
        """How it stands on the board today, as a word of ``states``."""
        row = self.document
        if row.visible_from is not None and self.today < row.visible_from:
            return "to_come"
        if row.visible_until is None:
            return "visible"
        if row.visible_until < self.today:
            return "off_board"
        return "ends_soon" if row.visible_until <= self.today + SOON else "visible"

    @property
    def is_waiting(self) -> bool:
        """Whether its thumbnail is still to come."""
        return is_waiting(self.file)

    @property
    def trouble(self) -> str:
        """Why it has no thumbnail; empty: it has one, or may still get one."""
        return trouble(self.file)


def is_waiting(file: StoredFile) -> bool:
    """Whether a file's thumbnail is still to come."""
    return file.thumbnail_state in {ThumbnailState.PENDING, ThumbnailState.NONE}


def trouble(file: StoredFile) -> str:
    """Return why a file has no thumbnail; empty: it has one, or may still get one."""
    if file.thumbnail_state is not ThumbnailState.FAILED or not file.thumbnail_reason:
        return ""
    return say(SENTENCES[file.thumbnail_reason])


def selected(
    wanted: Sequence[ColumnElement[bool]],
) -> Select[Document, BoardSection, StoredFile, Congregation]:
    """Select documents with what a card shows of them."""
    return _cards().where(*wanted)


def cards(
    session: Session,
    wanted: Sequence[ColumnElement[bool]],
    cursor: str | None,
    limit: int,
    now: datetime,
) -> Page[Card]:
    """Return a page of the board: by congregation, section and place."""
    page = paginate(session, selected(wanted), KEYS, cursor, limit)
    rows = [Card(*row, local_day(now, row[3].timezone)) for row in page.rows]
    return Page(rows, page.next_cursor, page.previous_cursor)


def card(session: Session, document_id: UUID, now: datetime) -> Card:
    """Return one document.

    Raises:
        NotFound: there is none, or not for this operator.
    """
    row = session.execute(_cards().where(Document.id == document_id)).first()
    if row is None:
        raise NotFound(
            "unknown_document", say("There is no such document, or not any more.")
        )
    return Card(*row, local_day(now, row[3].timezone))


def versions(
    session: Session, document_id: UUID
) -> Sequence[tuple[DocumentVersion, StoredFile]]:
    """Return up to a hundred versions of a document, newest first."""
    found = session.execute(
        select(DocumentVersion, StoredFile)
        .join(StoredFile, StoredFile.id == DocumentVersion.file_id)
        .where(DocumentVersion.document_id == document_id)
        .order_by(DocumentVersion.number.desc())
        .limit(100)
    )
    return [(one, file) for one, file in found]


def version(
    session: Session, document_id: UUID, number: int
) -> tuple[DocumentVersion, StoredFile]:
    """Return one version.

    Raises:
        NotFound: there is none, or not for this operator.
    """
    found = session.execute(
        select(DocumentVersion, StoredFile)
        .join(StoredFile, StoredFile.id == DocumentVersion.file_id)
        .where(
            DocumentVersion.document_id == document_id,
            DocumentVersion.number == number,
        )
    ).first()
    if found is None:
        raise NotFound(
            "unknown_version", say("There is no such version, or not any more.")
        )
    return found[0], found[1]


def sections(session: Session, congregation_id: UUID) -> Sequence[BoardSection]:
    """Return a board's sections in their order."""
    return session.scalars(
        select(BoardSection)
        .where(BoardSection.congregation_id == congregation_id)
        .order_by(BoardSection.position, BoardSection.name)
        .limit(500)
    ).all()


def slug_of(session: Session, congregation_id: UUID) -> str:
    """Return a congregation's slug."""
    statement = select(Congregation.slug).where(Congregation.id == congregation_id)
    return session.scalars(statement).one()


def _cards() -> Select[Document, BoardSection, StoredFile, Congregation]:
    return (
        select(Document, BoardSection, StoredFile, Congregation)
        .join(BoardSection, BoardSection.id == Document.section_id)
        .join(StoredFile, StoredFile.id == Document.file_id)
        .join(Congregation, Congregation.id == Document.congregation_id)
    )


def of_tab(
    congregations: Sequence[Congregation], tab: str, now: datetime
) -> ColumnElement[bool]:
    """Return what documents a tab shows; each congregation has its own today."""
    by_day: defaultdict[date, list[UUID]] = defaultdict(list)
    for each in congregations:
        by_day[local_day(now, each.timezone)].append(each.id)
    return or_(
        false(),
        *(
            and_(Document.congregation_id.in_(ids), standing(tab, today))
            for today, ids in by_day.items()
        ),
    )
