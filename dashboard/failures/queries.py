"""What the pages of failures read: groups by key, and a few numbers about each."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final
from uuid import UUID

from sqlalchemy import (
    ColumnElement,
    Select,
    func,
    select,
)
from sqlalchemy.orm import Session

from dashboard.executions.lines import Line, lines
from dashboard.failures import standing
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
    FailedDelivery,
    FailedExecution,
    FailureGroup,
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
#: Counting groups stops here.
GROUPS_MAX: Final = 1_000
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
    n_open = standing.n_open(session, groups)
    hours = standing.hours(session, groups, now)
    well = standing.well(session, groups)
    return [
        GroupLine(
            group,
            rule,
            endpoint,
            congregation,
            n_open[group.id],
            hours[group.id],
            group.id in well or standing.delivers(group, endpoint),
            now,
        )
        for group, rule, endpoint, congregation in rows
    ]
