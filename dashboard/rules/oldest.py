"""Since when the oldest thing of a rule waits past its time."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Final
from uuid import UUID

from sqlalchemy import Integer, func, literal_column, select
from sqlalchemy.orm import Session

from tasks.models import Execution, ScheduledJob

#: Executions that are due, the oldest first, among which the rule's are looked for.
LOOKED_AT: Final = 1_000


def oldest_waiting(
    session: Session, rule_id: UUID, jobs: Sequence[ScheduledJob], now: datetime
) -> datetime | None:
    """Return when it was to be taken; None: nothing of the rule is past its time.

    Args:
        jobs: those of the rule that come next, soonest first.
    """
    due = (
        select(Execution.rule_id, Execution.run_at)
        .where(Execution.state == literal_column("'pending'"), Execution.run_at <= now)
        .order_by(Execution.run_at, Execution.id)
        .limit(literal_column(str(LOOKED_AT), Integer))
        .subquery()
    )
    oldest = session.scalar(
        select(func.min(due.c.run_at)).where(due.c.rule_id == rule_id)
    )
    found = [job.run_at for job in jobs[:1] if job.run_at <= now]
    return min([*found, *([oldest] if oldest is not None else [])], default=None)
