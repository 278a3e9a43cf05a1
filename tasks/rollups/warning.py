"""Telling admins that a lateness budget is nearly used up, before it breaks."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Final

from sqlalchemy import select
from sqlalchemy.orm import Session

from tasks.models.budget import LaneBudget, RuleBudget
from tasks.models.rule import Rule
from tasks.operations.admin_mails import Telling, mail_admins
from tasks.rollups.burning import Budget, Burn, burns, key_of

#: Budgets looked at in one sweep; those that were looked at least lately come first.
LOOKED_MAX: Final = 200
#: What was told stays told for so long, however a budget goes up and down.
QUIET_FOR: Final = timedelta(hours=6)


def look_at_budgets(session: Session, now: datetime) -> int:
    """Mark budgets that are nearly used up, and mail the admins of rules' ones.

    Returns how many were newly marked.  Costs one look into two small tables where
    nobody has set a budget.  Caller commits.
    """
    budgets: list[Budget] = [
        *session.scalars(select(RuleBudget).limit(LOOKED_MAX)),
        *session.scalars(select(LaneBudget).limit(LOOKED_MAX)),
    ]
    found = burns(session, budgets, now) if budgets else {}
    return sum(_mark(session, each, found[key_of(each)], now) for each in budgets)


def _mark(
    session: Session, budget: Budget, burnt: Sequence[Burn], now: datetime
) -> bool:
    worst = max(burnt, key=lambda burn: burn.used if burn.is_telling else 0)
    if not worst.warns:
        if budget.warned_at is not None and budget.warned_at < now - QUIET_FOR:
            budget.warned_at = None
        return False
    if budget.warned_at is not None:
        return False
    budget.warned_at = now
    if isinstance(budget, RuleBudget):
        _tell(session, budget, worst, now)
    return True


def _tell(session: Session, budget: RuleBudget, burn: Burn, now: datetime) -> None:
    name = session.scalar(select(Rule.name).where(Rule.id == budget.rule_id))
    mail_admins(
        session,
        budget.congregation_id,
        Telling(
            key=f"budget:{budget.rule_id}:{now:%Y-%m-%dT%H}",
            subject=f"“{name}” is late more often than promised"
            if burn.used >= 1
            else f"“{name}” has nearly used up its lateness budget",
            body=f"In the last {burn.window} {burn.n_late} of {burn.n} began more than "
            f"{budget.seconds} seconds after their time. The budget allows "
            f"{burn.allowed:.0f} of them.",
            path=f"/rules/{budget.rule_id}",
        ),
        now,
    )
