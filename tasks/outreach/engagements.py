"""Engagements: enrolled, rescheduled, paused, removed.  Callers commit."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final
from uuid import UUID

from sqlalchemy.orm import Session

from tasks.automation.fields import checked
from tasks.clock import utcnow
from tasks.models.base import new_id
from tasks.models.contact import Contact, ContactSource
from tasks.models.engagement import Agent, Engagement
from tasks.outreach.agents import agent_of
from tasks.outreach.campaigns import campaign_of
from tasks.outreach.checks import ENGAGEMENT, check_quiet, checked_address
from tasks.outreach.contacts import contact_of
from tasks.outreach.ensuring import ensure
from tasks.outreach.looking import locked, locked_engagement, unknown_engagement
from tasks.outreach.scheduling import UNSCHEDULED, look_again, schedule, touch
from tasks.outreach.versions import Expected, check_version

#: Columns that have another name than their field.
_ATTRIBUTES: Final[Mapping[str, str]] = {"metadata": "details"}
#: What a due engagement may wait for; when it changes, the lane looks again.
_HOLDING: Final = frozenset({"campaign", "quiet_from", "quiet_until", "timezone"})


@dataclass(frozen=True, slots=True)
class SavedEngagement:
    """An engagement after it was saved."""

    row: Engagement
    created: bool
    changed: bool  # false: it was so already


def save_engagement(
    session: Session,
    congregation_id: UUID,
    agent: str,
    address: str,
    values: Mapping[str, object],
    *,
    source: ContactSource = ContactSource.API,
    expected: Expected | None = None,
    now: datetime | None = None,
) -> SavedEngagement:
    """Enrol a contact or change its engagement; what ``values`` leaves out stays.

    A contact that is not known yet is made.  An instant that has passed is accepted
    and announced by the next sweep, once.

    Args:
        values: fields of ``checks.ENGAGEMENT``; ``None`` clears, and a cleared
            ``next_action_at`` stops the engagement.
        expected: versions that the caller has read; None: whatever there is.

    Raises:
        InvalidInput: an address or a value cannot be accepted.
        Conflict: ``version_mismatch``, somebody else has changed it since.
    """
    at = now or utcnow()
    agent_address = checked_address(agent, "agent")
    normal = checked_address(address, "address")
    clean = checked(values, ENGAGEMENT)
    found = locked_engagement(session, congregation_id, agent_address, normal)
    check_version(found.version if found else None, expected)
    created = False
    if found is None:
        contact = contact_of(session, congregation_id, normal, source, at)[0]
        by = agent_of(session, congregation_id, agent_address, at)
        found, created = enrol(session, by, contact, at)
    know_campaign(session, congregation_id, clean, at)
    changed = apply_values(found, clean)
    if changed and not created:
        touch(found, at)
    session.flush()
    return SavedEngagement(found, created, changed or created)


def enrol(
    session: Session, agent: Agent, contact: Contact, now: datetime
) -> tuple[Engagement, bool]:
    """Return an agent's engagement with a contact, and whether it is new."""
    return ensure(
        session,
        Engagement(**engagement_values(agent, contact.id, contact.address, now)),
        lambda: session.scalars(
            locked().where(
                Engagement.congregation_id == contact.congregation_id,
                Engagement.agent_id == agent.id,
                Engagement.contact_id == contact.id,
            )
        ).one_or_none(),
    )


def engagement_values(
    agent: Agent,
    contact_id: UUID,
    address: str,
    now: datetime,
    *,
    import_id: UUID | None = None,
) -> dict[str, Any]:
    """Return what a new engagement without a schedule is made of, by attribute."""
    return {
        "id": new_id(),
        "congregation_id": agent.congregation_id,
        "agent_id": agent.id,
        "contact_id": contact_id,
        "address": address,
        "stage": "",
        "details": {},
        **UNSCHEDULED,
        "stop_on_reply": False,
        "outbound_count": 0,
        "inbound_count": 0,
        "import_id": import_id,
        "version": 1,
        "created_at": now,
        "updated_at": now,
    }


def know_campaign(
    session: Session, congregation_id: UUID, clean: Mapping[str, Any], now: datetime
) -> None:
    """Make the campaign that checked values name known, when it is not yet."""
    if name := clean.get("campaign"):
        campaign_of(session, congregation_id, name, now)


def apply_values(row: Engagement, clean: Mapping[str, Any]) -> bool:
    """Write checked values into an engagement; returns whether any was another.

    Raises:
        InvalidInput: its quiet hours would be half of ones.
    """
    changed = False
    for name, value in clean.items():
        if name == "next_action_at":
            changed |= schedule(row, value)
            continue
        attribute = _ATTRIBUTES.get(name, name)
        if getattr(row, attribute) != value:
            setattr(row, attribute, value)
            changed = True
            if name in _HOLDING:
                look_again(row)
    check_quiet(row.quiet_from, row.quiet_until)
    return changed


def remove_engagement(
    session: Session,
    congregation_id: UUID,
    agent: str,
    address: str,
    *,
    expected: Expected | None = None,
) -> None:
    """Remove an engagement; its contact and its suppressions stay.

    Raises:
        NotFound: the session sees no such engagement.
        Conflict: ``version_mismatch``, somebody else has changed it since.
    """
    by, normal = checked_address(agent, "agent"), checked_address(address, "address")
    row = locked_engagement(session, congregation_id, by, normal)
    check_version(row.version if row else None, expected)
    if row is None:
        raise unknown_engagement()
    session.delete(row)
    session.flush()
