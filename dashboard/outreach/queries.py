"""What the pages of outreach read: few queries, whatever the number of rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final
from uuid import UUID

from sqlalchemy import ColumnElement, Row, Select, func, select
from sqlalchemy.orm import Session

from dashboard.outreach.tabs import NEWEST_FIRST
from dashboard.paging import Key, Page, paginate
from tasks.errors import NotFound
from tasks.models import (
    Agent,
    Congregation,
    Contact,
    Engagement,
    WakeState,
)
from tasks.outreach.finding import Wanted, engagements
from tasks.outreach.looking import unknown_engagement
from tasks.saying import say

#: Rows that a section of a page shows at most.
SHOWN_MAX: Final = 100
#: Congregations that a form offers at most.
CHOICES_MAX: Final = 500
#: How agents are listed.
AGENT_KEYS: Final = (Agent.address, Agent.id)


@dataclass(frozen=True, slots=True)
class Listed:
    """An engagement as a list shows it."""

    row: Engagement
    contact: Contact
    agent: Agent
    is_suppressed: bool
    congregation: str

    @property
    def is_paused(self) -> bool:
        """Whether the engagement or its agent is paused."""
        return self.row.paused_at is not None or self.agent.paused_at is not None


@dataclass(frozen=True, slots=True)
class AgentRow:
    """An agent as a list shows it."""

    agent: Agent
    congregation: str
    n_armed: int
    due_since: datetime | None  # None: nothing is due


_Statement = Select[Engagement, Contact, Agent, bool, str]


def listed(
    session: Session,
    wanted: Wanted,
    cursor: str | None,
    limit: int,
    *,
    conditions: Sequence[ColumnElement[bool]] = (),
    order: Sequence[Key] = NEWEST_FIRST,
) -> Page[Listed]:
    """Return a page of engagements; an order by instants needs armed ones."""
    statement = selected(wanted).where(*conditions)
    page = paginate(session, statement, order, cursor, limit)
    rows = [Listed(*row) for row in page.rows]
    return Page(rows, page.next_cursor, page.previous_cursor)


def engagement(session: Session, engagement_id: UUID) -> Listed:
    """Return one engagement.

    Raises:
        NotFound: the session sees none.
    """
    statement = selected(Wanted()).where(Engagement.id == engagement_id)
    found = session.execute(statement).one_or_none()
    if found is None:
        raise unknown_engagement()
    return Listed(*found)


def of_contact(session: Session, contact_id: UUID) -> Sequence[Listed]:
    """Return a contact's engagements, newest first."""
    statement = selected(Wanted(contact_id=contact_id))
    ordered = statement.order_by(Engagement.id.desc()).limit(SHOWN_MAX)
    return [Listed(*row) for row in session.execute(ordered)]


def selected_contacts(
    conditions: Sequence[ColumnElement[bool]],
) -> Select[Contact, str]:
    """Select contacts with their congregation's names."""
    return (
        select(Contact, Congregation.name)
        .join(Congregation, Congregation.id == Contact.congregation_id)
        .where(*conditions)
    )


def contacts(
    session: Session,
    conditions: Sequence[ColumnElement[bool]],
    cursor: str | None,
    limit: int,
) -> Page[Row[Contact, str]]:
    """Return a page of contacts with their congregation's names, newest first."""
    statement = selected_contacts(conditions)
    return paginate(session, statement, [Contact.id.desc()], cursor, limit)


def contact(session: Session, contact_id: UUID) -> Row[Contact, Congregation]:
    """Return one contact.

    Raises:
        NotFound: the session sees none.
    """
    statement = select(Contact, Congregation).join(
        Congregation, Congregation.id == Contact.congregation_id
    )
    found = session.execute(statement.where(Contact.id == contact_id)).one_or_none()
    if found is None:
        raise NotFound("unknown_contact", say("There is no such contact."))
    return found


def selected_agents(
    conditions: Sequence[ColumnElement[bool]],
) -> Select[Agent, str]:
    """Select agents with their congregation's names."""
    return (
        select(Agent, Congregation.name)
        .join(Congregation, Congregation.id == Agent.congregation_id)
        .where(*conditions)
    )


def agents(
    session: Session,
    conditions: Sequence[ColumnElement[bool]],
    now: datetime,
    cursor: str | None,
    limit: int,
) -> Page[AgentRow]:
    """Return a page of agents by address, each with what waits for it."""
    statement = selected_agents(conditions)
    page = paginate(session, statement, AGENT_KEYS, cursor, limit)
    ids = [agent.id for agent, _ in page.rows]
    waiting = {row[0]: (row[1], row[2]) for row in _waiting(session, ids, now)}
    rows = [
        AgentRow(agent, congregation, *waiting.get(agent.id, (0, None)))
        for agent, congregation in page.rows
    ]
    return Page(rows, page.next_cursor, page.previous_cursor)


def _waiting(
    session: Session, ids: Sequence[UUID], now: datetime
) -> Sequence[Row[UUID, int, datetime | None]]:
    due = func.min(Engagement.wake_at).filter(Engagement.wake_at <= now)
    found = session.execute(
        select(Engagement.agent_id, func.count(), due)
        .where(Engagement.wake_state == WakeState.ARMED, Engagement.agent_id.in_(ids))
        .group_by(Engagement.agent_id)
    )
    return found.all()


def congregations(session: Session) -> Sequence[Congregation]:
    """Return the congregations that a form may offer, by name."""
    statement = select(Congregation).order_by(Congregation.name).limit(CHOICES_MAX)
    return session.scalars(statement).all()


def selected(wanted: Wanted) -> _Statement:
    """Select engagements in the order of the fields of ``Listed``."""
    return (
        engagements(wanted)
        .add_columns(Congregation.name)
        .join(Congregation, Congregation.id == Engagement.congregation_id)
    )
