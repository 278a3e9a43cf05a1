"""How groups of failures stand: what is open, the last hours, whether it is over."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Final
from uuid import UUID

from sqlalchemy import (
    ColumnElement,
    DateTime,
    Exists,
    Integer,
    ScalarSelect,
    bindparam,
    case,
    func,
    literal_column,
    or_,
    select,
    type_coerce,
)
from sqlalchemy.orm import Session

from tasks.models import (
    Endpoint,
    Execution,
    ExecutionState,
    FailedDelivery,
    FailedExecution,
    FailureGroup,
    FailureHour,
)

#: Hours that a group's picture shows, up to now.
HOURS: Final = 48
#: Counting what failed in one group stops here.
OPEN_MAX: Final = 1_000
#: A rule is well again when an execution made since has succeeded.  It is looked for
#: among so many of the newest and of the oldest since: no index has what succeeded.
_SINCE_MAX: Final = 500
_ONE: Final[ColumnElement[int]] = literal_column("1", Integer)


def n_open(session: Session, groups: Sequence[FailureGroup]) -> dict[UUID, int]:
    """Return how much of each group was not queued again, up to ``OPEN_MAX``."""
    found = session.execute(_OPEN, {"ids": [group.id for group in groups]})
    return {row[0]: row[1] for row in found}


def _open_of(model: type[FailedExecution] | type[FailedDelivery]) -> ScalarSelect[int]:
    some = (
        select(model.failed_at)
        .where(model.group_id == FailureGroup.id, model.retried_at.is_(None))
        .limit(literal_column(str(OPEN_MAX), Integer))
        .correlate(FailureGroup)
    )
    return select(func.count()).select_from(some.subquery()).scalar_subquery()


#: Made once, like what follows: making it takes longer than running it.
_OPEN: Final = select(
    FailureGroup.id,
    case(
        (FailureGroup.endpoint_id.is_(None), _open_of(FailedExecution)),
        else_=_open_of(FailedDelivery),
    ),
).where(FailureGroup.id.in_(bindparam("ids", expanding=True)))


#: Some thousand rows for a page, so hours are taken as the driver gives them.
_STRUCK: Final = select(
    FailureHour.group_id, type_coerce(FailureHour.hour, DateTime), FailureHour.n
).where(
    FailureHour.group_id.in_(bindparam("ids", expanding=True)),
    FailureHour.hour >= bindparam("first"),
)


def hours(
    session: Session, groups: Sequence[FailureGroup], now: datetime
) -> dict[UUID, list[int]]:
    """Return how often each group struck in the last ``HOURS``, the oldest first."""
    first = now.replace(minute=0, second=0, microsecond=0) - timedelta(hours=HOURS - 1)
    # SQLite gives them without a zone; what went in was UTC.
    places = {first + timedelta(hours=place): place for place in range(HOURS)}
    places |= {hour.replace(tzinfo=None): place for hour, place in places.items()}
    found = {group.id: [0] * HOURS for group in groups}
    for id_, hour, n in session.execute(_STRUCK, {"ids": [*found], "first": first}):
        if hour in places:  # a worker's clock may be ahead
            found[id_][places[hour]] = n
    return found


def _has_success(*, newest: bool) -> Exists:
    """Select whether a group's action succeeded among what came after its failures.

    That one step of a rule does well says nothing about another one.
    """
    last = (
        select(FailedExecution.execution_id)
        .where(FailedExecution.group_id == FailureGroup.id)
        .order_by(FailedExecution.execution_id.desc())
        .limit(_ONE)
        .correlate(FailureGroup)
    )
    some = (
        select(Execution.state, Execution.action, Execution.created_at)
        .where(Execution.rule_id == FailureGroup.rule_id)
        .where(Execution.id > last.scalar_subquery())
        .order_by(Execution.id.desc() if newest else Execution.id)
        .limit(literal_column(str(_SINCE_MAX), Integer))
        .correlate(FailureGroup)
        .subquery()
    )
    return (
        select(some.c.state)
        .where(some.c.state == ExecutionState.SUCCEEDED)
        .where(some.c.action == FailureGroup.action)
        .where(some.c.created_at > FailureGroup.last_at)
        .correlate(FailureGroup)
        .exists()
    )


_WELL: Final = select(FailureGroup.id).where(
    FailureGroup.id.in_(bindparam("ids", expanding=True)),
    or_(_has_success(newest=True), _has_success(newest=False)),
)


def well(session: Session, groups: Sequence[FailureGroup]) -> set[UUID]:
    """Return the groups whose rule has succeeded with what came after them."""
    ids = [group.id for group in groups if group.rule_id is not None]
    return set(session.scalars(_WELL, {"ids": ids})) if ids else set()


def delivers(group: FailureGroup, endpoint: Endpoint | None) -> bool:
    """Return whether a group's endpoint took something after it failed last."""
    if endpoint is None or endpoint.delivered_at is None:
        return False
    return endpoint.delivered_at > group.last_at
