"""What an agent's mail server saw: that a mail went out, or that an answer came."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Final
from uuid import UUID

from sqlalchemy.orm import Session

from tasks.automation.checks import checked_instant
from tasks.automation.fields import text
from tasks.clock import utcnow
from tasks.models.engagement import (
    Direction,
    Engagement,
    EngagementMessage,
    PassedBecause,
    WakeState,
)
from tasks.outreach.checks import checked_address
from tasks.outreach.looking import locked_engagement, unknown_engagement
from tasks.outreach.scheduling import pass_over, touch

ID_MAX: Final = 255
_ID: Final = text(ID_MAX, required=True)
_CONVERSATION: Final = text(ID_MAX)


@dataclass(frozen=True, slots=True)
class Mail:
    """A mail that went to or fro, as it is reported."""

    direction: Direction
    message_id: str  # the same one counts once
    at: datetime | None = None  # None or later than now: now
    conversation_id: str | None = None


@dataclass(frozen=True, slots=True)
class Noted:
    """What a report of a mail came to."""

    row: Engagement
    is_new: bool  # false: this mail was reported before
    stopped: bool = False  # the reply let the schedule pass


def note_message(
    session: Session,
    congregation_id: UUID,
    agent: str,
    address: str,
    mail: Mail,
    *,
    now: datetime | None = None,
) -> Noted:
    """Note that a mail went to or fro.

    Only what is enrolled is followed: mails of strangers make no engagement.

    Raises:
        NotFound: the agent has no engagement with the contact.
        InvalidInput: a value cannot be accepted.
    """
    now = now or utcnow()
    id_: str = _ID(mail.message_id, "message_id")
    by = checked_address(agent, "agent")
    normal = checked_address(address, "address")
    seen = EngagementMessage(
        congregation_id=congregation_id,
        message_id=id_,
        direction=mail.direction,
        at=min(checked_instant(mail.at or now, "at"), now),
        conversation_id=_CONVERSATION(mail.conversation_id, "conversation_id") or None,
    )
    row = locked_engagement(session, congregation_id, by, normal)
    if row is None:
        raise unknown_engagement()
    if session.get(EngagementMessage, (row.id, id_)) is not None:
        return Noted(row, is_new=False)
    seen.engagement_id = row.id
    session.add(seen)
    _count(row, seen)
    stopped = _stops(row, seen.direction)
    if stopped:
        pass_over(row, PassedBecause.REPLIED, now)
    touch(row, now)
    session.flush()
    return Noted(row, is_new=True, stopped=stopped)


def _count(row: Engagement, seen: EngagementMessage) -> None:
    """Reports may come late and out of order: the first and the last count."""
    at = seen.at
    known = [each for each in (row.last_outbound_at, row.last_inbound_at) if each]
    if seen.conversation_id and at >= max(known, default=at):
        row.last_conversation_id = seen.conversation_id
    if seen.direction is Direction.INBOUND:
        row.inbound_count += 1
        row.last_inbound_at = max(row.last_inbound_at or at, at)
        return
    row.outbound_count += 1
    row.first_outbound_at = min(row.first_outbound_at or at, at)
    row.last_outbound_at = max(row.last_outbound_at or at, at)


def _stops(row: Engagement, direction: Direction) -> bool:
    is_reply = direction is Direction.INBOUND and row.stop_on_reply
    return is_reply and row.wake_state is WakeState.ARMED
