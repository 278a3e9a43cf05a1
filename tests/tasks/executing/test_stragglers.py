"""What is slow is seen to its end in a thread of its own, while its sweep goes on."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from datetime import timedelta
from uuid import UUID

import pytest
from sqlalchemy.orm import Session, sessionmaker

from tasks.automation.actions.base import Done, Envelope, Outcome
from tasks.clock import utcnow
from tasks.executing.stragglers import STRAGGLERS_MAX, Stragglers
from tasks.lanes.executions import sweep
from tasks.models import Execution, ExecutionState
from tests.support import factories
from tests.support.fakes import FakePost, bench
from tests.support.processes import until


@pytest.fixture
def gate() -> Iterator[threading.Event]:
    """Return what slow effects wait for; it opens when the test ends."""
    made = threading.Event()
    yield made
    made.set()


def _due(make_session: sessionmaker[Session], n: int) -> list[UUID]:
    now = utcnow()
    with make_session.begin() as session:
        tenant = factories.congregation(session)
        factories.booking(session, tenant, start_time=now + timedelta(days=2))
        rule = factories.rule(session, tenant)
        due = {"due_at": now, "run_at": now}
        return [factories.execution(session, rule, **due).id for _ in range(n)]


def test_a_sweep_leaves_what_hangs_to_a_thread_of_its_own(
    make_session: sessionmaker[Session], gate: threading.Event
) -> None:
    slow, *quick = _due(make_session, 20)

    def answer(envelope: Envelope) -> Outcome:
        if envelope.execution_id == slow:
            gate.wait(60)
        return Done(250)

    own = bench(make_session, utcnow, FakePost(answer))
    swept = sweep(own, 100)
    assert set(swept.succeeded) == set(quick)
    assert swept.slow == (slow,)
    assert {each.execution_id for each in own.held.current()} == {slow}

    gate.set()
    assert own.stragglers.join(time.monotonic() + 30)
    assert not own.held.current()
    with make_session() as session:
        row = session.get_one(Execution, slow)
        assert (row.state, row.lease_until) == (ExecutionState.SUCCEEDED, None)


def test_many_that_hang_do_not_keep_their_sweep_from_the_others(
    make_session: sessionmaker[Session], gate: threading.Event
) -> None:
    ids = _due(make_session, 40)
    bad = set(ids[:12])  # more than a sweep does at once

    def answer(envelope: Envelope) -> Outcome:
        if envelope.execution_id in bad:
            gate.wait(60)
        return Done(250)

    own = bench(make_session, utcnow, FakePost(answer))
    swept = sweep(own, 100)
    assert set(swept.succeeded) == set(ids) - bad
    assert set(swept.slow) == bad
    gate.set()
    assert own.stragglers.join(time.monotonic() + 30)


def test_no_more_are_kept_than_there_is_room_for(gate: threading.Event) -> None:
    kept = Stragglers()

    def wait() -> None:
        gate.wait(60)

    for _ in range(STRAGGLERS_MAX):
        assert not kept.is_full
        kept.hand_over(wait)
    assert kept.is_full
    assert not kept.join(time.monotonic())
    gate.set()
    until(lambda: not kept.is_full)
    assert kept.join(time.monotonic() + 30)
