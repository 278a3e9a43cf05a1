"""F03: death at named points, between any two steps of the work."""

from __future__ import annotations

import pytest
from sqlalchemy import select

from tasks.crashpoints import POINTS
from tasks.models import Attempt, AttemptOutcome, Execution
from tests.chaos.harness import Installation
from tests.chaos.tiers import TIER

#: Where the effect has left the house, and no row tells of it yet.
REPEATS = {"after_effect"}


@pytest.mark.parametrize("point", POINTS)
@pytest.mark.timeout(TIER.timeout)
def test_a_death_at_a_named_point_repeats_at_most_one_effect(
    system: Installation, point: str
) -> None:
    planned = system.plan(1)
    if point == "in_rescue":
        _die_at(system, "after_claim")
    _die_at(system, point)
    system.start()
    system.drain()

    assert system.n_arrived() == (2 if point in REPEATS else 1)
    history = system.check(planned=planned)
    assert [job.state for job in history.jobs] == ["dispatched"]
    with system.begin() as session:
        crashes = session.scalars(select(Execution.crashes)).one()
        outcomes = session.scalars(select(Attempt.outcome).order_by(Attempt.number))
        assert outcomes.all() == _outcomes(point)
        assert crashes == (1 if AttemptOutcome.UNKNOWN in _outcomes(point) else 0)


def _die_at(system: Installation, point: str) -> None:
    (victim,) = system.start(CRASH_AT=point)
    system.died(victim, in_flight=1 if point in REPEATS else 0)


def _outcomes(point: str) -> list[AttemptOutcome]:
    last = AttemptOutcome.SUCCEEDED
    if point in {"in_dispatch", "after_settle"}:
        return [last]
    # A single one is marked as begun by the transaction that claims it.
    return [AttemptOutcome.UNKNOWN, last]


def test_production_knows_no_crash_points(system: Installation) -> None:
    planned = system.plan(1)
    system.start(CRASH_AT="after_claim", CARILLON_ENV="production")
    system.drain()
    system.check(planned=planned)
