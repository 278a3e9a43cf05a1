"""Taking due executions, and looking again at what was taken."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from functools import lru_cache
from typing import Final, NamedTuple
from uuid import UUID

from sqlalchemy import Table, Update, bindparam, case, literal_column, select, update
from sqlalchemy.orm import Session

from tasks.automation.actions import ACTIONS
from tasks.bulk import among, given, is_among, is_postgres
from tasks.claims import IS_LEASED, due_rows, next_suspect
from tasks.held import Claim
from tasks.lane import Bench
from tasks.models.base import UtcDateTime
from tasks.models.execution import Execution


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
    def is_within(self) -> bool:
        """Whether all that its action does are rows of ours."""
        action = ACTIONS.get(self.action)
        return action is not None and action.is_within


_TABLE: Final[Table] = Execution.metadata.tables[Execution.__tablename__]
_COLUMNS: Final = tuple(_TABLE.c[name] for name in Running._fields)
#: What is due, with the attempt that is about to begin.
_NEXT: Final = tuple(
    (each + 1).label(each.name) if each.name == "attempt" else each for each in _COLUMNS
)


def take(session: Session, bench: Bench, *, limit: int) -> list[Running]:
    """Lock up to ``limit`` due executions until the transaction ends.

    Returns them in the order in which they were due, a suspect of crashes last and
    beyond the limit, each with the number of the attempt that is about to begin.
    """
    if bench.stopping.is_set():
        return []
    now = bench.clock()
    rows = due_rows(session, Execution, _NEXT, now=now, limit=limit)
    if bench.suspects.is_time():
        suspect = next_suspect(session, _NEXT, now)
        bench.suspects.looked(found=suspect is not None)
        rows += [suspect] if suspect else []
    return [Running._make(row) for row in rows]


def lease(
    session: Session,
    bench: Bench,
    taken: Sequence[Running],
    begun: Sequence[UUID] = (),
) -> None:
    """Begin the attempts of what was taken, for those whose effect leaves the house.

    Args:
        begun: those of them whose effects begin right after the commit.
    """
    if not taken:
        return
    now = bench.clock()
    sets = {
        "ids": given(session, Execution.id, [row.id for row in taken]),
        "begun": given(session, Execution.id, begun),
        "by": bench.worker,
        "until": now + bench.timing.lease,
        "at": now,
    }
    session.execute(_leasing(is_postgres(session)), sets)


@lru_cache
def _leasing(takes_arrays: bool) -> Update:  # a key of the cache
    begun = is_among(Execution.id, "begun", takes_arrays=takes_arrays)
    at = bindparam("at", type_=UtcDateTime)
    return (
        update(_TABLE)
        .where(is_among(Execution.id, "ids", takes_arrays=takes_arrays))
        .values(
            state=literal_column("'running'"),
            attempt=Execution.attempt + 1,
            worker=bindparam("by"),
            lease_until=bindparam("until", type_=UtcDateTime),
            claimed_at=at,
            effect_at=case((begun, at)),
        )
    )


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
