"""Every kind of operation, one row each: which rows it means, what it does to them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final
from uuid import UUID

from sqlalchemy import ColumnElement, Select, or_, select
from sqlalchemy.orm import Session

from tasks import doorbell
from tasks.models import (
    Event,
    Execution,
    ExecutionState,
    JobState,
    Operation,
    OperationKind,
    ScheduledJob,
)
from tasks.models.base import Json
from tasks.operations import executions, scheduled_jobs
from tasks.operations.acted import Acted
from tasks.operations.allowed import RETRYABLE
from tasks.operations.bulk import Verb, change
from tasks.operations.event_matching import EventMatching, events_that_match
from tasks.operations.matching import Matching, from_json, is_state, narrow
from tasks.operations.releasing import MINUTES, drop_executions, release_executions
from tasks.operations.replaying_events import replay_events
from tasks.operations.replaying_executions import MOVED, replay_executions

Act = Callable[[Session, Operation, Sequence[UUID], datetime], Acted]
_K = OperationKind
_S = ExecutionState

#: What has a second chance without being sent a second time.
UNSENT: Final = (*RETRYABLE, _S.CANCELLED, _S.SKIPPED)
#: What "send again" means as well.
SENT: Final = (*UNSENT, _S.SUCCEEDED)


#: What an operation carries besides its filter: how it is done, and what follows.
THEN_RESUME: Final = "then_resume"  # a lane that goes on when all is done
_NO_FILTERS: Final = frozenset({MINUTES, THEN_RESUME})


@dataclass(frozen=True, slots=True)
class Kind:
    """What one kind of operation means and does."""

    model: type[Execution] | type[ScheduledJob] | type[Event]
    #: What makes a row one that was meant, by the high water and ``is_again``.
    eligible: Callable[[datetime, bool], tuple[ColumnElement[bool], ...]]
    act: Act
    verb: Verb | None = None  # None: it is more than a change of columns
    lane: str | None = None  # which gets work by it


@dataclass(frozen=True, slots=True)
class Asked:
    """Which rows an operation is about."""

    kind: OperationKind
    matching: Json  # as a filter's ``as_json``, and maybe ``ids``
    high_water: datetime
    is_again: bool = False


def rows_of(session: Session, asked: Asked | Operation) -> Select[UUID]:
    """Return the statement that selects the rows' ids, in no order.

    A session with a scope selects only what it sees; others add the scope themselves.
    """
    kind = KINDS[asked.kind]
    statement: Select[UUID] = select(kind.model.id).where(
        *kind.eligible(asked.high_water, asked.is_again)
    )
    rest = {key: v for key, v in asked.matching.items() if key not in _NO_FILTERS}
    if (ids := rest.pop("ids", None)) is not None:
        statement = statement.where(kind.model.id.in_([UUID(text) for text in ids]))
    if issubclass(kind.model, Event):
        meant = from_json(EventMatching, rest)
        return statement.where(*events_that_match(session, meant))
    return narrow(statement, kind.model, from_json(Matching, rest))


def _in(*states: ExecutionState) -> ColumnElement[bool]:
    return or_(*(is_state(Execution, state) for state in states))


def _change(
    session: Session, operation: Operation, ids: Sequence[UUID], now: datetime
) -> Acted:
    """Apply the kind's verb, and ring the lane for which that made work."""
    kind = KINDS[operation.kind]
    assert kind.verb is not None  # noqa: S101  # the table says so
    acted = Acted(changed=change(session, kind.verb, ids, now))
    changed = {id_ for _, id_ in acted.changed}
    acted.skip([id_ for id_ in ids if id_ not in changed], MOVED)
    if changed and kind.lane:
        doorbell.ask(session, kind.lane)
    return acted


KINDS: Final[Mapping[OperationKind, Kind]] = {
    _K.RETRY_EXECUTIONS: Kind(
        Execution,
        lambda until, _: (_in(*RETRYABLE), Execution.settled_at <= until),
        _change,
        executions.RETRY,
        executions.LANE,
    ),
    _K.CANCEL_EXECUTIONS: Kind(
        Execution,
        lambda until, _: (_in(_S.PENDING), Execution.created_at <= until),
        _change,
        executions.CANCEL,
    ),
    _K.REPLAY_EXECUTIONS: Kind(
        Execution,
        lambda until, is_again: (
            _in(*(SENT if is_again else UNSENT)),
            Execution.settled_at <= until,
        ),
        replay_executions,
    ),
    _K.RELEASE_EXECUTIONS: Kind(
        Execution,
        lambda until, _: (_in(_S.PENDING), Execution.created_at <= until),
        release_executions,
    ),
    _K.DROP_EXECUTIONS: Kind(
        Execution,
        lambda until, _: (_in(_S.PENDING), Execution.created_at <= until),
        drop_executions,
    ),
    _K.CANCEL_JOBS: Kind(
        ScheduledJob,
        lambda until, _: (
            is_state(ScheduledJob, JobState.PENDING),
            ScheduledJob.created_at <= until,
        ),
        _change,
        scheduled_jobs.CANCEL,
    ),
    _K.REPLAY_EVENTS: Kind(
        Event, lambda until, _: (Event.created_at <= until,), replay_events
    ),
}
