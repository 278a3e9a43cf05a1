"""Letting go what waited: what is still of use goes out, at once or spread.

Fed by holds that are lifted and lanes that are resumed.  What the guard would stop
anyway ends here, so that an operator reads at once what was of no use any more.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Sequence
from datetime import datetime, timedelta
from typing import Final
from uuid import UUID

from sqlalchemy import select, update
from sqlalchemy.orm import Session

from tasks import doorbell
from tasks.automation.guard import why_not
from tasks.bulk import BulkUpdate, among
from tasks.holds.looking import active, hold_of
from tasks.models import SENTENCES, Execution, ExecutionState, Operation, Reason
from tasks.operations.acted import Acted
from tasks.operations.executions import LANE, note_cancelled
from tasks.operations.matching import is_state
from tasks.operations.replaying_executions import MOVED
from tasks.saying import mark

#: Where an operation says over how many minutes it spreads; in none: at once.
MINUTES: Final = "minutes"
MINUTES_MAX: Final = 24 * 60
STILL_HELD: Final = mark("Another hold covers it, so it goes on waiting.")
_IS_PENDING: Final = is_state(Execution, ExecutionState.PENDING)
_TABLE: Final = Execution.metadata.tables[Execution.__tablename__]
_let_go: Final = BulkUpdate(
    _TABLE,
    keys=("id",),
    columns=("run_at",),
    constant={"reason": None, "error": None},
    where=(_IS_PENDING,),
)


def release_executions(
    session: Session, operation: Operation, ids: Sequence[UUID], now: datetime
) -> Acted:
    """Let executions go that waited; the caller commits."""
    acted = Acted()
    rows = _free(session, ids, acted, now)
    stops = why_not(session, rows, now=now)
    _end(session, stops, acted, now)
    going = [row for row in rows if row.id not in stops]
    turns = _turns(operation, len(going), now)
    _let_go(
        session,
        [{"id": row.id, "run_at": at} for row, at in zip(going, turns, strict=True)],
    )
    acted.changed += [(row.congregation_id, row.id) for row in going]
    if going:
        doorbell.ask(session, LANE)
    return acted


def drop_executions(
    session: Session, operation: Operation, ids: Sequence[UUID], now: datetime
) -> Acted:
    """Cancel executions that waited; the caller commits."""
    del operation
    acted = Acted()
    rows = _free(session, ids, acted, now)
    _settle(
        session,
        [row.id for row in rows],
        ExecutionState.CANCELLED,
        Reason.OPERATOR,
        now,
    )
    note_cancelled(session, [row.id for row in rows], now)
    acted.changed += [(row.congregation_id, row.id) for row in rows]
    return acted


def _free(
    session: Session, ids: Sequence[UUID], acted: Acted, now: datetime
) -> list[Execution]:
    """Lock and return those that wait and that nothing else holds."""
    rows = session.scalars(
        select(Execution)
        .where(among(session, Execution.id, ids), _IS_PENDING)
        .order_by(Execution.id)
        .with_for_update(of=Execution)
        .execution_options(populate_existing=True)
    ).all()
    holds = active(session, now)
    free = [row for row in rows if hold_of(holds, row) is None]
    acted.skip({row.id for row in rows} - {row.id for row in free}, STILL_HELD)
    acted.skip(set(ids) - {row.id for row in rows}, MOVED)
    return free


def _turns(operation: Operation, n: int, now: datetime) -> list[datetime]:
    """Return when each of the next ``n`` goes; all of them together take the span.

    What is done late, as after a stop, takes what is left of the span from now on:
    the operation keeps by how much it has moved.
    """
    span = timedelta(minutes=int(operation.matching.get(MINUTES, 0)))
    if not span:
        return [now] * n
    share = span / max(operation.n_total, 1)
    gone = share * operation.n_done
    first = max(now, (operation.spread_from or operation.created_at) + gone)
    operation.spread_from = first - gone
    return [first + share * place for place in range(n)]


def _end(
    session: Session,
    stops: dict[UUID, Reason],
    acted: Acted,
    now: datetime,
) -> None:
    by_reason: defaultdict[Reason, list[UUID]] = defaultdict(list)
    for id_, reason in stops.items():
        by_reason[reason].append(id_)
    for reason, ids in by_reason.items():
        _settle(session, ids, ExecutionState.SKIPPED, reason, now)
        acted.skip(ids, SENTENCES[reason])


def _settle(
    session: Session,
    ids: Collection[UUID],
    state: ExecutionState,
    reason: Reason,
    now: datetime,
) -> None:
    if not ids:
        return
    session.execute(
        update(Execution)
        .where(among(session, Execution.id, list(ids)), _IS_PENDING)
        .values(state=state, reason=reason, error=None, settled_at=now)
        .execution_options(synchronize_session=False)
    )
