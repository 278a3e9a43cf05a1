"""Telling admins that a lateness budget is nearly used up, before it breaks."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from datetime import datetime, timedelta
from typing import Final
from uuid import UUID

from sqlalchemy import select
from sqlalchemy.orm import Session

from tasks.models.budget import LaneBudget, RuleBudget
from tasks.models.rule import Rule
from tasks.operations.admin_mails import Telling, Words, mail_admins
from tasks.rollups.burning import Budget, Burn, burns, key_of
from tasks.saying import say

#: Budgets that are looked at together; people set them, by the dozen.
LOOKED_MAX: Final = 200
#: What was told stays told for so long, however a budget goes up and down.
QUIET_FOR: Final = timedelta(hours=6)
#: That it breaks is told so long after the warning at the earliest.
BETWEEN: Final = timedelta(hours=1)


def look_at_budgets(session: Session, now: datetime) -> int:
    """Mark budgets that are nearly used up or broken, and mail admins where wished.

    Returns how many were newly marked.  Costs one look into two small tables where
    nobody has set a budget.  Caller commits.
    """
    n_marked = 0
    for budgets in _budgets(session):
        found = burns(session, budgets, now)
        n_marked += sum(
            _mark(session, each, found[key_of(each)], now) for each in budgets
        )
    return n_marked


def _budgets(session: Session) -> Iterator[Sequence[Budget]]:
    """Yield all budgets, ``LOOKED_MAX`` at a time; deleted rules promise nothing."""
    if lanes := session.scalars(select(LaneBudget)).all():
        yield lanes
    rules = (
        select(RuleBudget)
        .join(Rule, Rule.id == RuleBudget.rule_id)
        .where(Rule.deleted_at.is_(None))
        .order_by(RuleBudget.rule_id)
        .limit(LOOKED_MAX)
    )
    some = session.scalars(rules).all()
    while some:
        yield some
        after = RuleBudget.rule_id > some[-1].rule_id
        some = session.scalars(rules.where(after)).all()


def _mark(
    session: Session, budget: Budget, burnt: Sequence[Burn], now: datetime
) -> bool:
    worst = max(burnt, key=lambda burn: burn.used if burn.is_telling else 0)
    budget.is_near = worst.warns
    _forget(budget, worst, now)
    is_new = worst.warns and budget.warned_at is None
    breaks = worst.breaks and budget.broken_at is None
    is_too_soon = budget.warned_at is not None and now < budget.warned_at + BETWEEN
    if not is_new and (not breaks or is_too_soon):
        return False
    budget.warned_at = budget.warned_at or now
    if breaks:
        budget.broken_at = now
    if budget.by_mail:
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
    of, called, path = _named(session, budget)
    what = "broken" if burn.breaks else "near"
    key = f"budget:{key_of(budget)}:{what}:{now:%Y-%m-%dT%H}"

    def words() -> Words:
        name = called()
        subject = (
            say("%(name)s is late more often than promised", name=name)
            if burn.breaks
            else say("%(name)s has nearly used up its lateness budget", name=name)
        )
        return Words(subject, _measured(budget, burn))

    mail_admins(session, of, Telling(key, path, words), now)


def _measured(budget: Budget, burn: Burn) -> str:
    return say(
        "In the last %(window)s %(late)s of %(n)s began more than %(seconds)s seconds "
        "after their time. The budget allows %(allowed)s of them.",
        window=say(burn.window),
        late=burn.n_late,
        n=burn.n,
        seconds=budget.seconds,
        allowed=round(burn.allowed),
    )


def _named(
    session: Session, budget: Budget
) -> tuple[UUID | None, Callable[[], str], str]:
    """Return whose budget it is, how to say what that is called, and its page."""
    if isinstance(budget, LaneBudget):
        lane = budget.lane
        return (
            None,
            lambda: say("The lane “%(lane)s”", lane=lane),
            f"/lanes/{lane}#budget",
        )
    name = session.scalar(select(Rule.name).where(Rule.id == budget.rule_id))
    return (
        budget.congregation_id,
        lambda: say("“%(text)s”", text=name),
        f"/rules/{budget.rule_id}",
    )
