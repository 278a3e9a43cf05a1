"""Rows that are valid as they are; a test overrides the one thing it is about."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

from sqlalchemy.orm import Session

from tasks.models import (
    Booking,
    BookingStatus,
    CallOutcome,
    Congregation,
    Execution,
    ExecutionContext,
    ExecutionState,
    Feed,
    FeedItem,
    GuestImport,
    JobContext,
    OffsetUnit,
    Podcast,
    Rule,
    ScheduledJob,
    Source,
    SourceCall,
    SourceKind,
    new_id,
)
from tasks.operations.rule_scope import write_scope

NOW = datetime(2026, 3, 10, 12, 0, tzinfo=UTC)
EMAIL_SETTINGS = {
    "recipient": "guest",
    "address": "",
    "subject": "Hello {{ guest.name | default: 'there' }}",
    "text": "See you on {{ booking.start_time }}.",
    "html": "",
}


def congregation(session: Session, slug: str = "bonifatius", **values: Any) -> UUID:
    """Add a congregation with the podcast ``show`` and return its id."""
    row = Congregation(**{"slug": slug, "name": "St. Bonifatius"} | values)
    session.add(row)
    session.flush()
    session.add(
        Podcast(
            congregation_id=row.id,
            id="show",
            title="Kirchplatz",
            slug="kirchplatz",
            host_name="Ines",
            host_email="ines@example.org",
        )
    )
    session.flush()
    return row.id


def booking(session: Session, congregation_id: UUID, **values: Any) -> Booking:
    """Add a confirmed booking of ``show``, two days ahead."""
    defaults: dict[str, Any] = {
        "id": "b1",
        "podcast_id": "show",
        "guest_name": "Jörg 🎙",
        "guest_email": "joerg@example.org",
        "start_time": NOW + timedelta(days=2),
        "timezone": "Europe/Berlin",
        "status": BookingStatus.CONFIRMED,
        "confirmed_at": NOW,
    }
    row = Booking(congregation_id=congregation_id, **defaults | values)
    session.add(row)
    session.flush()
    return row


def rule(session: Session, congregation_id: UUID, **values: Any) -> Rule:
    """Add an enabled rule that mails the guest when a booking is confirmed."""
    defaults: dict[str, Any] = {
        "name": "Welcome",
        "trigger_type": "booking.confirmed",
        "action": "email",
        "settings": dict(EMAIL_SETTINGS),
    }
    podcast_id = values.pop("podcast_id", None)  # of one podcast, the usual case
    values.setdefault("podcast_ids", [podcast_id] if podcast_id else None)
    row = Rule(congregation_id=congregation_id, **defaults | values)
    session.add(row)
    session.flush()
    write_scope(session, row)
    return row


def reminder(session: Session, congregation_id: UUID, **values: Any) -> Rule:
    """Add a rule that mails the guest 24 hours before the recording."""
    defaults: dict[str, Any] = {
        "name": "24 h reminder",
        "trigger_type": "time.before_recording",
        "offset_value": 24,
        "offset_unit": OffsetUnit.HOURS,
    }
    return rule(session, congregation_id, **defaults | values)


def execution(session: Session, rule: Rule, **values: Any) -> Execution:
    """Add an execution of ``rule`` for booking ``b1``, due now."""
    defaults: dict[str, Any] = {
        "id": new_id(NOW),
        "congregation_id": rule.congregation_id,
        "rule_id": rule.id,
        "rule_version": rule.version,
        "trigger_type": rule.trigger_type,
        "action": rule.action,
        "podcast_id": "show",
        "booking_id": "b1",
        "state": ExecutionState.PENDING,
        "due_at": NOW,
        "run_at": NOW,
        "created_at": NOW,
        "max_attempts": rule.max_attempts,
    }
    context = values.pop("context", {})
    if "created_at" in values:
        defaults["id"] = new_id(values["created_at"])
    row = Execution(**defaults | values)
    row.idempotency_key = values.get("idempotency_key", f"test:{row.id}")
    session.add(row)
    session.flush()
    session.add(
        ExecutionContext(
            congregation_id=row.congregation_id, execution_id=row.id, context=context
        )
    )
    session.flush()
    return row


def job(session: Session, rule: Rule, **values: Any) -> ScheduledJob:
    """Add a pending job of ``rule`` for booking ``b1``, due now."""
    defaults: dict[str, Any] = {
        "id": new_id(),
        "congregation_id": rule.congregation_id,
        "rule_id": rule.id,
        "rule_version": rule.version,
        "trigger_type": rule.trigger_type,
        "podcast_id": "show",
        "booking_id": "b1",
        "reference_at": NOW + timedelta(hours=24),
        "timezone": "UTC",
        "due_at": NOW,
        "run_at": NOW,
        "created_at": NOW,
    }
    row = ScheduledJob(**defaults | values)
    row.idempotency_key = values.get("idempotency_key", f"test:{row.id}")
    session.add(row)
    session.flush()
    session.add(
        JobContext(
            congregation_id=row.congregation_id, scheduled_job_id=row.id, context={}
        )
    )
    session.flush()
    return row


def sources(session: Session, congregation_id: UUID, mark: str) -> dict[str, str]:
    """Add one source of each kind with ``mark`` in its texts; returns their ids."""
    common: dict[str, Any] = {"congregation_id": congregation_id, "podcast_id": "show"}
    source = Source(
        **common,
        id=new_id(),
        kind=SourceKind.CALCOM,
        name=f"Bookings {mark}",
        token=str(new_id()),
        secret="",
    )
    feed = Feed(
        **common, id=new_id(), url=f"https://example.org/{mark}", title=mark, error=mark
    )
    guests = GuestImport(
        **common,
        id=new_id(),
        filename=f"{mark}.csv",
        content={"columns": [["Name", "name"]], "rows": [[2, {"name": mark}]]},
        created_by=mark,
    )
    session.add_all([source, feed, guests])
    session.flush()
    session.add_all(
        [
            SourceCall(
                congregation_id=congregation_id,
                source_id=source.id,
                outcome=CallOutcome.IGNORED,
                sentence=mark,
                body=mark,
                received_at=NOW,
            ),
            FeedItem(
                congregation_id=congregation_id,
                feed_id=feed.id,
                guid_digest=mark,
                episode_id=mark,
                digest="",
            ),
        ]
    )
    session.flush()
    return {
        "source_id": str(source.id),
        "feed_id": str(feed.id),
        "import_id": str(guests.id),
    }
