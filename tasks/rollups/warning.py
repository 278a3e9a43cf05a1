"""Telling admins that a lateness budget is nearly used up, before it breaks."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Final
from uuid import UUID

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
#: That it breaks is told so long after the warning at the earliest.
BETWEEN: Final = timedelta(hours=1)


def look_at_budgets(session: Session, now: datetime) -> int:
    """Mark budgets that are nearly used up or broken, and mail admins of it.

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
    _forget(budget, worst, now)
    is_new = worst.warns and budget.warned_at is None
    breaks = worst.breaks and budget.broken_at is None
    is_too_soon = budget.warned_at is not None and now < budget.warned_at + BETWEEN
    if not is_new and (not breaks or is_too_soon):
        return False
    budget.warned_at = budget.warned_at or now
    if breaks:
        budget.broken_at = now
    _tell(session, budget, worst, now)
    return True


def _forget(budget: Budget, worst: Burn, now: datetime) -> None:
    """Let what has recovered be told again, once its quiet time is over."""
    if not worst.breaks and _is_past(budget.broken_at, now):
        budget.broken_at = None
    if not worst.warns and _is_past(budget.warned_at, now) and not budget.broken_at:
        budget.warned_at = None


def _is_past(told_at: datetime | None, now: datetime) -> bool:
    return told_at is not None and told_at < now - QUIET_FOR


def _tell(session: Session, budget: Budget, burn: Burn, now: datetime) -> None:
    of, name, path = _named(session, budget)
    mail_admins(
        session,
        of,
        Telling(
            key=f"budget:{key_of(budget)}:{'broken' if burn.breaks else 'near'}:"
            f"{now:%Y-%m-%dT%H}",
            subject=f"{name} is late more often than promised"
            if burn.breaks
            else f"{name} has nearly used up its lateness budget",
            body=f"In the last {burn.window} {burn.n_late} of {burn.n} began more than "
            f"{budget.seconds} seconds after their time. The budget allows "
            f"{burn.allowed:.0f} of them.",
            path=path,
        ),
        now,
    )


def _named(session: Session, budget: Budget) -> tuple[UUID | None, str, str]:
    """Return whose budget it is, what that is called, and its page."""
    if isinstance(budget, LaneBudget):
        return None, f"The lane “{budget.lane}”", f"/lanes/{budget.lane}#budget"
    name = session.scalar(select(Rule.name).where(Rule.id == budget.rule_id))
    return budget.congregation_id, f"“{name}”", f"/rules/{budget.rule_id}"
