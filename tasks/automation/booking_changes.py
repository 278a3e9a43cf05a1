"""How a booking moves between its states and times; ``bookings`` has the verbs."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any, Final
from uuid import UUID

from sqlalchemy.orm import Session

from tasks.automation import fields, rows
from tasks.automation.bookkeeping import end_reminders, end_work, plan_booking, report
from tasks.automation.checks import checked_id
from tasks.automation.results import Changed, ScheduleResult
from tasks.automation.scope import known_congregation
from tasks.errors import Conflict, InvalidInput
from tasks.models.booking import Booking, BookingStatus

_S: Final = BookingStatus

#: From which states each verb may lead to its own.
_FROM: Final = {
    _S.CONFIRMED: frozenset({_S.REQUESTED, _S.CANCELLED}),
    _S.DECLINED: frozenset({_S.REQUESTED}),
    _S.CANCELLED: frozenset({_S.REQUESTED, _S.CONFIRMED}),
}
CHECKS: Final[Mapping[str, fields.Check]] = {
    "podcast_id": fields.required(checked_id),
    "booking_link_id": fields.reference,
    "episode_id": fields.reference,
    "guest_id": fields.reference,
    "guest_name": fields.text(120),
    "guest_email": fields.optional(fields.email),
    "guest_phone": fields.optional(fields.text(40)),
    "start_time": fields.instant,
    "end_time": fields.optional(fields.instant),
    "timezone": fields.timezone,
    "meeting_url": fields.optional(fields.url),
}
#: States in which a booking is still to take place.
LIVING: Final = frozenset({_S.REQUESTED, _S.CONFIRMED})
#: Fields on which planned jobs depend.
_PLANNED_BY: Final = frozenset({"start_time", "timezone", "episode_id", "guest_id"})


def moved(
    session: Session,
    congregation_id: UUID | None,
    booking_id: str,
    to: BookingStatus,
    now: datetime,
) -> tuple[Booking, bool]:
    """Return the booking in its new state, and whether it was in another.

    Raises:
        NotFound: there is no such booking.
        Conflict: it cannot get there from where it is.
    """
    of = known_congregation(session, congregation_id)
    row = rows.required_row(session, Booking, of, booking_id)
    if row.status is to:
        return row, False
    if row.status not in _FROM[to]:
        raise Conflict(
            f"booking_{row.status}",
            f"The booking is {row.status}; it cannot become {to}.",
        )
    row.status = to
    row.revision += 1
    row.updated_at = now
    session.flush()
    return row, True


def ended(
    session: Session, row: Booking, trigger_type: str, now: datetime, *, changed: bool
) -> Changed[Booking]:
    """End what waits for a booking that does not take place, and report it."""
    if not changed:
        return Changed(row, changed=False)
    jobs, executions = end_work(session, row, now)
    return Changed(
        row,
        changed=True,
        event=report(session, row, trigger_type, now),
        jobs_cancelled=jobs,
        executions_cancelled=executions,
    )


def change(
    session: Session, row: Booking, values: dict[str, Any], now: datetime
) -> Changed[Booking]:
    """Set checked values; another start of a living booking is a move.

    Raises:
        InvalidInput: it would end before it starts.
        Conflict: it belongs to another podcast.
    """
    start = values.get("start_time", row.start_time)
    if start != row.start_time and row.end_time and "end_time" not in values:
        values = {**values, "end_time": row.end_time + (start - row.start_time)}
    refuse_dates(start, values.get("end_time", row.end_time))
    before = rows.apply(row, values)
    if not before:
        return Changed(row, changed=False)
    row.updated_at = now
    is_living = row.status in LIVING
    if "start_time" not in before or not is_living:
        return Changed(
            row, changed=True, schedule=_planned_again(session, row, before, now)
        )
    row.revision += 1
    session.flush()
    event = report(session, row, "booking.rescheduled", now)
    schedule = _planned_again(session, row, before, now)
    return Changed(
        row,
        changed=True,
        event=event,
        schedule=schedule,
        # Last: what was dispatched while the jobs were waited for ends as well.
        executions_cancelled=end_reminders(session, row, now),
    )


def _planned_again(
    session: Session, row: Booking, before: Mapping[str, Any], now: datetime
) -> ScheduleResult | None:
    if row.status is not _S.CONFIRMED or not _PLANNED_BY & before.keys():
        return None
    return plan_booking(session, row, now, left=before.get("episode_id"))


def refuse_dates(start: datetime, end: datetime | None) -> None:
    """Raise ``InvalidInput`` when a booking would end before it starts."""
    if end is not None and end <= start:
        raise InvalidInput(
            "end_before_start", "end_time must lie after start_time.", field="end_time"
        )
