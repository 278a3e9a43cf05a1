"""What notifications are about, as it is when the mail leaves."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Final
from uuid import UUID

from sqlalchemy import select
from sqlalchemy.orm import Session

from tasks.bulk import among
from tasks.congregation.notifications.kind import Facts
from tasks.models.document import Document
from tasks.models.member import Member
from tasks.models.territory import Attribution, Territory

#: Reads entities of one type: id -> facts, and nothing for what is no longer there.
Reader = Callable[[Session, UUID, Sequence[UUID]], Mapping[UUID, Facts]]


def _documents(
    session: Session, congregation_id: UUID, ids: Sequence[UUID]
) -> Mapping[UUID, Facts]:
    rows = session.execute(
        select(Document.id, Document.title).where(
            Document.congregation_id == congregation_id,
            among(session, Document.id, ids),
        )
    )
    return {id_: {"title": title} for id_, title in rows}


def _attributions(
    session: Session, congregation_id: UUID, ids: Sequence[UUID]
) -> Mapping[UUID, Facts]:
    rows = session.execute(
        select(Attribution, Territory.number, Territory.name)
        .join(Territory, Territory.id == Attribution.territory_id)
        .where(
            Attribution.congregation_id == congregation_id,
            among(session, Attribution.id, ids),
        )
    )
    return {
        row.id: {
            "territory": f"{number} {name}".strip(),
            "due": row.due_on,
            "is_open": row.is_open,
            "is_paused": row.paused_on is not None,
        }
        for row, number, name in rows
    }


def _members(
    session: Session, congregation_id: UUID, ids: Sequence[UUID]
) -> Mapping[UUID, Facts]:
    rows = session.scalars(
        select(Member).where(
            Member.congregation_id == congregation_id,
            among(session, Member.id, ids),
            Member.anonymised_at.is_(None),
        )
    )
    return {
        row.id: {"member": row.name, "has_left": row.left_on is not None}
        for row in rows
    }


#: Entity type -> its reader; the others are told of whether they are there or not.
READERS: Final[Mapping[str, Reader]] = {
    "attribution": _attributions,
    "document": _documents,
    "member": _members,
}


def facts_of(
    session: Session, congregation_id: UUID, entity_type: str, ids: Sequence[str]
) -> Mapping[str, Facts]:
    """Return the facts of entities by id; those that are gone are not in it."""
    reader = READERS.get(entity_type)
    if reader is None:
        return {id_: {} for id_ in ids}
    wanted = {found: id_ for id_ in ids if (found := _uuid(id_)) is not None}
    read = reader(session, congregation_id, list(wanted))
    return {wanted[id_]: facts for id_, facts in read.items()}


def _uuid(text: str) -> UUID | None:
    try:
        return UUID(text)
    except ValueError:
        return None
