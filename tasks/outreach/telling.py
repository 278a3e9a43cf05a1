"""The event ``contact.due``: its id, and what it says.

It carries facts and no content: no subject, no text, no suggestion.  What to write is
the agent's own affair.
"""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any, Final
from uuid import UUID

from tasks.automation.checks import OWN_PREFIX
from tasks.automation.payloads import AutomationEvent
from tasks.models.base import Json
from tasks.models.contact import Contact
from tasks.models.engagement import Agent, Engagement

TYPE: Final = "contact.due"
SOURCE: Final = "outreach"


def event_id_of(row: Engagement, revision: int | None = None) -> str:
    """Return the event's id: the same for one schedule however often it is told.

    Args:
        revision: of an earlier schedule; None: the present one.
    """
    return event_id(row.id, row.revision if revision is None else revision)


def event_id(engagement_id: UUID, revision: int) -> str:
    """Return the id of the event of one schedule of an engagement."""
    return f"{OWN_PREFIX}{TYPE}:{engagement_id}:{revision}"


def event_of(row: Engagement, contact: Contact, agent: Agent) -> AutomationEvent:
    """Return the event of an engagement that is due."""
    return AutomationEvent(
        TYPE,
        None,
        context=told_of(row, contact, agent),
        event_id=event_id_of(row),
        occurred_at=row.next_action_at,
        source=SOURCE,
        congregation_id=row.congregation_id,
    )


def told_of(row: Engagement, contact: Contact, agent: Agent) -> Json:
    """Return what the event says; facts that there are none of are left out."""
    known: dict[str, Any] = {
        "last_outbound_at": utc_iso(row.last_outbound_at),
        "last_conversation_id": row.last_conversation_id or None,
        "campaign": row.campaign,
    }
    return {
        "contact": {
            "id": str(contact.id),
            "address": contact.address,
            "display_name": contact.display_name,
            "metadata": contact.details,
        },
        "engagement": {
            "id": str(row.id),
            "revision": row.revision,
            "agent_email": agent.address,
            "address": row.address,
            "stage": row.stage,
            "next_action_at": utc_iso(row.next_action_at),
            "replied": row.has_replied,
            "outbound_count": row.outbound_count,
            **{name: value for name, value in known.items() if value is not None},
        },
    }


def utc_iso(instant: datetime | None) -> str | None:
    """Return an instant as RFC 3339 in UTC; fractions of a second are kept."""
    if instant is None:
        return None
    return instant.astimezone(UTC).isoformat().replace("+00:00", "Z")
