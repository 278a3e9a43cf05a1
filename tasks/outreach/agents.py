"""Agents: made known by their first engagement, paused, resumed, removed."""

from __future__ import annotations

from datetime import datetime
from uuid import UUID

from sqlalchemy import Select, select
from sqlalchemy.orm import Session

from tasks.clock import utcnow
from tasks.errors import Conflict, NotFound
from tasks.models.base import new_id
from tasks.models.engagement import Agent, Engagement, PassedBecause
from tasks.operations.audit import Actor, Subject, record
from tasks.outreach.checks import checked_address
from tasks.outreach.ensuring import ensure
from tasks.outreach.scheduling import acknowledge
from tasks.saying import say


def agent_of(
    session: Session, congregation_id: UUID, address: str, now: datetime
) -> Agent:
    """Return the agent with a normalised address; a new one is made known."""
    look = select(Agent).where(
        Agent.congregation_id == congregation_id, Agent.address == address
    )
    found = session.scalars(look).one_or_none()
    if found is not None:
        return found
    row = Agent(
        id=new_id(), congregation_id=congregation_id, address=address, created_at=now
    )
    return ensure(session, row, lambda: session.scalars(look).one_or_none())[0]


def know_agent(
    session: Session, congregation_id: UUID, address: str, now: datetime
) -> tuple[Agent, bool]:
    """Return an agent, locked and made known if need be, and whether it is new.

    Raises:
        InvalidInput: it is no address.
    """
    normal = checked_address(address, "agent")
    look = _locked(_called(congregation_id, normal))
    found = session.scalars(look).one_or_none()
    if found is not None:
        return found, False
    row = Agent(
        id=new_id(), congregation_id=congregation_id, address=normal, created_at=now
    )
    return ensure(session, row, lambda: session.scalars(look).one_or_none())


def find_agent(session: Session, congregation_id: UUID, address: str) -> Agent:
    """Return an agent by its address.

    Raises:
        NotFound: the session sees none.
    """
    return _found(session, _called(congregation_id, address))


def get_agent(session: Session, congregation_id: UUID, address: str) -> Agent:
    """Return an agent by its address, and lock it.

    Raises:
        NotFound: the session sees none.
    """
    return _found(session, _locked(_called(congregation_id, address)))


def agent_by_id(session: Session, agent_id: UUID) -> Agent:
    """Return an agent, and lock it.

    Raises:
        NotFound: the session sees none.
    """
    return _found(session, _locked(select(Agent).where(Agent.id == agent_id)))


def _called(congregation_id: UUID, address: str) -> Select[Agent]:
    return select(Agent).where(
        Agent.congregation_id == congregation_id,
        Agent.address == checked_address(address, "agent"),
    )


def _locked(statement: Select[Agent]) -> Select[Agent]:
    return statement.with_for_update().execution_options(populate_existing=True)


def _found(session: Session, statement: Select[Agent]) -> Agent:
    found = session.scalars(statement).one_or_none()
    if found is None:
        raise NotFound("unknown_agent", say("There is no agent with this address."))
    return found


def pause_agent(
    session: Session, agent: Agent, actor: Actor, *, now: datetime | None = None
) -> None:
    """Wake an agent no more; its engagements stay.  Caller commits.

    Raises:
        Conflict: it is paused already.
    """
    if agent.paused_at is not None:
        raise Conflict(
            "agent_paused", say("%(address)s is paused already.", address=agent.address)
        )
    agent.paused_at = now or utcnow()
    _record(session, actor, "agent.paused", agent, f"Paused {agent.address}")
    session.flush()


def resume_agent(
    session: Session, agent: Agent, actor: Actor, *, now: datetime | None = None
) -> int:
    """Wake an agent again from now on; returns how many schedules had passed.

    What came due meanwhile wakes nobody any more.  Caller commits.

    Raises:
        Conflict: it is not paused.
    """
    if agent.paused_at is None:
        raise Conflict(
            "agent_not_paused", say("%(address)s is not paused.", address=agent.address)
        )
    agent.paused_at = None
    n_passed = acknowledge(
        session,
        PassedBecause.AGENT_PAUSED,
        now or utcnow(),
        Engagement.agent_id == agent.id,
    )
    _record(
        session,
        actor,
        "agent.resumed",
        agent,
        f"Resumed {agent.address}; {n_passed} past schedules stay passed",
    )
    session.flush()
    return n_passed


def remove_agent(session: Session, agent: Agent, actor: Actor) -> None:
    """Remove an agent with its engagements; contacts and suppressions stay.

    An agent that comes back under the same address inherits no engagement.
    """
    _record(session, actor, "agent.removed", agent, f"Removed {agent.address}")
    session.delete(agent)
    session.flush()


def _record(
    session: Session, actor: Actor, action: str, agent: Agent, summary: str
) -> None:
    subject = Subject("agent", str(agent.id), agent.congregation_id)
    record(session, actor, action, subject, summary)
