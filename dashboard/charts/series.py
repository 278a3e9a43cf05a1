"""What charts show, read from counts: one statement, however much happened."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Final
from uuid import UUID

from sqlalchemy import Row, Select, case, func, select
from sqlalchemy.orm import Session

from dashboard.charts.periods import Period
from dashboard.zones import own_zone
from tasks.db import Scope, scope_of
from tasks.models import (
    BOUNDS,
    CongregationRollup,
    LaneRollup,
    Measure,
    RuleRollup,
    RuleVersion,
)
from tasks.rollups.quantiles import quantile

#: What is drawn, from the bottom up; each is a state of the one map of looks.
OUTCOMES: Final[Mapping[str, Measure]] = {
    "succeeded": Measure.SUCCEEDED,
    "skipped": Measure.SKIPPED,
    "retry": Measure.RETRIED,
    "failed": Measure.FAILED,
}
QUANTILES: Final[Mapping[str, float]] = {"p50": 0.5, "p95": 0.95, "p99": 0.99}
#: Fewer than these say little about the slowest of a hundred.
FEW: Final = 20
#: Changes of a rule that one chart marks, the newest.
_MARKS_MAX: Final = 50

_Rollup = type[LaneRollup | CongregationRollup | RuleRollup]


@dataclass(frozen=True, slots=True)
class Step:
    """What happened within one step of a period."""

    at: datetime
    is_partial: bool  # it is not over yet
    counts: Counter[int] = field(default_factory=Counter)  # by measure

    def n(self, outcome: str) -> int:
        """Return how much ended like this."""
        return self.counts[OUTCOMES[outcome]]

    @property
    def total(self) -> int:
        """How much ended in any way."""
        return sum(self.n(outcome) for outcome in OUTCOMES)

    def times(self, measure: Measure) -> dict[int, int]:
        """Return the buckets of ``Measure.WAIT`` or ``Measure.RUN``."""
        found = {n: self.counts[measure + n] for n in range(len(BOUNDS) + 1)}
        return {bucket: n for bucket, n in found.items() if n}

    def quantile(self, measure: Measure, name: str) -> float | None:
        """Return a quantile in seconds; None: nothing was measured."""
        return quantile(self.times(measure), QUANTILES[name])

    def n_timed(self, measure: Measure) -> int:
        """Return how many times a quantile is made of."""
        return sum(self.times(measure).values())


@dataclass(frozen=True, slots=True)
class Mark:
    """When a rule became another version."""

    at: datetime
    version: int


@dataclass(frozen=True, slots=True)
class Series:
    """The steps of a period, the oldest first."""

    period: Period
    steps: Sequence[Step]
    whole: Step  # all of them together
    marks: Sequence[Mark] = ()


def of_lane(session: Session, lane: str, period: Period, now: datetime) -> Series:
    """Return what a lane did, for the congregations that the session sees."""
    sees_all = scope_of(session) is Scope.EVERY
    model = LaneRollup if sees_all else CongregationRollup
    starts = period.starts(now, own_zone())
    wanted = _summed(model, period, starts).where(model.lane == lane)
    found = session.execute(wanted)
    return _series(period, starts, found)


def of_rule(session: Session, rule_id: UUID, period: Period, now: datetime) -> Series:
    """Return what a rule did, and when it was changed; two statements."""
    starts = period.starts(now, own_zone())
    wanted = _summed(RuleRollup, period, starts)
    found = session.execute(wanted.where(RuleRollup.rule_id == rule_id))
    changed = session.execute(
        select(RuleVersion.created_at, RuleVersion.version)
        .where(
            RuleVersion.rule_id == rule_id,
            RuleVersion.created_at >= starts[0],
            RuleVersion.version > 1,
        )
        .order_by(RuleVersion.version.desc())
        .limit(_MARKS_MAX)
    )
    return _series(period, starts, found, [Mark(*row) for row in changed])


def _summed(
    model: _Rollup, period: Period, starts: Sequence[datetime]
) -> Select[int, int, int]:
    """Select the place of a step, a measure, and how much of it there was."""
    # Added up by the database: a month has many hours, and few steps.
    bounds = ((model.at < at, n) for n, at in enumerate(starts[1:]))
    place = case(*bounds, else_=len(starts) - 1).label("place")
    return (
        select(place, model.measure, func.sum(model.n))
        .where(model.span == period.span_of(starts), model.at >= starts[0])
        .group_by(place, model.measure)
    )


def _series(
    period: Period,
    starts: Sequence[datetime],
    found: Iterable[Row[int, int, int]],
    marks: Sequence[Mark] = (),
) -> Series:
    last = len(starts) - 1
    steps = [Step(at, n == last) for n, at in enumerate(starts)]
    whole = Step(starts[0], is_partial=True)
    for place, measure, n in found:
        steps[place].counts[measure] += int(n)
        whole.counts[measure] += int(n)
    return Series(period, steps, whole, marks)
