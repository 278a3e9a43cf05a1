"""What operators did to campaigns, in the audit log."""

from __future__ import annotations

from datetime import date
from typing import Any, Final

from sqlalchemy.orm import Session

from tasks.models import Campaign
from tasks.models.base import Json
from tasks.operations.audit import Actor, Subject, record

#: What stands in the audit log of a campaign.
_FACTS: Final = (
    "name",
    "starts_on",
    "ends_on",
    "rest_days",
    "start_action",
    "reassigns",
    "closes_work",
    "end_action",
)


def facts(row: Campaign) -> Json:
    """Return a campaign as the audit log keeps it."""
    told: dict[str, Any] = {name: getattr(row, name) for name in _FACTS}
    return {k: v.isoformat() if isinstance(v, date) else v for k, v in told.items()}


def note(
    session: Session,
    actor: Actor,
    row: Campaign,
    verb: str,
    summary: str,
    before: Json | None = None,
) -> None:
    """Add the audit entry ``campaign.<verb>``, with the campaign as it is now."""
    subject = Subject("campaign", str(row.id), row.congregation_id)
    after = None if verb == "deleted" else facts(row)
    action = f"campaign.{verb}"
    record(session, actor, action, subject, summary, before=before, after=after)
