"""What the verbs of bookings and episodes have in common: reporting and planning."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Final
from uuid import UUID

from sqlalchemy import ColumnElement, literal_column, select, update
from sqlalchemy.orm import Session

from tasks.automation.checks import OWN_PREFIX
from tasks.automation.events import emit_own
from tasks.automation.guard import needs_living_booking
from tasks.automation.jobs import end_jobs
from tasks.automation.payloads import AutomationEvent
from tasks.automation.plans import reconcile
from tasks.automation.results import EmitEventResult, ScheduleResult
from tasks.automation.subjects import booked_among, of_bookings, of_episodes
from tasks.automation.triggers import TRIGGERS
from tasks.locks import in_order
from tasks.models.booking import Booking, BookingStatus
from tasks.models.episode import Episode
from tasks.models.execution import Execution, ExecutionState
from tasks.models.reason import Reason
from tasks.models.scheduled_job import JobState, ScheduledJob

_OF_LIVING: Final = tuple(name for name in TRIGGERS if needs_living_booking(name))
_REMINDERS: Final = tuple(
    trigger.name for trigger in TRIGGERS.values() if trigger.reference == "recording"
)


def report(
    session: Session, row: Booking | Episode, trigger_type: str, now: datetime
) -> EmitEventResult:
    """Emit the event of a change, under an id of its own.

    The id holds the row's revision: a second change fires again, a repeated call
    would not.
    """
    booking = row if isinstance(row, Booking) else None
    payload = AutomationEvent(
        trigger_type,
        row.podcast_id,
        episode_id=booking.episode_id if booking else row.id,
        booking_id=booking.id if booking else None,
        guest_id=booking.guest_id if booking else None,
        event_id=f"{OWN_PREFIX}{trigger_type}:{row.id}:{row.revision}",
        occurred_at=now,
        source="lifecycle",
        congregation_id=row.congregation_id,
    )
    return emit_own(session, payload, now)


def plan_booking(
    session: Session, row: Booking, now: datetime, *, left: str | None = None
) -> ScheduleResult:
    """Plan a confirmed booking; the recording of its episode is then its own.

    Args:
        left: the episode that it recorded before, if it has another now.
    """
    session.flush()
    result = reconcile(session, of_bookings(session, [row]), now=now)[0]
    _plan_episodes(session, row.congregation_id, {row.episode_id, left}, now)
    return result


def plan_episode(session: Session, row: Episode, now: datetime) -> ScheduleResult:
    """Plan an episode's recording and publication."""
    session.flush()
    booked = booked_among(session, [row])
    return reconcile(session, of_episodes(session, [row], booked), now=now)[0]


def _plan_episodes(
    session: Session, congregation_id: UUID, ids: Iterable[str | None], now: datetime
) -> None:
    """Plan recordings again whose booking came or went: a booking's date goes first."""
    episodes = session.scalars(
        select(Episode).where(
            Episode.congregation_id == congregation_id,
            Episode.id.in_([episode_id for episode_id in ids if episode_id]),
            Episode.recording_at.is_not(None),
        )
    ).all()
    for episode in episodes:
        plan_episode(session, episode, now)


def end_work(session: Session, row: Booking, now: datetime) -> tuple[int, int]:
    """Cancel what a booking that ended leaves; returns (jobs, executions).

    Executions that are running are stopped by the guard before they act.
    """
    is_cancelled = row.status is BookingStatus.CANCELLED
    reason = Reason.BOOKING_CANCELLED if is_cancelled else Reason.NOT_CONFIRMED
    of = ScheduledJob.congregation_id == row.congregation_id
    which = [of, ScheduledJob.booking_id == row.id]
    jobs = end_jobs(session, which, JobState.CANCELLED, reason, now)
    _plan_episodes(session, row.congregation_id, [row.episode_id], now)
    n_executions = _end_executions(session, row, _OF_LIVING, reason, now)
    return len(jobs), n_executions


def end_reminders(session: Session, row: Booking, now: datetime) -> int:
    """Cancel reminders that wait to go out for a time that no longer holds."""
    return _end_executions(session, row, _REMINDERS, Reason.SUPERSEDED, now)


def _end_executions(
    session: Session,
    row: Booking,
    triggers: Iterable[str],
    reason: Reason,
    now: datetime,
) -> int:
    which: list[ColumnElement[bool]] = [
        Execution.congregation_id == row.congregation_id,
        Execution.booking_id == row.id,
        Execution.trigger_type.in_(triggers),
        Execution.state == literal_column("'pending'"),
    ]
    ended: Sequence[UUID] = session.scalars(
        update(Execution)
        .where(*in_order(session, Execution, *which))
        .values(state=ExecutionState.CANCELLED, reason=reason, settled_at=now)
        .returning(Execution.id)
        .execution_options(synchronize_session="fetch")
    ).all()
    return len(ended)
