"""What pages read of lateness budgets."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final
from uuid import UUID

from sqlalchemy import select
from sqlalchemy.orm import Session

from tasks.db import Scope, scope_of
from tasks.models import LaneBudget, Rule, RuleBudget
from tasks.operations.budgets import SHARES, SPANS
from tasks.rollups.burning import Burn, burns, key_of
from tasks.saying import say, written
from tasks.saying.formats import decimal

#: Budgets in danger that the first page names.
SHOWN_MAX: Final = 10


@dataclass(frozen=True, slots=True)
class Endangered:
    """A budget that is nearly used up, or broken."""

    rule_id: UUID | None  # None: a lane's
    name: str
    is_broken: bool  # else nearly


def of_rule(session: Session, rule_id: UUID, now: datetime) -> dict[str, Any]:
    """Return what ``budgets/_panel.html`` reads of a rule."""
    return _values(session, session.get(RuleBudget, rule_id), now)


def of_lane(session: Session, lane: str, now: datetime) -> dict[str, Any]:
    """Return what ``budgets/_panel.html`` reads of a lane; nothing within a scope.

    A lane's budget counts every congregation's work.
    """
    if scope_of(session) is not Scope.EVERY:
        return {}
    return _values(session, session.get(LaneBudget, lane), now)


def endangered(session: Session) -> Sequence[Endangered]:
    """Return the budgets that are nearly used up, at most ``SHOWN_MAX`` of a kind.

    As the lane ``rollups`` found them a minute ago at the latest.
    """
    rules = session.execute(
        select(Rule.id, Rule.name, RuleBudget.broken_at)
        .join(RuleBudget, RuleBudget.rule_id == Rule.id)
        .where(RuleBudget.is_near.is_(True), Rule.deleted_at.is_(None))
        .limit(SHOWN_MAX)
    )
    found = [Endangered(id_, name, at is not None) for id_, name, at in rules]
    if scope_of(session) is Scope.EVERY:
        lanes = session.execute(
            select(LaneBudget.lane, LaneBudget.broken_at).where(
                LaneBudget.is_near.is_(True)
            )
        )
        found += [Endangered(None, name, at is not None) for name, at in lanes]
    return found


def _values(
    session: Session, budget: RuleBudget | LaneBudget | None, now: datetime
) -> dict[str, Any]:
    found: Sequence[Burn] = ()
    if budget is not None:
        found = burns(session, [budget], now)[key_of(budget)]
    return {
        "budget": budget,
        "burns": found,
        "shares": SHARES,
        "spans": SPANS,
        "percent": percent,
        "decimal": decimal,
    }


def percent(per_mille: int) -> str:
    """Return a share of 1 000 in percent.

    >>> percent(990), percent(995)
    ('99 %', '99.5 %')
    """
    whole, rest = divmod(per_mille, 10)
    return say("%(n)s %%", n=decimal(per_mille / 10) if rest else written(whole))
