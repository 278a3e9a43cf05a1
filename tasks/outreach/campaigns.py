"""Campaigns and daily caps: set, changed, removed.  Callers commit.

A cap that grows lets the lane look at once at what waited for it; one that shrinks
holds from the next wake-up on.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Final
from uuid import UUID

from sqlalchemy import ColumnElement, Select, select, update
from sqlalchemy.orm import Session

from tasks import doorbell
from tasks.clock import utcnow
from tasks.errors import InvalidInput, NotFound
from tasks.models.base import new_id
from tasks.models.congregation import Congregation
from tasks.models.engagement import Agent, Engagement, WaitsFor
from tasks.models.outreach_campaign import OutreachCampaign
from tasks.operations.audit import Actor, Subject, record
from tasks.outreach.checks import CAMPAIGN, DAILY_CAP
from tasks.outreach.ensuring import ensure
from tasks.outreach.scheduling import look_again_at
from tasks.saying import say

LANE: Final = "contact_due"


def campaign_of(
    session: Session, congregation_id: UUID, name: str, now: datetime
) -> tuple[OutreachCampaign, bool]:
    """Return the campaign with a checked name, and whether it was made just now."""
    look = _called(congregation_id, name)
    found = session.scalars(look).one_or_none()
    if found is not None:
        return found, False
    row = OutreachCampaign(
        id=new_id(), congregation_id=congregation_id, name=name, created_at=now
    )
    return ensure(session, row, lambda: session.scalars(look).one_or_none())


def get_campaign(
    session: Session, congregation_id: UUID, name: str
) -> OutreachCampaign:
    """Return a campaign by its name.

    Raises:
        NotFound: the session sees none.
    """
    found = session.scalars(_called(congregation_id, name)).one_or_none()
    if found is None:
        raise _unknown()
    return found


def find_campaign(
    session: Session, congregation_id: UUID, name: str
) -> OutreachCampaign:
    """Return a campaign by its name, and lock it.

    Raises:
        NotFound: the session sees none.
    """
    return _found(session, _called(congregation_id, name))


def campaign_by_id(session: Session, campaign_id: UUID) -> OutreachCampaign:
    """Return a campaign, and lock it.

    Raises:
        NotFound: the session sees none.
    """
    return _found(
        session, select(OutreachCampaign).where(OutreachCampaign.id == campaign_id)
    )


def save_campaign(
    session: Session,
    congregation_id: UUID,
    name: object,
    cap: object,
    actor: Actor,
    *,
    now: datetime | None = None,
) -> tuple[OutreachCampaign, bool]:
    """Make a campaign or change its cap; returns it, and whether it is new.

    Raises:
        NotFound: the session sees no such congregation.
        InvalidInput: the name or the cap cannot be accepted.
    """
    if session.get(Congregation, congregation_id) is None:
        raise NotFound("unknown_congregation", say("There is no such congregation."))
    called = CAMPAIGN(name, "name")
    if called is None:
        raise InvalidInput("required", say("Give the campaign a name."), field="name")
    row, created = campaign_of(session, congregation_id, called, now or utcnow())
    capped = _Capped(
        Subject("outreach_campaign", str(row.id), congregation_id),
        f"the campaign {row.name}",
        WaitsFor.CAMPAIGN_CAP,
        Engagement.campaign == row.name,
    )
    row.daily_cap = _change(session, row.daily_cap, cap, capped, actor)
    session.flush()
    return row, created


def cap_agent(session: Session, agent: Agent, cap: object, actor: Actor) -> None:
    """Say how many wake-ups a day a locked agent gets.

    Raises:
        InvalidInput: the cap cannot be accepted.
    """
    capped = _Capped(
        Subject("agent", str(agent.id), agent.congregation_id),
        agent.address,
        WaitsFor.AGENT_CAP,
        Engagement.agent_id == agent.id,
    )
    agent.daily_cap = _change(session, agent.daily_cap, cap, capped, actor)
    session.flush()


def cap_contacts(
    session: Session, congregation: Congregation, cap: object, actor: Actor
) -> None:
    """Say how many wake-ups a day concern one contact at most, over all agents.

    Raises:
        InvalidInput: the cap cannot be accepted.
    """
    capped = _Capped(
        Subject("congregation", str(congregation.id), congregation.id),
        "each contact",
        WaitsFor.CONTACT_CAP,
        Engagement.congregation_id == congregation.id,
    )
    before = congregation.contact_daily_cap
    congregation.contact_daily_cap = _change(session, before, cap, capped, actor)
    session.flush()


def remove_campaign(session: Session, row: OutreachCampaign, actor: Actor) -> int:
    """Remove a locked campaign; its engagements stay and are in none.

    Returns how many they were; what waited for its cap is looked at at once.
    """
    of_it = (
        Engagement.congregation_id == row.congregation_id,
        Engagement.campaign == row.name,
    )
    look_again_at(session, WaitsFor.CAMPAIGN_CAP, *of_it)
    done = session.execute(
        update(Engagement)
        .where(*of_it)
        .values(campaign=None, version=Engagement.version + 1)
        .execution_options(synchronize_session="fetch")
    )
    n: int = done.rowcount  # type: ignore[attr-defined]  # a cursor result
    subject = Subject("outreach_campaign", str(row.id), row.congregation_id)
    summary = f"Removed the campaign {row.name} with {n} engagements, which stay"
    record(session, actor, "outreach_campaign.removed", subject, summary)
    session.delete(row)
    session.flush()
    doorbell.ask(session, LANE)
    return n


@dataclass(frozen=True, slots=True)
class _Capped:
    """What a cap holds for."""

    subject: Subject
    called: str
    waits_for: WaitsFor
    which: ColumnElement[bool]  # of the congregation's engagements


def _change(
    session: Session, before: int | None, cap: object, capped: _Capped, actor: Actor
) -> int | None:
    """Return the checked cap; notes the change, and looks again when it grew."""
    after: int | None = DAILY_CAP(cap, "daily_cap")
    if before == after:
        return after
    told = f"at most {after}" if after else "any number of"
    record(
        session,
        actor,
        f"{capped.subject.kind}.capped",
        capped.subject,
        f"Set {told} wake-ups a day for {capped.called}",
        before={"daily_cap": before},
        after={"daily_cap": after},
    )
    if before is not None and (after is None or after > before):
        of = Engagement.congregation_id == capped.subject.congregation_id
        look_again_at(session, capped.waits_for, of, capped.which)
        doorbell.ask(session, LANE)
    return after


def _called(congregation_id: UUID, name: str) -> Select[OutreachCampaign]:
    return select(OutreachCampaign).where(
        OutreachCampaign.congregation_id == congregation_id,
        OutreachCampaign.name == name,
    )


def _found(session: Session, statement: Select[OutreachCampaign]) -> OutreachCampaign:
    locked = statement.with_for_update().execution_options(populate_existing=True)
    found = session.scalars(locked).one_or_none()
    if found is None:
        raise _unknown()
    return found


def _unknown() -> NotFound:
    return NotFound("unknown_campaign", say("There is no campaign with this name."))
