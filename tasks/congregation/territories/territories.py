"""Territories: made, changed, deleted; who works on them stands in ``attributions``."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final
from uuid import UUID

from sqlalchemy import exists, select
from sqlalchemy.orm import Session

from tasks.congregation.campaigns.transitions import undecided
from tasks.congregation.days import locked
from tasks.congregation.texts import line, notes, one_of
from tasks.errors import Conflict, NotFound
from tasks.models import (
    Attribution,
    Campaign,
    CampaignTerritory,
    Congregation,
    Territory,
    TerritoryKind,
    new_id,
)
from tasks.operations.audit import Actor, Subject, record
from tasks.saying import say

NUMBER_MAX: Final = 32
NAME_MAX: Final = 120


@dataclass(frozen=True, slots=True)
class TerritoryDraft:
    """What an operator may say about a territory."""

    number: str
    name: str = ""
    kind: str = TerritoryKind.DOOR_TO_DOOR
    notes: str = ""


def create_territory(
    session: Session, congregation_id: UUID, draft: TerritoryDraft, actor: Actor
) -> Territory:
    """Add a territory.

    Raises:
        InvalidInput: a field cannot be accepted; ``field`` names it.
        Conflict: another one has the number.
        NotFound: the session sees no such congregation.
    """
    locked(session, congregation_id)
    values = _checked(session, congregation_id, draft, None)
    row = Territory(id=new_id(), congregation_id=congregation_id, **values)
    session.add(row)
    session.flush()
    note(session, actor, row, "territory.created", f"Made territory {row.number}.")
    return row


def edit_territory(
    session: Session,
    territory_id: UUID,
    draft: TerritoryDraft,
    actor: Actor,
    *,
    version: int | None = None,
) -> bool:
    """Change a territory; False: it was so already.

    Args:
        version: what the operator saw; None: whatever there is.

    Raises:
        InvalidInput: a field cannot be accepted.
        Conflict: another one has the number, or somebody else changed it meanwhile.
        NotFound: the session sees no such territory.
    """
    row, _ = locked_territory(session, territory_id)
    if version is not None and row.version != version:
        raise Conflict(
            "changed_meanwhile",
            say(
                "Somebody changed this territory while you were at it; look at it anew."
            ),
        )
    values = _checked(session, row.congregation_id, draft, row.id)
    before = {name: getattr(row, name) for name in values}
    if before == values:
        return False
    for name, value in values.items():
        setattr(row, name, value)
    row.version += 1
    note(session, actor, row, "territory.edited", f"Changed territory {row.number}.")
    return True


def delete_territory(session: Session, territory_id: UUID, actor: Actor) -> None:
    """Delete a territory that nobody ever worked on.

    Raises:
        Conflict: somebody did, or a campaign that is not over names it: without its
            last territory the campaign would mean every one.
        NotFound: the session sees no such territory.
    """
    row, _ = locked_territory(session, territory_id)
    worked = exists().where(Attribution.territory_id == row.id)
    if session.scalar(select(worked)):
        raise Conflict(
            "territory_worked",
            say("Members have worked on this territory; its history is kept."),
        )
    named = session.scalar(
        select(Campaign.name)
        .join(CampaignTerritory, CampaignTerritory.campaign_id == Campaign.id)
        .where(CampaignTerritory.territory_id == row.id, undecided())
        .limit(1)
    )
    if named is not None:
        raise Conflict(
            "territory_in_scope",
            say(
                "The campaign “%(name)s” names this territory; take it out there "
                "first.",
                name=named,
            ),
        )
    note(session, actor, row, "territory.deleted", f"Deleted territory {row.number}.")
    session.delete(row)
    session.flush()


def territory(session: Session, territory_id: UUID) -> Territory:
    """Return a territory.

    Raises:
        NotFound: the session sees none.
    """
    row = session.get(Territory, territory_id, populate_existing=True)
    if row is None:
        raise NotFound("unknown_territory", say("There is no such territory."))
    return row


def locked_territory(
    session: Session, territory_id: UUID
) -> tuple[Territory, Congregation]:
    """Return a territory as it is now, and its congregation, which is locked.

    Raises:
        NotFound: the session sees none, or somebody deleted it just now.
    """
    of = locked(session, territory(session, territory_id).congregation_id)
    return territory(session, territory_id), of


def note(
    session: Session, actor: Actor, row: Territory, action: str, summary: str
) -> None:
    """Add an audit entry about a territory; it names no member."""
    subject = Subject("territory", str(row.id), row.congregation_id)
    record(session, actor, action, subject, summary)


def _checked(
    session: Session, congregation_id: UUID, draft: TerritoryDraft, but: UUID | None
) -> dict[str, Any]:
    number = line(
        draft.number, "number", NUMBER_MAX, what=say("A number"), required=True
    )
    others = select(Territory.id).where(
        Territory.congregation_id == congregation_id, Territory.number == number
    )
    others = others.where(Territory.id != but) if but else others
    if session.scalar(others) is not None:
        raise Conflict(
            "number_taken",
            say("There is a territory %(number)s already.", number=number),
            field="number",
        )
    return {
        "number": number,
        "name": line(draft.name, "name", NAME_MAX, what=say("A name")),
        "kind": one_of(draft.kind, TerritoryKind, "kind"),
        "notes": notes(draft.notes),
    }
