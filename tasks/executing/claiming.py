"""Taking due executions, and looking again at what was taken."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Final, NamedTuple
from uuid import UUID

from sqlalchemy import Table, case, literal_column, null, select, update
from sqlalchemy.orm import Session

from tasks.automation.actions import ACTIONS
from tasks.bulk import among
from tasks.claims import IS_LEASED, due_ids, next_suspect
from tasks.held import Claim
from tasks.lane import Bench
from tasks.models.execution import Execution, ExecutionState


class Running(NamedTuple):
    """What guard, context and action read of an execution that is ours."""

    id: UUID
    congregation_id: UUID
    rule_id: UUID
    step: int
    event_id: UUID | None
    scheduled_job_id: UUID | None
    trigger_type: str
    action: str
    podcast_id: str | None
    episode_id: str | None
    booking_id: str | None
    guest_id: str | None
    recipient: str | None
    due_at: datetime
    attempt: int
    failures: int
    max_attempts: int

    @property
    def claim(self) -> Claim:
        """The lease under which it is ours."""
        return Claim(self.id, self.attempt, self.congregation_id)

    @property
    def is_quick(self) -> bool:
        """Whether its action waits for nobody."""
        action = ACTIONS.get(self.action)
        return action is not None and action.is_quick


_TABLE: Final[Table] = Execution.metadata.tables[Execution.__tablename__]
_COLUMNS: Final = tuple(_TABLE.c[name] for name in Running._fields)


def claim(session: Session, bench: Bench, *, limit: int) -> list[Running]:
    """Lease up to ``limit`` due executions, and begin a new attempt of each.

    Returns them in the order in which they were due, a suspect of crashes last and
    beyond the limit.  The effects of quick actions count as begun.  Caller commits.
    """
    if bench.stopping.is_set():
        return []
    now = bench.clock()
    ids = list(due_ids(session, Execution, now=now, limit=limit))
    if suspect := next_suspect(session, now):
        ids.append(suspect)
    if not ids:
        return []
    quick = [name for name, action in ACTIONS.items() if action.is_quick]
    leased = session.execute(
        update(_TABLE)
        .where(
            among(session, Execution.id, ids),
            Execution.state == literal_column("'pending'"),
        )
        .values(
            state=ExecutionState.RUNNING,
            attempt=Execution.attempt + 1,
            worker=bench.worker,
            lease_until=now + bench.timing.lease,
            claimed_at=now,
            effect_at=case((_TABLE.c.action.in_(quick), now), else_=null()),
        )
        .returning(*_COLUMNS)
    ).all()
    running = {row.id.int: row for row in map(Running._make, leased)}
    return [row for id_ in ids if (row := running.get(id_.int))]


def look_again(session: Session, claims: Sequence[Claim]) -> list[Running]:
    """Return the executions that are still ours, in the order of ``claims``."""
    rows = session.execute(
        select(*_COLUMNS).where(
            among(session, Execution.id, [each.execution_id for each in claims]),
            IS_LEASED,
        )
    ).all()
    found = {(row.id, row.attempt): Running(*row) for row in rows}
    keys = [(each.execution_id, each.attempt) for each in claims]
    return [found[key] for key in keys if key in found]
