"""Later steps of a rule: made at once, due in time, gone with what they are about."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

import pytest

from tasks.automation import emit_booking_event
from tasks.automation.bookings import cancel
from tasks.automation.step_changes import StepsChanged, follow_steps
from tasks.automation.steps import Step, all_steps, place_of, secret_of, step_of
from tasks.lanes import executions, scheduled_jobs
from tasks.models import (
    BookingStatus,
    Execution,
    ExecutionState,
    JobState,
    Reason,
    Rule,
)
from tests.support import factories
from tests.support.fakes import FakePost, bench
from tests.support.statements import statements
from tests.tasks.automation.conftest import NOW, World

DAY = timedelta(days=1)


def step(number: int, delay: timedelta = 2 * DAY, **values: Any) -> dict[str, Any]:
    settings = dict(factories.EMAIL_SETTINGS, subject=f"Step {number}")
    return {
        "number": number,
        "delay": delay // timedelta(minutes=1),
        "action": "email",
        "settings": settings,
        "max_attempts": 3,
        **values,
    }


def confirm(world: World, *, now: datetime = NOW) -> int:
    with world.make_session.begin() as session:
        result = emit_booking_event(
            session,
            "booking.confirmed",
            "b1",
            "show",
            congregation_id=world.id,
            now=now,
        )
    assert result.success, result.error
    return result.executions_created


def by_step(world: World) -> dict[int, Execution]:
    return {row.step: row for row in world.executions()}


def sweep(world: World, now: datetime) -> list[str]:
    """Sweep what is due at ``now``; returns the subjects that were sent."""
    post = FakePost()
    executions.sweep(bench(world.make_session, lambda: now, post), 100)
    return [message["subject"] for _, message in post.sent]


def test_every_step_is_an_execution_of_its_own(world: World) -> None:
    world.booking()
    rule = world.rule("booking.confirmed", steps=[step(1), step(4, timedelta(hours=3))])

    assert confirm(world) == 1

    found = by_step(world)
    assert sorted(found) == [0, 1, 4]
    assert (found[1].due_at, found[1].run_at) == (NOW + 2 * DAY, NOW + 2 * DAY)
    assert found[4].due_at == NOW + timedelta(hours=3)
    assert found[1].idempotency_key == f"{found[0].idempotency_key}:step1"
    assert (found[1].event_id, found[1].rule_id) == (found[0].event_id, rule.id)
    assert (found[0].max_attempts, found[1].max_attempts) == (5, 3)
    assert found[1].recipient == "zoe@example.org"


def test_a_repeated_event_makes_no_second_steps(world: World) -> None:
    world.booking()
    world.rule("booking.confirmed", steps=[step(1)])

    confirm(world)
    assert confirm(world) == 0

    assert sorted(row.step for row in world.executions()) == [0, 1]


def test_an_event_that_came_before_the_step_does_not_get_it_later(world: World) -> None:
    world.booking()
    rule = world.rule("booking.confirmed")
    confirm(world)
    with world.make_session.begin() as session:
        session.get_one(Rule, rule.id).steps = [step(1)]

    confirm(world)

    assert [row.step for row in world.executions()] == [0]


def test_a_dispatched_job_brings_the_steps_along(world: World) -> None:
    booking = world.booking(start_time=NOW + DAY)
    rule = world.rule("time.before_recording", offset_value=24, steps=[step(1)])
    with world.make_session.begin() as session:
        factories.job(
            session, rule, booking_id=booking.id, reference_at=NOW + DAY, due_at=NOW
        )

    scheduled_jobs.sweep(bench(world.make_session, lambda: NOW, FakePost()), 10)

    found = by_step(world)
    assert found[1].due_at == NOW + 2 * DAY
    assert found[1].scheduled_job_id == found[0].scheduled_job_id
    assert [job.state for job in world.jobs()] == [JobState.DISPATCHED]
    # The recording is over by then, and that is what a second step may be about.
    assert sweep(world, NOW) == ["Hello"]
    assert sweep(world, NOW + 2 * DAY) == ["Step 1"]


def test_each_step_says_its_own_words_when_its_time_has_come(world: World) -> None:
    world.booking()
    world.rule("booking.confirmed", steps=[step(1)])
    confirm(world)

    assert sweep(world, NOW) == ["Hello"]
    assert sweep(world, NOW + 2 * DAY - timedelta(seconds=1)) == []
    assert sweep(world, NOW + 2 * DAY) == ["Step 1"]


def test_a_cancelled_booking_takes_its_steps_along(world: World) -> None:
    world.booking()
    world.rule("booking.confirmed", steps=[step(1)])
    confirm(world)
    sweep(world, NOW)

    with world.make_session.begin() as session:
        cancel(session, world.id, "b1", now=NOW + DAY)

    row = by_step(world)[1]
    assert row.state is ExecutionState.CANCELLED
    assert row.reason is Reason.BOOKING_CANCELLED
    assert sweep(world, NOW + 3 * DAY) == []


def test_the_guard_looks_before_each_step(world: World) -> None:
    booking = world.booking()
    world.rule("booking.confirmed", steps=[step(1)])
    confirm(world)
    sweep(world, NOW)
    with world.make_session.begin() as session:
        row = session.get_one(type(booking), (world.id, "b1"))
        row.status = BookingStatus.CANCELLED  # by somebody who told nobody

    assert sweep(world, NOW + 2 * DAY) == []
    assert by_step(world)[1].reason is Reason.BOOKING_CANCELLED


def test_a_step_that_is_not_in_its_rule_any_more_is_not_sent(world: World) -> None:
    world.booking()
    rule = world.rule("booking.confirmed", steps=[step(1)])
    confirm(world)
    with world.make_session.begin() as session:
        session.get_one(Rule, rule.id).steps = []

    assert sweep(world, NOW + 2 * DAY) == ["Hello"]
    row = by_step(world)[1]
    assert row.state is ExecutionState.SKIPPED
    assert row.reason is Reason.STEP_REMOVED


def test_rules_without_steps_cost_no_statement(world: World) -> None:
    world.booking()
    world.rule("booking.confirmed")
    with world.make_session() as session, statements() as seen:
        emit_booking_event(
            session, "booking.confirmed", "b1", "show", congregation_id=world.id
        )
    inserts = [each for each in seen if "INSERT INTO executions" in each]
    assert len(inserts) == 1


def test_a_step_finds_its_place_and_its_secret() -> None:
    rule = Rule(
        action="webhook",
        settings={},
        secret="signing",
        max_attempts=5,
        steps=[step(3), step(1, action="notify")],
        step_secrets={"1": "address"},
    )

    assert [each.number for each in all_steps(rule)] == [0, 3, 1]
    assert [place_of(rule, each) for each in (0, 3, 1, 2)] == [1, 2, 3, None]
    assert [secret_of(rule, each) for each in (0, 3, 1)] == [
        *("signing", "signing", "address")
    ]
    assert step_of(rule, 2) is None


def changed(
    world: World, rule: Rule, after: list[dict[str, Any]], now: datetime = NOW
) -> StepsChanged:
    with world.make_session.begin() as session:
        row = session.get_one(Rule, rule.id)
        before: list[Step] = all_steps(row)
        row.steps = after
        session.flush()
        return follow_steps(session, row, before, all_steps(row), now)


def test_what_waits_for_a_step_that_is_taken_out_is_cancelled(world: World) -> None:
    world.booking()
    rule = world.rule("booking.confirmed", steps=[step(1), step(2)])
    confirm(world)

    assert changed(world, rule, [step(2)]) == StepsChanged(n_ended=1)

    found = by_step(world)
    assert found[1].state is ExecutionState.CANCELLED
    assert found[1].reason is Reason.STEP_REMOVED
    assert {found[0].state, found[2].state} == {ExecutionState.PENDING}


def test_another_delay_moves_what_waits(world: World) -> None:
    world.booking()
    rule = world.rule("booking.confirmed", steps=[step(1)])
    confirm(world)

    assert changed(world, rule, [step(1, 5 * DAY)]) == StepsChanged(n_moved=1)

    assert by_step(world)[1].run_at == NOW + 5 * DAY
    assert by_step(world)[1].due_at == NOW + 5 * DAY


def test_a_shorter_delay_never_makes_up_for_the_past(world: World) -> None:
    world.booking()
    rule = world.rule("booking.confirmed", steps=[step(1, 5 * DAY)])
    confirm(world)

    done = changed(world, rule, [step(1, DAY)], now=NOW + 2 * DAY)

    assert done == StepsChanged(n_skipped=1)
    assert by_step(world)[1].reason is Reason.OFFSET_IN_PAST


def test_another_action_is_what_the_step_does_then(world: World) -> None:
    world.booking()
    rule = world.rule("booking.confirmed", steps=[step(1)])
    confirm(world)
    hook = {"url": "https://example.org/hook"}

    changed(world, rule, [step(1, action="webhook", settings=hook)])

    assert by_step(world)[1].action == "webhook"


@pytest.mark.parametrize("state", ["running", "succeeded"])
def test_what_is_not_waiting_is_left_alone(world: World, state: str) -> None:
    world.booking()
    rule = world.rule("booking.confirmed", steps=[step(1)])
    confirm(world)
    with world.make_session.begin() as session:
        row = session.get_one(Execution, by_step(world)[1].id)
        row.state = ExecutionState(state)

    assert changed(world, rule, []) == StepsChanged()
    assert by_step(world)[1].state == state
