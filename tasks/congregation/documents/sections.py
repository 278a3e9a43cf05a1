"""The sections of a board: its headings, in an order that operators choose."""

from __future__ import annotations

from uuid import UUID

from sqlalchemy import func, select
from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import Session

from tasks.congregation import texts
from tasks.congregation.documents.drafts import NAME_MAX, position
from tasks.errors import Conflict, InvalidInput, NotFound
from tasks.models.document import BoardSection, Document
from tasks.operations.audit import Actor, Subject, record
from tasks.saying import say

#: Where a new section goes unless it is said: behind the others, with room between.
STEP = 10


def add_section(
    session: Session, congregation_id: UUID, name: str, actor: Actor
) -> BoardSection:
    """Add a section behind the others; one of that name is returned as it is.

    Raises:
        InvalidInput: the name is empty or too long.
    """
    wanted = _name(name)
    of = BoardSection.congregation_id == congregation_id
    found = session.scalar(select(BoardSection).where(of, BoardSection.name == wanted))
    if found is not None:
        return found
    last = session.scalar(select(func.max(BoardSection.position)).where(of)) or 0
    row = BoardSection(
        congregation_id=congregation_id,
        name=wanted,
        position=min(last + STEP, 9_999),
    )
    try:
        with session.begin_nested():
            session.add(row)
    except IntegrityError as error:
        raise _taken(wanted) from error
    _note(session, actor, row, "created", f"Added the section “{wanted}”.")
    return row


def change_section(
    session: Session, section_id: UUID, name: str, place: int, actor: Actor
) -> BoardSection:
    """Give a section another name or place.

    Raises:
        NotFound, InvalidInput: there is none, or a field cannot be accepted.
        Conflict: another section has the name.
    """
    row = _section(session, section_id)
    wanted, before = _name(name), row.name
    try:
        with session.begin_nested():
            row.name, row.position = wanted, position(place)
    except IntegrityError as error:
        raise _taken(wanted) from error
    _note(session, actor, row, "updated", f"Changed the section “{before}”.")
    return row


def remove_section(session: Session, section_id: UUID, actor: Actor) -> BoardSection:
    """Remove a section that has no documents.

    Raises:
        NotFound: there is none.
        Conflict: documents are in it.
    """
    row = _section(session, section_id)
    try:
        with session.begin_nested():
            session.delete(row)
    except IntegrityError as error:
        raise Conflict(
            "section_in_use",
            say(
                "“%(name)s” has documents. Move them to another section first.",
                name=row.name,
            ),
        ) from error
    _note(session, actor, row, "deleted", f"Removed the section “{row.name}”.")
    return row


def n_documents(session: Session, section_ids: list[UUID]) -> dict[UUID, int]:
    """Return how many documents each section has; those without are left out."""
    counted = session.execute(
        select(Document.section_id, func.count())
        .where(Document.section_id.in_(section_ids))
        .group_by(Document.section_id)
    )
    return {row[0]: row[1] for row in counted}


def _name(name: str) -> str:
    return texts.line(
        name, "name", NAME_MAX, what=say("The section's name"), required=True
    )


def _taken(name: str) -> InvalidInput:
    return Conflict(
        "name_taken",
        say("There is a section “%(name)s” already.", name=name),
        field="name",
    )


def _section(session: Session, section_id: UUID) -> BoardSection:
    row = session.get(
        BoardSection, section_id, populate_existing=True, with_for_update=True
    )
    if row is None:
        raise NotFound(
            "unknown_section", say("There is no such section, or not any more.")
        )
    return row


def _note(
    session: Session, actor: Actor, row: BoardSection, verb: str, summary: str
) -> None:
    subject = Subject("board_section", str(row.id), row.congregation_id)
    record(session, actor, f"board_section.{verb}", subject, summary)
