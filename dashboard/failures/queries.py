"""What the pages of failures read: groups by key, and a few numbers about each."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Final
from uuid import UUID

from sqlalchemy import (
    ColumnElement,
    DateTime,
    Exists,
    Integer,
    ScalarSelect,
    Select,
    bindparam,
    case,
    func,
    literal_column,
    or_,
    select,
    type_coerce,
)
from sqlalchemy.orm import Session

from dashboard.executions.lines import Line, lines
from dashboard.paging import Key, Page, paginate
from dashboard.webhooks.deliveries import DeliveryRow
from tasks.errors import NotFound
from tasks.failures.groups import asks
from tasks.models import (
    AuditEntry,
    Congregation,
    Delivery,
    Endpoint,
    Execution,
    ExecutionState,
    FailedDelivery,
    FailedExecution,
    FailureGroup,
    FailureHour,
    Rule,
)
from tasks.saying import mark, say
from tasks.webhooks.switching import name_of

#: What a list of groups shows: those that ask for somebody, the quiet ones, or all.
TABS: Final[Mapping[str, str]] = {
    "open": mark("To look at"),
    "acknowledged": mark("Acknowledged"),
    "all": mark("All"),
}
#: What failed last first.
KEYS: Final[tuple[Key, ...]] = (FailureGroup.last_at.desc(), FailureGroup.id.desc())
#: Hours that a group's picture shows, up to now.
HOURS: Final = 48
#: Counting what failed in one group, and groups themselves, stops here.
OPEN_MAX: Final = 1_000
GROUPS_MAX: Final = 1_000
#: A rule is well again when an execution made since has succeeded.  It is looked for
#: among so many of the newest and of the oldest since: no index has what succeeded.
_SINCE_MAX: Final = 500
_ONE: Final[ColumnElement[int]] = literal_column("1", Integer)
_DEEDS_MAX: Final = 20


@dataclass(frozen=True, slots=True)
class GroupLine:
    """A group, the names that it needs, and how it stands."""

    group: FailureGroup
    rule: str | None
    endpoint: Endpoint | None
    congregation: str
    n_open: int  # failed, and not queued again; up to OPEN_MAX
    hours: Sequence[int]  # failures of the last HOURS hours, oldest first
    has_recovered: bool  # the same rule or endpoint has done well since
    now: datetime

    @property
    def owner(self) -> str:
        """The rule's or the endpoint's name."""
        return name_of(self.endpoint) if self.endpoint else self.rule or ""

    @property
    def is_delivery(self) -> bool:
        """Whether deliveries failed, not executions."""
        return self.group.endpoint_id is not None

    @property
    def is_quiet(self) -> bool:
        """Whether somebody took note of it, and it did not fail since."""
        row = self.group
        if row.acknowledged_at is None:
            return False
        is_hushed = row.quiet_until is not None and row.quiet_until > self.now
        return is_hushed or row.last_at <= row.acknowledged_at

    @property
    def state(self) -> str:
        """How it stands, as a word of ``dashboard.states``."""
        if not self.n_open:
            return "retried"
        if self.is_quiet:
            return "acknowledged"
        return "recovered" if self.has_recovered else "failed"

    @property
    def why_no_retry(self) -> str | None:
        """Why nothing of it can be tried again; None: it can."""
        if not self.n_open:
            return say("All of it was queued again already.")
        if self.endpoint and self.endpoint.deleted_at is not None:
            return say("The endpoint was removed.")
        if self.endpoint and not self.endpoint.enabled:
            return say("Switch the endpoint on first.")
        return None


def selected(
    wanted: Sequence[ColumnElement[bool]],
) -> Select[FailureGroup, str, Endpoint, str]:
    """Select groups with the names that they need."""
    return _named().where(*wanted)


def page(
    session: Session,
    wanted: Sequence[ColumnElement[bool]],
    cursor: str | None,
    limit: int,
    *,
    now: datetime,
) -> Page[GroupLine]:
    """Return a page of groups, what failed last first; four queries."""
    found = paginate(session, selected(wanted), KEYS, cursor, limit)
    rows = _lines(session, found.rows, now)
    return Page(rows, found.next_cursor, found.previous_cursor)


def n_asking(session: Session, *, now: datetime) -> int:
    """Return how many groups ask for somebody, counted to ``GROUPS_MAX``."""
    some = select(FailureGroup.id).where(asks(now)).limit(GROUPS_MAX).subquery()
    return session.scalar(select(func.count()).select_from(some)) or 0


def newest_asking(session: Session, limit: int, *, now: datetime) -> list[GroupLine]:
    """Return the groups that ask for somebody, what failed last first."""
    statement = (
        _named()
        .where(asks(now))
        .order_by(FailureGroup.last_at.desc(), FailureGroup.id.desc())
        .limit(limit)
    )
    return _lines(session, session.execute(statement).all(), now)


def line(session: Session, group_id: UUID, *, now: datetime) -> GroupLine:
    """Return one group.

    Raises:
        NotFound: the session sees no such group.
    """
    rows = session.execute(_named().where(FailureGroup.id == group_id)).all()
    if not rows:
        raise NotFound("unknown_failure", say("There is no such group of failures."))
    return _lines(session, rows, now)[0]


def group_of(session: Session, row: Execution | Delivery) -> FailureGroup | None:
    """Return the group that a row belongs to; None: it has not failed."""
    model: type[FailedExecution] | type[FailedDelivery] = FailedDelivery
    key: ColumnElement[bool] = FailedDelivery.delivery_id == row.id
    if isinstance(row, Execution):
        model, key = FailedExecution, FailedExecution.execution_id == row.id
    return session.scalars(
        select(FailureGroup)
        .join(model, model.group_id == FailureGroup.id)
        .where(key, model.retried_at.is_(None))
    ).first()


def deeds(session: Session, group_id: UUID) -> Sequence[AuditEntry]:
    """Return what operators did about a group, newest first."""
    return session.scalars(
        select(AuditEntry)
        .where(
            AuditEntry.subject_kind == "failure", AuditEntry.subject_id == str(group_id)
        )
        .order_by(AuditEntry.created_at.desc(), AuditEntry.id.desc())
        .limit(_DEEDS_MAX)
    ).all()


def executions(
    session: Session, group_id: UUID, cursor: str | None, limit: int
) -> Page[Line]:
    """Return a page of a group's executions, newest first, as they are now."""
    statement = (
        lines()
        .join(FailedExecution, FailedExecution.execution_id == Execution.id)
        .where(FailedExecution.group_id == group_id)
    )
    key = (FailedExecution.execution_id.desc(),)
    found = paginate(session, statement, key, cursor, limit)
    rows = [Line(*row) for row in found.rows]
    return Page(rows, found.next_cursor, found.previous_cursor)


def deliveries(
    session: Session, group_id: UUID, cursor: str | None, limit: int
) -> Page[DeliveryRow]:
    """Return a page of a group's deliveries, newest first, as they are now."""
    statement = (
        select(Delivery, Endpoint, Congregation.name)
        .join(FailedDelivery, FailedDelivery.delivery_id == Delivery.id)
        .join(Endpoint, Endpoint.id == Delivery.endpoint_id)
        .join(Congregation, Congregation.id == Delivery.congregation_id)
        .where(FailedDelivery.group_id == group_id)
    )
    key = (FailedDelivery.delivery_id.desc(),)
    found = paginate(session, statement, key, cursor, limit)
    rows = [DeliveryRow(*row) for row in found.rows]
    return Page(rows, found.next_cursor, found.previous_cursor)


def _named() -> Select[FailureGroup, str, Endpoint, str]:
    return (
        select(FailureGroup, Rule.name, Endpoint, Congregation.name)
        .join(Congregation, Congregation.id == FailureGroup.congregation_id)
        .outerjoin(Rule, Rule.id == FailureGroup.rule_id)
        .outerjoin(Endpoint, Endpoint.id == FailureGroup.endpoint_id)
    )


def _lines(session: Session, rows: Sequence[Any], now: datetime) -> list[GroupLine]:
    if not rows:
        return []
    groups: list[FailureGroup] = [row[0] for row in rows]
    n_open, hours = _n_open(session, groups), _hours(session, groups, now)
    well = _well(session, groups)
    return [
        GroupLine(
            group,
            rule,
            endpoint,
            congregation,
            n_open[group.id],
            hours[group.id],
            group.id in well or _delivers(group, endpoint),
            now,
        )
        for group, rule, endpoint, congregation in rows
    ]


def _n_open(session: Session, groups: Sequence[FailureGroup]) -> dict[UUID, int]:
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


def _hours(
    session: Session, groups: Sequence[FailureGroup], now: datetime
) -> dict[UUID, list[int]]:
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


def _well(session: Session, groups: Sequence[FailureGroup]) -> set[UUID]:
    """Return the groups whose rule has succeeded with what came after them."""
    ids = [group.id for group in groups if group.rule_id is not None]
    return set(session.scalars(_WELL, {"ids": ids})) if ids else set()


def _delivers(group: FailureGroup, endpoint: Endpoint | None) -> bool:
    if endpoint is None or endpoint.delivered_at is None:
        return False
    return endpoint.delivered_at > group.last_at
