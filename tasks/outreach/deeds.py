"""What operators do to engagements; each leaves an audit entry.  Callers commit."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Final

from sqlalchemy.orm import Session

from tasks import doorbell
from tasks.automation.fields import checked
from tasks.errors import Conflict
from tasks.models.contact import Contact
from tasks.models.engagement import Agent, Engagement, PassedBecause, WakeState
from tasks.operations.audit import Actor, Subject, record
from tasks.outreach.checks import ENGAGEMENT
from tasks.outreach.engagements import apply_values, know_campaign
from tasks.outreach.scheduling import acknowledge, schedule, touch, wake_again
from tasks.saying import say

LANE: Final = "contact_due"


def pause(session: Session, row: Engagement, actor: Actor, now: datetime) -> None:
    """Announce nothing of an engagement until it is resumed.

    Raises:
        Conflict: it is paused already.
    """
    if row.paused_at is not None:
        raise Conflict("engagement_paused", say("This engagement is paused already."))
    row.paused_at = now
    _changed(session, row, actor, "paused", now)


def resume(session: Session, row: Engagement, actor: Actor, now: datetime) -> bool:
    """Announce an engagement again; returns whether its schedule had passed.

    Raises:
        Conflict: it is not paused.
    """
    if row.paused_at is None:
        raise Conflict("engagement_not_paused", say("This engagement is not paused."))
    row.paused_at = None
    _changed(session, row, actor, "resumed", now)
    is_it = Engagement.id == row.id
    return acknowledge(session, PassedBecause.PAUSED, now, is_it) > 0


def wake_now(session: Session, row: Engagement, actor: Actor, now: datetime) -> None:
    """Schedule an engagement for now, and let the lane look at once."""
    schedule(row, now)
    _changed(session, row, actor, "scheduled", now)
    doorbell.ask(session, LANE)


def stop(session: Session, row: Engagement, actor: Actor, now: datetime) -> None:
    """Take the schedule away.

    Raises:
        Conflict: there is none.
    """
    if not schedule(row, None):
        raise Conflict("not_scheduled", say("This engagement has no schedule to stop."))
    _changed(session, row, actor, "stopped", now)


def try_again(session: Session, row: Engagement, actor: Actor, now: datetime) -> None:
    """Let the lane look once more at an engagement that was set aside.

    Raises:
        Conflict: it is not.
    """
    if row.wake_state is not WakeState.SET_ASIDE:
        raise Conflict("not_set_aside", say("This engagement is not set aside."))
    wake_again(row, now)
    _changed(session, row, actor, "tried", now)
    doorbell.ask(session, LANE)


def remove(session: Session, row: Engagement, actor: Actor) -> None:
    """Remove an engagement; its contact and its suppressions stay."""
    _record(session, row, actor, "removed")
    session.delete(row)
    session.flush()


def edit(
    session: Session,
    row: Engagement,
    values: Mapping[str, object],
    actor: Actor,
    now: datetime,
) -> bool:
    """Change an engagement's fields; returns whether any was another.

    Raises:
        InvalidInput: a value cannot be accepted.
    """
    clean = checked(values, ENGAGEMENT)
    know_campaign(session, row.congregation_id, clean, now)
    changed = apply_values(row, clean)
    if changed:
        _changed(session, row, actor, "edited", now)
    return changed


def note(session: Session, row: Engagement, actor: Actor, verb: str) -> None:
    """Write down what was done to an engagement elsewhere."""
    _record(session, row, actor, verb)


def remove_contact(session: Session, row: Contact, actor: Actor) -> None:
    """Remove a contact and its engagements; suppressions of the address stay."""
    record(
        session,
        actor,
        "contact.removed",
        Subject("contact", str(row.id), row.congregation_id),
        f"Removed the contact {row.address}",
    )
    session.delete(row)
    session.flush()


def _changed(
    session: Session, row: Engagement, actor: Actor, verb: str, now: datetime
) -> None:
    touch(row, now)
    _record(session, row, actor, verb)
    session.flush()


def _record(session: Session, row: Engagement, actor: Actor, verb: str) -> None:
    agent = session.get_one(Agent, row.agent_id)
    record(
        session,
        actor,
        f"engagement.{verb}",
        Subject("engagement", str(row.id), row.congregation_id),
        f"{verb.capitalize()} the engagement of {agent.address} with {row.address}",
    )
