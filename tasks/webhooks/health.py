"""How an endpoint fares: warned about when it keeps failing, then switched off."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Final

from sqlalchemy.orm import Session

from tasks.models.endpoint import Endpoint, EndpointEnd
from tasks.operations.audit import SYSTEM
from tasks.webhooks import notices
from tasks.webhooks.switching import switch_off, tell

#: Failing without a single good answer for so long, it is warned about …
WARN_AFTER: Final = timedelta(hours=6)
#: … and after so long switched off.
OFF_AFTER: Final = timedelta(hours=24)
#: Fewer failures than this prove nothing.
PROOF: Final = 5
#: The time of the last good answer moves in steps of this, so that not every delivery
#: writes the endpoint's row.
_STEP: Final = timedelta(seconds=10)


def note_success(endpoint: Endpoint, now: datetime) -> None:
    """Note a good answer: whatever failed before is forgiven."""
    if endpoint.failures:
        endpoint.failures = 0
        endpoint.failing_since = None
        endpoint.warned_at = None
    if endpoint.delivered_at is None or now - endpoint.delivered_at >= _STEP:
        endpoint.delivered_at = now


def note_failure(session: Session, endpoint: Endpoint, now: datetime) -> None:
    """Note a bad answer; warn of what is to come, or switch the endpoint off."""
    endpoint.failures += 1
    endpoint.failed_at = now
    since = endpoint.failing_since = endpoint.failing_since or now
    if not endpoint.enabled or endpoint.failures < PROOF:
        return
    if endpoint.warned_at is None and now - since >= WARN_AFTER:
        endpoint.warned_at = now
        sentence = "Fails, and will be switched off if it goes on"
        tell(session, endpoint, SYSTEM, "endpoint.warned", sentence)
        notices.warn(session, endpoint, off_at(endpoint, now), now)
    elif endpoint.warned_at is not None and now >= off_at(endpoint, now):
        give_up(session, endpoint, EndpointEnd.FAILING, now)


def give_up(
    session: Session, endpoint: Endpoint, why: EndpointEnd, now: datetime
) -> None:
    """Switch an endpoint off that does not answer any more, and tell the admins."""
    switch_off(session, endpoint, why, SYSTEM, now)
    notices.tell_off(session, endpoint, why, now)


def off_at(endpoint: Endpoint, now: datetime) -> datetime:
    """Return when a failing endpoint is switched off: never right after the warning."""
    since, warned = endpoint.failing_since or now, endpoint.warned_at or now
    return max(since + OFF_AFTER, warned + WARN_AFTER)
