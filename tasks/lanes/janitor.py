"""Janitor: remove what is past its keeping time.

Fed by time alone.  Shape: one transaction per sweep, at most ``limit`` rows of each
kind, so that no lock is held for long; a full batch sweeps again at once.  Files that
no row needs any more are removed between two transactions of their own.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Final
from uuid import UUID

from sqlalchemy import ColumnElement, delete, literal_column, select
from sqlalchemy.orm import InstrumentedAttribute, Session

from tasks.congregation import keeping
from tasks.congregation.keeping import Past
from tasks.congregation.loose_files import remove_loose
from tasks.lane import Backlog, Bench, Timing
from tasks.models.access import IdempotencyRecord
from tasks.models.admin_mail import AdminMail, AdminMailState
from tasks.models.base import born_from
from tasks.models.contact_list import ContactDraft, ContactImportLines
from tasks.models.delivery import SETTLED as DELIVERY_SETTLED
from tasks.models.delivery import Delivery, WebhookMessage
from tasks.models.event import Decision, Event
from tasks.models.execution import Execution
from tasks.models.execution import ExecutionState as State
from tasks.models.failure import (
    FailedDelivery,
    FailedExecution,
    FailureGroup,
    FailureHour,
)
from tasks.models.feed import GuestImport
from tasks.models.lane import LaneRun, WorkerProcess
from tasks.models.operation import OPEN, Operation
from tasks.models.outbox import OutboxEntry
from tasks.models.outreach_campaign import OutreachTally
from tasks.models.rollup import Measure
from tasks.models.scheduled_job import JobState, ScheduledJob
from tasks.models.source import SourceCall
from tasks.rollups import keeping as rollups
from tasks.rollups.work import Work, note_work

NAME: Final = "janitor"
#: Answers to repeated API requests are kept this long.
KEEP_ANSWERS: Final = timedelta(hours=48)
#: Worker processes that fell silent are shown this long.
KEEP_WORKERS: Final = timedelta(days=1)
#: What booking services said, and what became of it, is shown this long.
KEEP_CALLS: Final = timedelta(days=30)
#: Lists of guests that were uploaded and not taken over hold people's addresses.
KEEP_LISTS: Final = timedelta(days=1)
#: What became of each row of a list of contacts is shown this long.
KEEP_LINES: Final = timedelta(days=30)


@dataclass(frozen=True, slots=True)
class JanitorSweep:
    """What one sweep removed, as ids."""

    executions: tuple[UUID, ...] = ()  # succeeded
    failed: tuple[UUID, ...] = ()  # executions, as the next three
    quarantined: tuple[UUID, ...] = ()
    cancelled: tuple[UUID, ...] = ()
    skipped: tuple[UUID, ...] = ()
    scheduled_jobs: tuple[UUID, ...] = ()
    decisions: tuple[UUID, ...] = ()
    events: tuple[UUID, ...] = ()
    lane_runs: tuple[UUID, ...] = ()
    answers: tuple[str, ...] = ()
    workers: tuple[str, ...] = ()
    calls: tuple[UUID, ...] = ()
    guest_lists: tuple[UUID, ...] = ()
    contact_lists: tuple[UUID, ...] = ()
    import_lines: tuple[UUID, ...] = ()
    deliveries: tuple[UUID, ...] = ()
    messages: tuple[UUID, ...] = ()
    operations: tuple[UUID, ...] = ()
    admin_mails: tuple[UUID, ...] = ()
    failure_hours: tuple[UUID, ...] = ()  # of groups of failures, as the next
    failure_groups: tuple[UUID, ...] = ()  # nothing of them is kept any more
    tallies: tuple[UUID, ...] = ()  # of wake-ups on days long past, by what had a cap
    tokens: tuple[UUID, ...] = ()  # of accounts
    consents: tuple[UUID, ...] = ()
    notifications: tuple[UUID, ...] = ()
    untold: tuple[UUID, ...] = ()  # notifications that failed
    digests: tuple[UUID, ...] = ()
    syncs: tuple[UUID, ...] = ()
    transfers: tuple[UUID, ...] = ()
    lane_rollups_hours: tuple[str, ...] = ()  # counts by hour and day, by their lane
    lane_rollups_days: tuple[str, ...] = ()
    congregation_rollups_hours: tuple[str, ...] = ()
    congregation_rollups_days: tuple[str, ...] = ()
    rule_rollups_hours: tuple[UUID, ...] = ()  # by their rule
    rule_rollups_days: tuple[UUID, ...] = ()
    files: tuple[str, ...] = ()  # keys of the storage that no row needs
    is_full: bool = False


def sweep(bench: Bench, limit: int) -> JanitorSweep:
    """Remove up to ``limit`` rows of each kind, oldest first."""
    with bench.begin() as session:
        removed = {
            name: _remove(session, key, limit, *past)
            for name, key, past in _what_is_past(bench)
        }
    removed["files"] = remove_loose(bench, limit)
    _note(bench, sum(len(ids) for ids in removed.values()))
    return JanitorSweep(
        **removed, is_full=any(len(ids) == limit for ids in removed.values())
    )


def _note(bench: Bench, n: int) -> None:
    """Count what was removed: of all congregations together."""
    if n:
        with bench.begin() as session:
            work = Work(None, Measure.SUCCEEDED, n=n)
            note_work(session, NAME, [work], bench.clock())


def backlog(_session: Session, _now: datetime) -> Backlog:
    """Return an empty backlog: what is past its time waits for no one."""
    return Backlog(n_due=0, oldest_due_at=None)


def _what_is_past(bench: Bench) -> Iterator[Past]:
    """Yield each kind's name, its key, and what makes a row past its time."""
    now = bench.clock()
    before = now - bench.timing.keep_settled
    is_needed = select(Execution.id).where(Execution.event_id == Event.id).exists()
    # However old it is: a replay, or what was left by workers that were away for long.
    is_untold = select(OutboxEntry.id).where(OutboxEntry.event_id == Event.id).exists()
    yield from _executions(now, bench.timing)
    yield (
        "scheduled_jobs",
        ScheduledJob.id,
        (
            ScheduledJob.state != JobState.PENDING,
            ScheduledJob.settled_at < before,
            ScheduledJob.due_at < before,
        ),
    )
    yield (
        "operations",
        Operation.id,
        (Operation.state.not_in(OPEN), Operation.ended_at < before),
    )
    yield (
        "admin_mails",
        AdminMail.id,
        (AdminMail.state != AdminMailState.PENDING, AdminMail.created_at < before),
    )
    yield from _failures(before)
    yield "tallies", OutreachTally.subject_id, (OutreachTally.day < before.date(),)
    yield "decisions", Decision.id, (Decision.created_at < before,)
    is_past = (Event.created_at < before, ~is_needed, ~is_untold)
    yield "events", Event.id, is_past
    runs_before = now - bench.timing.keep_runs
    yield "lane_runs", LaneRun.id, (LaneRun.requested_at < runs_before,)
    answers_before = now - KEEP_ANSWERS
    yield (
        "answers",
        IdempotencyRecord.key,
        (IdempotencyRecord.created_at < answers_before,),
    )
    yield "calls", SourceCall.id, (SourceCall.received_at < now - KEEP_CALLS,)
    yield from _lists(now)
    yield from _webhooks(before)
    yield from keeping.past(now, bench.timing.keep_settled)
    yield from rollups.past(now)
    silent_since = now - KEEP_WORKERS
    yield "workers", WorkerProcess.id, (WorkerProcess.heartbeat_at < silent_since,)


def _executions(now: datetime, timing: Timing) -> Iterator[Past]:
    """Yield executions by how they ended; what hangs on them goes with them."""
    for name, state, keep in (
        ("executions", State.SUCCEEDED, timing.keep_succeeded),
        ("failed", State.FAILED, timing.keep_failed),
        ("quarantined", State.QUARANTINED, timing.keep_failed),
        ("cancelled", State.CANCELLED, timing.keep_not_run),
        ("skipped", State.SKIPPED, timing.keep_not_run),
    ):
        before = now - (timing.keep_settled if keep is None else keep)
        yield (
            name,
            Execution.id,
            (
                # Written out: a partial index is not used for a parameter.
                Execution.state == literal_column(f"'{state}'"),
                Execution.id < born_from(before),
                Execution.settled_at < before,
            ),
        )


def _failures(before: datetime) -> Iterator[Past]:
    """Yield hours long past, and groups of which no failure is kept."""
    yield "failure_hours", FailureHour.group_id, (FailureHour.hour < before,)
    executions = select(FailedExecution.execution_id).where(
        FailedExecution.group_id == FailureGroup.id
    )
    deliveries = select(FailedDelivery.delivery_id).where(
        FailedDelivery.group_id == FailureGroup.id
    )
    yield (
        "failure_groups",
        FailureGroup.id,
        (FailureGroup.last_at < before, ~executions.exists(), ~deliveries.exists()),
    )


def _lists(now: datetime) -> Iterator[Past]:
    """Yield lists of people that nobody took over, and what became of those rows."""
    before = now - KEEP_LISTS
    yield "guest_lists", GuestImport.id, (GuestImport.created_at < before,)
    yield "contact_lists", ContactDraft.id, (ContactDraft.created_at < before,)
    yield (
        "import_lines",
        ContactImportLines.import_id,
        (ContactImportLines.created_at < now - KEEP_LINES,),
    )


def _webhooks(before: datetime) -> Iterator[Past]:
    """Yield what endpoints were told; a message goes after the last delivery of it."""
    yield (
        "deliveries",
        Delivery.id,
        (
            Delivery.state.in_(DELIVERY_SETTLED),
            Delivery.id < born_from(before),
            Delivery.settled_at < before,
        ),
    )
    is_kept = select(Delivery.id).where(Delivery.message_id == WebhookMessage.id)
    yield (
        "messages",
        WebhookMessage.id,
        (WebhookMessage.id < born_from(before), ~is_kept.exists()),
    )


def _remove(
    session: Session,
    key: InstrumentedAttribute[Any],
    limit: int,
    *past: ColumnElement[bool],
) -> tuple[Any, ...]:
    ids: Sequence[Any] = session.scalars(select(key).where(*past).limit(limit)).all()
    if ids:
        for start in range(0, len(ids), 500):  # below both databases' parameter limits
            session.execute(
                delete(key.class_)
                .where(key.in_(ids[start : start + 500]), *past)
                .execution_options(synchronize_session=False)
            )
    return tuple(ids)
