"""Executions that wait between look and effect: looked at again, and begun."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from datetime import timedelta
from typing import Any
from uuid import UUID

from sqlalchemy import Engine, event
from sqlalchemy.orm import Session

from tasks.automation.actions.base import Done
from tasks.executing.running import AT_ONCE, FRESH_SECONDS
from tasks.lanes.executions import sweep
from tasks.models import Booking, BookingStatus, ExecutionMessage
from tests.support import factories
from tests.support.executed import Sessions, add_one, attempts_of, get_one, noon
from tests.support.fakes import FakePost, bench


def test_what_waited_too_long_behind_others_is_looked_at_again(
    make_session: Sessions,
) -> None:
    """Eight that hang fill the threads; meanwhile the booking is cancelled."""
    with make_session.begin() as session:
        tenant = factories.congregation(session)
        factories.booking(session, tenant)
        rule = factories.rule(session, tenant)
        ids = [factories.execution(session, rule).id for _ in range(AT_ONCE + 4)]
    gate = threading.Barrier(AT_ONCE, action=lambda: _cancel_late(make_session, tenant))
    post = FakePost(lambda _envelope: (gate.wait(10), Done(250))[1])
    patient = bench(make_session, noon, post)
    for _ in range(50):
        patient.pace.took(timedelta(microseconds=1))  # as if all were quick

    result = sweep(patient, len(ids))

    assert len(result.succeeded) == AT_ONCE
    assert len(result.skipped) == 4
    assert len(post.sent) == AT_ONCE
    for id_ in result.skipped:
        [attempt] = attempts_of(make_session, id_)
        assert attempt.effect_started_at is None
        with make_session() as session:
            assert session.get(ExecutionMessage, id_) is None


def _cancel_late(make_session: Sessions, tenant: UUID) -> None:
    with make_session.begin() as session:
        booking = session.get_one(Booking, (tenant, "b1"))
        booking.status = BookingStatus.CANCELLED
    time.sleep(FRESH_SECONDS)


def test_a_few_that_could_not_begin_at_once_are_looked_at_again(
    make_session: Sessions,
) -> None:
    id_ = add_one(make_session)
    slow = iter([FRESH_SECONDS])

    @contextmanager
    def begin() -> Iterator[Session]:
        with make_session.begin() as session:
            yield session
        time.sleep(next(slow, 0))  # the commit of the claim takes long

    post = FakePost()
    swept = sweep(replace(bench(make_session, noon, post), begin=begin), 10)

    assert swept.succeeded == (id_,)
    assert len(post.sent) == 1
    assert get_one(make_session, id_).attempt == 1


def test_a_slow_database_keeps_nothing_from_beginning(
    engine: Engine, make_session: Sessions
) -> None:
    id_ = add_one(make_session)
    slow: list[str] = []

    def write(*told: Any) -> None:
        if told[2].startswith("UPDATE executions"):  # between the guard and the effect
            slow.append(told[2])
            assert len(slow) < 10, "it is looked at again and again"
            time.sleep(FRESH_SECONDS)

    event.listen(engine, "before_cursor_execute", write)
    post = FakePost()

    swept = sweep(bench(make_session, noon, post), 10)

    assert swept.succeeded == (id_,)
    assert len(post.sent) == 1
