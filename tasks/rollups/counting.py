"""Counting what has ended: one statement for each kind, whatever the number of rows."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any, Final, NamedTuple
from uuid import UUID

from sqlalchemy import ColumnElement, FromClause, Select, and_, case, func, null, select
from sqlalchemy.orm import InstrumentedAttribute, Session

from tasks.models.delivery import Delivery, DeliveryAttempt
from tasks.models.execution import Attempt, AttemptOutcome, Execution, ExecutionState
from tasks.models.rollup import EndedKind, Measure
from tasks.models.scheduled_job import JobState, ScheduledJob
from tasks.rollups.ended import Key, given
from tasks.rollups.sql import bucket_of, hour_of, later_of, seconds_between


class Place(NamedTuple):
    """Where a count belongs."""

    congregation_id: UUID | None  # None: of no one alone
    lane: str
    rule_id: UUID | None  # None: no rule's doing
    at: datetime  # the start of the hour
    measure: int


_Column = ColumnElement[Any] | InstrumentedAttribute[Any]
_Rows = Select[*tuple[Any, ...]]
_A = AttemptOutcome
#: What an attempt's end is counted as; what is not here only went on waiting.
_OUTCOMES: Final[Mapping[str, Measure]] = {
    _A.SUCCEEDED: Measure.SUCCEEDED,
    _A.FAILED: Measure.FAILED,
    _A.SKIPPED: Measure.SKIPPED,
    _A.CANCELLED: Measure.SKIPPED,
    _A.RETRY: Measure.RETRIED,
    _A.CRASHED: Measure.RETRIED,
    _A.UNKNOWN: Measure.RETRIED,
    JobState.DISPATCHED: Measure.SUCCEEDED,
    JobState.MISSED: Measure.FAILED,
    JobState.SUPERSEDED: Measure.SKIPPED,  # "skipped" is a word of attempts, too
}
_LANES: Final = {
    EndedKind.EXECUTION: "executions",
    EndedKind.DELIVERY: "deliveries",
    EndedKind.JOB: "scheduled_jobs",
    EndedKind.CANCEL: "executions",
}
#: Attempts that came to their effect and know how it ended.
_RAN: Final = (_A.SUCCEEDED, _A.RETRY, _A.FAILED)
#: How jobs end that a rule asked for and that came to nothing.
_RULES_JOBS: Final = frozenset(
    {JobState.MISSED, JobState.SKIPPED, JobState.SUPERSEDED, JobState.CANCELLED}
)


def count(session: Session, kind: EndedKind, keys: Sequence[Key]) -> Counter[Place]:
    """Return how much of what has ended belongs where."""
    rows, parameters = given(session, keys)
    select_from = {
        EndedKind.EXECUTION: _executions,
        EndedKind.DELIVERY: _deliveries,
        EndedKind.JOB: _jobs,
        EndedKind.CANCEL: _cancels,
    }[kind]
    found: Counter[Place] = Counter()
    for house, rule, at, outcome, wait, run, n in session.execute(
        select_from(rows), parameters
    ):
        is_rules = kind is not EndedKind.JOB or outcome in _RULES_JOBS
        place = Place(house, _LANES[kind], rule if is_rules else None, at, 0)
        for measure in _measures(outcome, wait, run):
            found[place._replace(measure=measure)] += n
    return found


def _measures(outcome: str, wait: int | None, run: int | None) -> Iterator[int]:
    if (counted := _OUTCOMES.get(outcome)) is not None:
        yield counted
    if wait is not None:
        yield Measure.WAIT + wait
    if run is not None:
        yield Measure.RUN + run


def _executions(rows: FromClause) -> _Rows:
    """Select attempts: a quarantine is the failure that its last attempt was."""
    is_last = Execution.attempt == Attempt.number
    is_quarantine = and_(Execution.state == ExecutionState.QUARANTINED, is_last)
    # A job's own time may have moved, as quiet hours ended or by hand; later steps
    # have a time of their own.
    of_job = later_of(ScheduledJob.run_at, ScheduledJob.created_at)
    moved = case((Execution.step == 0, of_job), else_=null())
    own = later_of(Execution.due_at, Execution.created_at)
    return _grouped(
        rows.join(Attempt, _is_of(rows, Attempt.execution_id, Attempt.number))
        .join(Execution, Execution.id == Attempt.execution_id)
        .outerjoin(ScheduledJob, ScheduledJob.id == Execution.scheduled_job_id),
        Execution.congregation_id,
        Execution.rule_id,
        hour_of(Attempt.finished_at),
        case((is_quarantine, _A.FAILED), else_=Attempt.outcome),
        _wait(Attempt.number == 1, func.coalesce(moved, own), Attempt.started_at),
        _run(Attempt, Attempt.effect_started_at),
    )


def _cancels(rows: FromClause) -> _Rows:
    """Select what is still cancelled; whoever took it back at once changed nothing."""
    is_so = and_(Execution.id == rows.c.id, Execution.state == ExecutionState.CANCELLED)
    return _grouped(
        rows.join(Execution, is_so),
        Execution.congregation_id,
        Execution.rule_id,
        hour_of(Execution.settled_at),
        Execution.state,
        null(),
        null(),
    )


def _deliveries(rows: FromClause) -> _Rows:
    attempt = DeliveryAttempt
    return _grouped(
        rows.join(attempt, _is_of(rows, attempt.delivery_id, attempt.number)).join(
            Delivery, Delivery.id == attempt.delivery_id
        ),
        Delivery.congregation_id,
        null(),
        hour_of(attempt.finished_at),
        attempt.outcome,
        _wait(attempt.number == 1, Delivery.created_at, attempt.started_at),
        _run(attempt, attempt.started_at),
    )


def _jobs(rows: FromClause) -> _Rows:
    job = ScheduledJob
    is_taken = job.state == JobState.DISPATCHED
    return _grouped(
        rows.join(job, job.id == rows.c.id),
        job.congregation_id,
        job.rule_id,
        hour_of(job.settled_at),
        job.state,
        _wait(is_taken, later_of(job.run_at, job.created_at), job.settled_at),
        null(),
    )


def _is_of(
    rows: FromClause,
    id_: InstrumentedAttribute[UUID],
    number: InstrumentedAttribute[int],
) -> ColumnElement[bool]:
    return and_(id_ == rows.c.id, number == rows.c.number)


def _wait(
    counts: ColumnElement[bool],
    promised: _Column,
    taken: InstrumentedAttribute[Any],
) -> ColumnElement[Any]:
    return case((counts, bucket_of(seconds_between(promised, taken))), else_=null())


def _run(
    attempt: type[Attempt | DeliveryAttempt], began: InstrumentedAttribute[Any]
) -> ColumnElement[Any]:
    took = bucket_of(seconds_between(began, attempt.finished_at))
    ran = and_(attempt.outcome.in_(_RAN), began.is_not(None))
    return case((ran, took), else_=null())


def _grouped(source: FromClause, *columns: _Column) -> _Rows:
    """Select each combination of ``columns`` with how many rows have it."""
    # Named within: parameters make two writings of one expression two to PostgreSQL.
    named = [each.label(f"c{n}") for n, each in enumerate(columns)]
    inner = select(*named).select_from(source).subquery()
    return select(*inner.c, func.count()).group_by(*inner.c)
