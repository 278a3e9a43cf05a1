"""Reading one engagement, and locking it."""

from __future__ import annotations

from uuid import UUID

from sqlalchemy import Select, select
from sqlalchemy.orm import Session

from tasks.errors import NotFound
from tasks.models.engagement import Agent, Engagement
from tasks.saying import say


def locked_engagement(
    session: Session, congregation_id: UUID, agent: str, address: str
) -> Engagement | None:
    """Return an engagement by normalised addresses, and lock it."""
    return session.scalars(
        locked()
        .join(Agent, Agent.id == Engagement.agent_id)
        .where(
            Engagement.congregation_id == congregation_id,
            Engagement.address == address,
            Agent.congregation_id == congregation_id,
            Agent.address == agent,
        )
    ).one_or_none()


def get_engagement(session: Session, engagement_id: UUID) -> Engagement:
    """Return an engagement, and lock it.

    Raises:
        NotFound: the session sees none.
    """
    found = session.scalars(
        locked().where(Engagement.id == engagement_id)
    ).one_or_none()
    if found is None:
        raise unknown_engagement()
    return found


def unknown_engagement() -> NotFound:
    """Return the refusal of an engagement that is not there."""
    return NotFound(
        "unknown_engagement", say("This agent has no engagement with this contact.")
    )


def locked() -> Select[Engagement]:
    """Return the statement that reads and locks engagements."""
    return (
        select(Engagement)
        .with_for_update(of=Engagement)
        .execution_options(populate_existing=True)
    )
