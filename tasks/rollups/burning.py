"""How much of a lateness budget is used up, read from the counts of waiting times."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final
from uuid import UUID

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from tasks.models.budget import LaneBudget, RuleBudget
from tasks.models.rollup import BOUNDS, LaneRollup, Measure, RuleRollup, Span
from tasks.rollups.quantiles import n_within
from tasks.saying import mark

#: The windows over which a budget is looked at.
WINDOWS: Final = {
    mark("24 hours"): timedelta(hours=24),
    mark("7 days"): timedelta(days=7),
}
#: From this share on a budget is nearly used up …
WARN_FROM: Final = 0.75
#: … if at least so many began within the window: one of three says little.
COUNTED_MIN: Final = 20

_HOUR: Final = timedelta(hours=1)

Budget = RuleBudget | LaneBudget


@dataclass(frozen=True, slots=True)
class Burn:
    """What became of a budget within one window."""

    window: str
    n: int  # began
    n_late: int  # of them, later than promised
    per_mille: int

    @property
    def allowed(self) -> float:
        """How many of them might have been late."""
        return self.n * (1_000 - self.per_mille) / 1_000

    @property
    def used(self) -> float:
        """The share of the budget that is used up; 1 and more: it is broken."""
        return self.n_late / self.allowed if self.n else 0.0

    @property
    def is_telling(self) -> bool:
        """Whether enough began to say anything."""
        return self.n >= COUNTED_MIN

    @property
    def breaks(self) -> bool:
        """Whether more were late than promised."""
        return self.is_telling and self.used >= 1

    @property
    def warns(self) -> bool:
        """Whether somebody ought to look before it breaks, or because it broke."""
        return self.is_telling and self.used >= WARN_FROM


def burns(
    session: Session, budgets: Sequence[Budget], now: datetime
) -> Mapping[UUID | str, Sequence[Burn]]:
    """Return each budget's burn by its rule or lane, a window each.

    Two statements a window at most, however much happened.
    """
    rules = [each for each in budgets if isinstance(each, RuleBudget)]
    lanes = [each for each in budgets if isinstance(each, LaneBudget)]
    found: defaultdict[UUID | str, list[Burn]] = defaultdict(list)
    for window, span in WINDOWS.items():
        since = _hour(now) - span + _HOUR  # this hour counts, as in charts
        waits: dict[UUID | str, Counter[int]] = {}
        if rules:
            waits |= _of_rules(session, [each.rule_id for each in rules], since)
        if lanes:
            waits |= _of_lanes(session, [each.lane for each in lanes], since)
        for budget in budgets:
            key = key_of(budget)
            found[key].append(_burn(window, budget, waits.get(key, Counter())))
    return found


def key_of(budget: Budget) -> UUID | str:
    """Return the id of the budget's rule, or the name of its lane."""
    return budget.rule_id if isinstance(budget, RuleBudget) else budget.lane


def _hour(now: datetime) -> datetime:
    return now.replace(minute=0, second=0, microsecond=0)


def _burn(window: str, budget: Budget, waits: Counter[int]) -> Burn:
    n = waits.total()
    return Burn(window, n, n - n_within(waits, budget.seconds), budget.per_mille)


_IS_WAIT: Final = (Measure.WAIT, Measure.WAIT + len(BOUNDS))


def _of_rules(
    session: Session, ids: Sequence[UUID], since: datetime
) -> Mapping[UUID | str, Counter[int]]:
    rows = session.execute(
        select(RuleRollup.rule_id, RuleRollup.measure, func.sum(RuleRollup.n))
        .where(
            RuleRollup.rule_id.in_(ids),
            RuleRollup.span == Span.HOUR,
            RuleRollup.at >= since,
            RuleRollup.measure.between(*_IS_WAIT),
        )
        .group_by(RuleRollup.rule_id, RuleRollup.measure)
    )
    return _gathered([(key, measure, n) for key, measure, n in rows])


def _of_lanes(
    session: Session, names: Sequence[str], since: datetime
) -> Mapping[UUID | str, Counter[int]]:
    rows = session.execute(
        select(LaneRollup.lane, LaneRollup.measure, func.sum(LaneRollup.n))
        .where(
            LaneRollup.lane.in_(names),
            LaneRollup.span == Span.HOUR,
            LaneRollup.at >= since,
            LaneRollup.measure.between(*_IS_WAIT),
        )
        .group_by(LaneRollup.lane, LaneRollup.measure)
    )
    return _gathered([(key, measure, n) for key, measure, n in rows])


def _gathered(
    rows: Sequence[tuple[UUID | str, int, int]],
) -> Mapping[UUID | str, Counter[int]]:
    found: defaultdict[UUID | str, Counter[int]] = defaultdict(Counter)
    for key, measure, n in rows:
        found[key][measure - Measure.WAIT] += int(n)
    return found
