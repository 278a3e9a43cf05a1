"""Noting failures by cause, in the transaction that settles them.

Nothing happens where nothing failed.  Groups are counted in the order of their ids, so
that two writers never wait for each other in a circle.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any, Final, NamedTuple
from uuid import UUID

from sqlalchemy import Table, case, select, update
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.orm import Session

from tasks.bulk import (
    ARRAYS_FROM,
    among,
    from_arrays,
    is_postgres,
    parameters,
    varied_of,
)
from tasks.failures.cause import cause_of, group_id
from tasks.models.base import Base
from tasks.models.delivery import Delivery
from tasks.models.execution import Execution
from tasks.models.failure import (
    FailedDelivery,
    FailedExecution,
    FailureGroup,
    FailureHour,
)
from tasks.models.reason import Reason

#: What groups of deliveries have for an action.
DELIVERY: Final = "delivery"
#: Ids in one statement.
_CHUNK: Final = 500
Rows = list[dict[str, Any]]


class Failure(NamedTuple):
    """One row that has just failed for good."""

    id: UUID
    congregation_id: UUID
    reason: Reason | None
    error: str | None


class _Owner(NamedTuple):
    rule_id: UUID | None
    endpoint_id: UUID | None
    action: str


def _table(model: type[Base]) -> Table:
    return Base.metadata.tables[model.__tablename__]


def note_executions(session: Session, failed: Sequence[Failure], now: datetime) -> None:
    """Count executions that failed or were quarantined; the caller commits."""
    if not failed:
        return
    owners = {
        id_.int: _Owner(rule_id, None, action)
        for id_, rule_id, action in session.execute(
            select(Execution.id, Execution.rule_id, Execution.action).where(
                among(session, Execution.id, [each.id for each in failed])
            )
        )
    }
    members = _counted(session, failed, owners, now)
    _upsert(session, _table(FailedExecution), _named(members, "execution_id"), _again)


def note_deliveries(session: Session, failed: Sequence[Failure], now: datetime) -> None:
    """Count deliveries that failed for good; the caller commits."""
    if not failed:
        return
    owners = {
        id_.int: _Owner(None, endpoint_id, DELIVERY)
        for id_, endpoint_id in session.execute(
            select(Delivery.id, Delivery.endpoint_id).where(
                among(session, Delivery.id, [each.id for each in failed])
            )
        )
    }
    members = _counted(session, failed, owners, now)
    _upsert(session, _table(FailedDelivery), _named(members, "delivery_id"), _again)


def note_retried(
    session: Session,
    model: type[FailedExecution] | type[FailedDelivery],
    ids: Collection[UUID],
    now: datetime,
) -> None:
    """Remember that failures were queued again; the caller commits."""
    key = model.execution_id if model is FailedExecution else FailedDelivery.delivery_id
    wanted = sorted(ids)
    for start in range(0, len(wanted), _CHUNK):
        session.execute(
            update(model)
            .where(key.in_(wanted[start : start + _CHUNK]), model.retried_at.is_(None))
            .values(retried_at=now)
            .execution_options(synchronize_session=False)
        )


def _counted(
    session: Session,
    failed: Iterable[Failure],
    owners: Mapping[int, _Owner],
    now: datetime,
) -> Rows:
    """Count failures in their groups and hours; returns which belongs to which."""
    groups: dict[UUID, dict[str, Any]] = {}
    members: Rows = []
    for each in failed:
        row = _group(each, owners[each.id.int], now)
        groups.setdefault(row["id"], row)
        members.append(_member(each, row["id"], now))
    counted = Counter(member["group_id"] for member in members)
    ordered = [groups[id_] | {"n": counted[id_]} for id_ in sorted(groups)]
    _upsert(session, _table(FailureGroup), ordered, _one_more)
    hour = now.replace(minute=0, second=0, microsecond=0)
    hours = [
        {
            "congregation_id": row["congregation_id"],
            "group_id": row["id"],
            "hour": hour,
            "n": row["n"],
        }
        for row in ordered
    ]
    _upsert(session, _table(FailureHour), hours, _more)
    return members


def _group(failure: Failure, owner: _Owner, now: datetime) -> dict[str, Any]:
    cause = cause_of(failure.error, failure.reason)
    of = owner.rule_id or owner.endpoint_id
    assert of is not None  # noqa: S101  # one of them is set
    key = group_id(failure.congregation_id, of, owner.action, failure.reason, cause)
    return {
        "id": key,
        "congregation_id": failure.congregation_id,
        **owner._asdict(),
        "reason": failure.reason,
        "cause": cause,
        "first_at": now,
        "last_at": now,
        "note": "",
    }


def _member(failure: Failure, of: UUID, now: datetime) -> dict[str, Any]:
    return {
        "congregation_id": failure.congregation_id,
        "id": failure.id,
        "group_id": of,
        "failed_at": now,
        "retried_at": None,
    }


def _named(members: Rows, key: str) -> Rows:
    """Return what belongs to the groups, in one order for all writers."""
    ordered = sorted(members, key=lambda member: member["id"].int)
    return [{key: member.pop("id"), **member} for member in ordered]


Insert = postgresql.Insert | sqlite.Insert
#: What becomes of a row that is there already.
Meeting = Callable[[Table, Insert], dict[str, Any]]


def _one_more(table: Table, made: Insert) -> dict[str, Any]:
    newer = made.excluded.last_at > table.c.last_at  # clocks of workers may differ
    last_at = case((newer, made.excluded.last_at), else_=table.c.last_at)
    return {"n": table.c.n + made.excluded.n, "last_at": last_at}


def _more(table: Table, made: Insert) -> dict[str, Any]:
    return {"n": table.c.n + made.excluded.n}


def _again(_: Table, made: Insert) -> dict[str, Any]:
    names = ("group_id", "failed_at", "retried_at")
    return {name: made.excluded[name] for name in names}


def _upsert(session: Session, table: Table, rows: Rows, meeting: Meeting) -> None:
    """Insert ``rows``, or let them meet what is there."""
    made: Insert
    sets: Any = rows
    if not is_postgres(session):
        made = sqlite.insert(table)
    elif len(rows) < ARRAYS_FROM:
        made = postgresql.insert(table)
    else:
        varied = varied_of(rows)
        chosen = from_arrays(table, tuple(rows[0]), varied)
        made = postgresql.insert(table).from_select(list(rows[0]), chosen)
        sets = parameters(table, rows, varied)
    keys = [column.name for column in table.primary_key]
    session.execute(
        made.on_conflict_do_update(index_elements=keys, set_=meeting(table, made)), sets
    )
