"""Finding engagements: the filters that the API and the console share."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from sqlalchemy import ColumnElement, Select, and_, not_, or_, select

from tasks.models.contact import Contact
from tasks.models.engagement import Agent, Engagement, WakeState
from tasks.outreach.claiming import is_suppressed

Found = Select[Engagement, Contact, Agent, bool]


@dataclass(frozen=True, slots=True)
class Wanted:
    """Which engagements to find; what is ``None`` or empty does not count."""

    agent: str = ""  # its address, normalised
    address: str = ""  # the contact's, normalised
    contact_id: UUID | None = None
    beginning: str = ""  # of the contact's address, in small letters
    stage: str | None = None
    campaign: str | None = None
    state: WakeState | None = None
    #: Due, and waiting: for quiet hours to end, or for a day with room below a cap.
    waiting: bool | None = None
    replied: bool | None = None
    suppressed: bool | None = None
    #: Also those whose event is out: what an agent that lost its state looks for.
    next_action_before: datetime | None = None
    #: Also those that were never mailed.
    last_outbound_before: datetime | None = None


def engagements(wanted: Wanted) -> Found:
    """Return the statement: engagement, contact, agent, whether it is suppressed."""
    return (
        select(Engagement, Contact, Agent, is_suppressed())
        .join(Contact, Contact.id == Engagement.contact_id)
        .join(Agent, Agent.id == Engagement.agent_id)
        .where(*_conditions(wanted))
    )


def _conditions(wanted: Wanted) -> Iterator[ColumnElement[bool]]:
    if wanted.agent:
        yield Agent.address == wanted.agent
    if wanted.address:
        yield Engagement.address == wanted.address
    if wanted.contact_id is not None:
        yield Engagement.contact_id == wanted.contact_id
    if wanted.beginning:
        yield Engagement.address.startswith(wanted.beginning, autoescape=True)
    if wanted.stage is not None:
        yield Engagement.stage == wanted.stage
    yield from _stands(wanted)
    yield from _facts(wanted)


def _stands(wanted: Wanted) -> Iterator[ColumnElement[bool]]:
    if wanted.campaign is not None:
        yield Engagement.campaign == wanted.campaign
    if wanted.state is not None:
        yield Engagement.wake_state == wanted.state
    if wanted.waiting is not None:
        waits = Engagement.waits_for.is_not(None)
        yield waits if wanted.waiting else not_(waits)


def _facts(wanted: Wanted) -> Iterator[ColumnElement[bool]]:
    if wanted.next_action_before is not None:
        yield Engagement.next_action_at < wanted.next_action_before
    if wanted.last_outbound_before is not None:
        yield or_(
            Engagement.last_outbound_at.is_(None),
            Engagement.last_outbound_at < wanted.last_outbound_before,
        )
    for is_wanted, holds in (
        (wanted.suppressed, is_suppressed()),
        (wanted.replied, has_replied()),
    ):
        if is_wanted is not None:
            yield holds if is_wanted else not_(holds)


def has_replied() -> ColumnElement[bool]:
    """Return ``Engagement.has_replied`` in SQL, never null."""
    return and_(
        Engagement.first_outbound_at.is_not(None),
        Engagement.last_inbound_at.is_not(None),
        Engagement.last_inbound_at > Engagement.first_outbound_at,
    )
