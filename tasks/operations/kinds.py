"""Every kind of operation, one row each: which rows it means, what it does to them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final
from uuid import UUID

from sqlalchemy import ColumnElement, Select, func, or_, select, true
from sqlalchemy.orm import Session

from tasks import doorbell
from tasks.lane import COUNT_CAP
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
from tasks.operations.bulk import change
from tasks.operations.deliveries import RETRY_DELIVERIES
from tasks.operations.engagements import OF_ENGAGEMENTS
from tasks.operations.event_matching import EventMatching, events_that_match
from tasks.operations.kind import Kind
from tasks.operations.mails import RETRY_MAILS
from tasks.operations.matching import Matching, from_json, is_state, narrow
from tasks.operations.releasing import MINUTES, drop_executions, release_executions
from tasks.operations.replaying_events import replay_events
from tasks.operations.replaying_executions import MOVED, replay_executions

_K = OperationKind
_S = ExecutionState

#: What has a second chance without being sent a second time.
UNSENT: Final = (*RETRYABLE, _S.CANCELLED, _S.SKIPPED)
#: What "send again" means as well.
SENT: Final = (*UNSENT, _S.SUCCEEDED)


#: What an operation carries besides its filter: how it is done, and what follows.
THEN_RESUME: Final = "then_resume"  # a lane that goes on when all is done
THEN_ENABLE: Final = "then_enable"  # a rule that is switched on when all is done
_NO_FILTERS: Final = frozenset({MINUTES, THEN_RESUME, THEN_ENABLE})


@dataclass(frozen=True, slots=True)
class Asked:
    """Which rows an operation is about."""

    kind: OperationKind
    matching: Json  # as a filter's ``as_json``, and maybe ``ids``
    high_water: datetime
    is_again: bool = False


def rows_of(session: Session, asked: Asked | Operation) -> Select[UUID]:
    """Return the statement that selects the rows' ids, in no order.

    A session with a scope selects only what it sees, and searches only there.
    """
    eligible = KINDS[asked.kind].eligible(asked.high_water, asked.is_again)
    return _meant(session, asked).where(*eligible)


def _meant(session: Session, asked: Asked | Operation) -> Select[UUID]:
    """Select the ids of what the filter means, whether it is eligible or not."""
    kind = KINDS[asked.kind]
    statement: Select[UUID] = select(kind.model.id)
    rest = {key: v for key, v in asked.matching.items() if key not in _NO_FILTERS}
    if (ids := rest.pop("ids", None)) is not None:
        statement = statement.where(kind.model.id.in_([UUID(text) for text in ids]))
    if kind.narrow is not None:
        return statement.where(*kind.narrow(session, rest))
    return narrow(statement, kind.model, from_json(Matching, rest))


def refused(session: Session, asked: Asked) -> list[tuple[str, int]]:
    """Return why rows that the filter means stay as they are, and how many each.

    Each is counted to the cap, under the first reason that holds; one query.
    """
    refusals = KINDS[asked.kind].refusals
    if not refusals:
        return []
    columns: list[Any] = []
    before: list[ColumnElement[bool]] = []
    for _why, holds in refusals:
        statement = _meant(session, asked).where(holds, *before).limit(COUNT_CAP)
        counted = select(func.count()).select_from(statement.subquery())
        columns.append(counted.scalar_subquery())
        before.append(holds.is_not(true()))
    found = session.execute(select(*columns)).one()
    return [(why, n) for (why, _), n in zip(refusals, found, strict=True) if n]


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
        Event,
        lambda until, _: (Event.created_at <= until,),
        replay_events,
        narrow=lambda session, rest: [
            *events_that_match(session, from_json(EventMatching, rest))
        ],
    ),
    _K.RETRY_DELIVERIES: RETRY_DELIVERIES,
    _K.RETRY_MAILS: RETRY_MAILS,
    **OF_ENGAGEMENTS,
}
