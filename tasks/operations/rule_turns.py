"""What waits for its turn when a rule's rate limit changes."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any, Final

from sqlalchemy import delete, literal_column, select, update
from sqlalchemy.orm import Session

from tasks import doorbell
from tasks.locks import in_order
from tasks.models import Execution, RateSlot, Rule

_LIMIT: Final = ("rate_limit", "rate_window_minutes")


def changes_rate(before: Mapping[str, Any], after: Mapping[str, Any]) -> bool:
    """Whether the rule's limit is another one."""
    return any(before[name] != after[name] for name in _LIMIT)


def release_turns(session: Session, rule: Rule, now: datetime) -> None:
    """Let what waits for a turn ask for one anew, under the limit as it is now.

    Two statements, however much waits.  Caller commits.
    """
    is_kept = (
        RateSlot.rule_id == rule.id,
        RateSlot.at > now,
        RateSlot.used_by.is_(None),
    )
    session.execute(
        update(Execution)
        .where(
            *in_order(
                session,
                Execution,
                Execution.id.in_(select(RateSlot.execution_id).where(*is_kept)),
                Execution.state == literal_column("'pending'"),
            )
        )
        .values(run_at=now)
        .execution_options(synchronize_session=False)
    )
    session.execute(
        delete(RateSlot).where(*is_kept).execution_options(synchronize_session=False)
    )
    doorbell.ask(session, "executions")
