"""How a rule fared lately: when it fired last, fires next, and how it went."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Final
from uuid import UUID

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from dashboard.tallies import LOOKED_AT
from tasks.models import Execution, ExecutionState, ScheduledJob
from tasks.models.base import born_from
from tasks.operations.matching import is_state
from tasks.search.window import is_among_first

#: How far back executions are counted.
SPAN: Final = timedelta(days=30)
_BAD: Final = (ExecutionState.FAILED, ExecutionState.QUARANTINED)


@dataclass(frozen=True, slots=True)
class Fate:
    """What became of a rule's executions within ``SPAN``, of the newest ones."""

    next_at: datetime | None  # of its next scheduled job
    by_state: Mapping[ExecutionState, int] = field(default_factory=dict)

    @property
    def n(self) -> int:
        """How many executions were counted; ``LOOKED_AT`` means that or more."""
        return sum(self.by_state.values())

    @property
    def succeeded(self) -> int:
        """How many did what they should."""
        return self.by_state.get(ExecutionState.SUCCEEDED, 0)

    @property
    def failed(self) -> int:
        """How many failed for good, or took their worker down."""
        return sum(self.by_state.get(state, 0) for state in _BAD)

    @property
    def skipped(self) -> int:
        """How many the last look before the effect stopped."""
        return self.by_state.get(ExecutionState.SKIPPED, 0)

    @property
    def is_capped(self) -> bool:
        """Whether older ones within the span were not counted."""
        return self.n >= LOOKED_AT


def fate(session: Session, rule_id: UUID, *, now: datetime) -> Fate:
    """Return how a rule fared; two queries, at most ``LOOKED_AT`` rows read."""
    ids = (
        select(Execution.id)
        .where(Execution.rule_id == rule_id, Execution.id >= born_from(now - SPAN))
        .order_by(Execution.id.desc())
        .limit(LOOKED_AT)
    )
    # An index has the ids; PostgreSQL would go through what all rules did instead.
    counted = session.execute(
        select(Execution.state, func.count())
        .where(is_among_first(Execution.id, ids))
        .group_by(Execution.state)
    )
    waiting = select(func.min(ScheduledJob.run_at)).where(
        ScheduledJob.rule_id == rule_id, is_state(ScheduledJob, "pending")
    )
    by_state = {row[0]: row[1] for row in counted}
    return Fate(session.scalar(waiting), by_state)
