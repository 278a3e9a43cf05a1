"""Bad neighbours: a host that hangs, a lane that is behind, a tenant with a flood."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta
from typing import Any
from uuid import UUID

import pytest
from sqlalchemy import func, insert, select
from sqlalchemy.orm import Session, sessionmaker

from tasks.clock import utcnow
from tasks.config import Config
from tasks.executing.hosts import HANGING_MAX, LINGERING_MAX
from tasks.models import (
    Attempt,
    Execution,
    ExecutionState,
    JobState,
    Rule,
    ScheduledJob,
    new_id,
)
from tasks.models.execution import SETTLED
from tasks.registry import lane
from tasks.secrets import SecretBox, new_webhook_secret
from tests.chaos.conftest import STACKS
from tests.chaos.harness import CALM, IN_FLIGHT, Installation
from tests.chaos.tiers import IS_SHORT, TIER
from tests.support import factories
from tests.support.fakes import FakePost, bench
from tests.support.hook_sink import HookSink, Reply
from tests.support.leases import claim
from tests.support.processes import until

#: More than a worker can have under way at once, so that the bad could fill it.
N_BAD = 2 * IN_FLIGHT + 40
N_GOOD = 100
HOUR = timedelta(hours=1)
N_FLOOD = 3_000 if IS_SHORT else 50_000

#: The short tier looks at the usual installation only.
somewhere = pytest.mark.parametrize(
    "system", STACKS[:1] if IS_SHORT else STACKS, indirect=True
)


@pytest.fixture
def hanging() -> Iterator[HookSink]:
    """Return a receiver that takes requests and never answers."""
    with HookSink() as sink:
        sink.answer("/hook", Reply(kind="hang"))
        yield sink


def _hook_rule(system: Installation, session: Session, of: UUID, url: str) -> Rule:
    config = Config.from_environ(system.environ)
    secret = SecretBox(config.secret_key).seal(new_webhook_secret())
    return factories.rule(
        session, of, name=url, action="webhook", settings={"url": url}, secret=secret
    )


def _due(session: Session, rule: Rule, n: int, ago: timedelta) -> list[UUID]:
    """Add executions that have been due for so long, and return their ids."""
    at = utcnow() - ago
    common = {
        "congregation_id": rule.congregation_id,
        "rule_id": rule.id,
        "rule_version": rule.version,
        "trigger_type": rule.trigger_type,
        "action": rule.action,
        "podcast_id": "show",
        "booking_id": "b1",
        "due_at": at,
        "run_at": at,
        "max_attempts": 5,
    }
    ids = [new_id() for _ in range(n)]
    rows = [{**common, "id": id_, "idempotency_key": id_.hex} for id_ in ids]
    session.execute(insert(Execution), rows)
    return ids


def _n_succeeded(system: Installation, ids: list[UUID]) -> int:
    with system.begin() as session:
        return _count(
            session, Execution.state == ExecutionState.SUCCEEDED, Execution.id.in_(ids)
        )


def _count(session: Session, *conditions: Any) -> int:
    return session.scalar(select(func.count()).where(*conditions)) or 0


@pytest.mark.timeout(TIER.timeout)
def test_a_receiver_that_hangs_slows_no_other(
    system: Installation, hanging: HookSink
) -> None:
    system.environ["WEBHOOK_PORTS"] += f",{hanging.port}"
    with system.begin() as session:
        other = factories.congregation(session, "other")
        factories.booking(session, other, start_time=utcnow() + timedelta(days=2))
        bad = _hook_rule(system, session, system.tenant, hanging.url())
        beside = _hook_rule(system, session, system.tenant, system.hooks.url())
        elsewhere = _hook_rule(system, session, other, system.hooks.url())
        stuck = _due(session, bad, N_BAD, timedelta(minutes=5))
        good = _due(session, beside, N_GOOD, timedelta(minutes=1))
        good += _due(session, elsewhere, N_GOOD, timedelta(minutes=1))
    system.start(**CALM)
    until(lambda: _n_succeeded(system, good) == 2 * N_GOOD, 90, 0.1)

    with system.begin() as session:
        ended = _count(
            session, Attempt.outcome == "unknown", Attempt.execution_id.in_(stuck)
        )
    # The good were done before all the bad that were first had even hung up once.
    assert ended < IN_FLIGHT
    assert len(hanging.requests) <= IN_FLIGHT + LINGERING_MAX + HANGING_MAX
    hanging.stop()  # now those that hang end, and nothing is left under way
    until(lambda: _n_running(system) == 0, 60, 0.1)


def _n_running(system: Installation) -> int:
    with system.begin() as session:
        return _count(session, Execution.state == ExecutionState.RUNNING)


@somewhere
@pytest.mark.timeout(TIER.timeout)
def test_a_lane_that_is_behind_slows_no_other(system: Installation) -> None:
    with system.begin() as session:
        mail = session.scalars(select(Rule).where(Rule.action == "email")).first()
        assert mail is not None
        backlog = _due(session, mail, 20 * IN_FLIGHT, HOUR)
    system.mails.hang("rcpt")  # each mail takes its whole deadline
    system.start(**CALM)
    until(lambda: _n_running(system) > 0, 60, 0.05)
    planned = system.plan(20)
    dispatched = ScheduledJob.state == JobState.DISPATCHED

    def n_dispatched() -> int:
        with system.begin() as session:
            return _count(session, dispatched)

    until(lambda: n_dispatched() == len(planned), 60, 0.05)
    with system.begin() as session:
        open_ = Execution.state.not_in(SETTLED)
        assert _count(session, open_, Execution.id.in_(backlog)) == len(backlog)


def _neighbour(session: Session) -> Rule:
    """Add a congregation with a booking and a rule; returns the rule."""
    other = factories.congregation(session, "other")
    factories.booking(session, other, start_time=utcnow() + timedelta(days=2))
    return factories.rule(session, other)


def test_the_single_one_of_a_neighbour_is_in_the_very_next_claim(
    make_session: sessionmaker[Session],
) -> None:
    with make_session.begin() as session:
        tenant = factories.congregation(session)
        factories.booking(session, tenant)
        flooding, quiet = factories.rule(session, tenant), _neighbour(session)
        _due(session, flooding, N_FLOOD, HOUR)
        [single] = _due(session, quiet, 1, timedelta(0))
    with make_session.begin() as session:
        own = bench(make_session, utcnow, FakePost())
        claimed = claim(session, own, limit=lane("executions").batch)
    assert single in {row.id for row in claimed}
    assert len(claimed) == lane("executions").batch


@somewhere
@pytest.mark.timeout(TIER.timeout)
def test_a_flood_delays_no_neighbour(system: Installation) -> None:
    with system.begin() as session:
        flooding = session.scalars(select(Rule).where(Rule.action == "email")).first()
        assert flooding is not None
        quiet = _neighbour(session)
        _due(session, flooding, N_FLOOD, HOUR)
    system.start(**CALM)
    system.flows(IN_FLIGHT)  # the flood has the worker to itself
    with system.begin() as session:
        [single] = _due(session, quiet, 1, timedelta(0))
    until(lambda: _n_succeeded(system, [single]), 60, 0.02)

    with system.begin() as session:
        flood = Execution.congregation_id == system.tenant
        done = Execution.state == ExecutionState.SUCCEEDED
        assert _count(session, flood, done) < N_FLOOD
        attempt = session.get_one(Attempt, (single, 1))
        waited = attempt.finished_at - session.get_one(Execution, single).run_at
    if not IS_SHORT:  # there the machine may have other things to do
        assert waited <= timedelta(seconds=2)
