"""What operators hold does not act now: it waits, and uses up none of its attempts."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from uuid import UUID

from sqlalchemy.orm import Session

from tasks.executing.claiming import Running
from tasks.executing.verdicts import Verdict
from tasks.holds.looking import active, hold_of
from tasks.models.execution import AttemptOutcome, ExecutionState
from tasks.models.reason import Reason


def held_back(
    session: Session, rows: Sequence[Running], now: datetime
) -> dict[UUID, Verdict]:
    """Return the verdicts on what is held; one query, whatever the number of rows."""
    holds = active(session, now)
    if not holds:
        return {}
    return {
        row.id: Verdict(
            row.claim,
            ExecutionState.PENDING,
            AttemptOutcome.DEFERRED,
            Reason.HELD,
            hold.sentence,
            run_at=hold.look_again_at(now),
        )
        for row in rows
        if (hold := hold_of(holds, row)) is not None
    }
