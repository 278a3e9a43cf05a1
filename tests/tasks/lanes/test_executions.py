"""The lane ``executions``: what it does, and in which order."""

from __future__ import annotations

from datetime import timedelta

import pytest

from tasks.automation.actions.base import Done, Envelope, GiveUp, Outcome, TryAgain
from tasks.lanes.executions import sweep
from tasks.models import (
    AttemptOutcome,
    Booking,
    BookingStatus,
    Execution,
    ExecutionMessage,
    ExecutionState,
    Reason,
)
from tests.support import factories
from tests.support.executed import (
    Sessions,
    add_many,
    add_one,
    attempts_of,
    get_one,
    noon,
)
from tests.support.factories import NOW
from tests.support.fakes import FakePost, bench


def test_a_due_execution_is_sent_and_succeeds(make_session: Sessions) -> None:
    id_ = add_one(make_session)
    post = FakePost()

    result = sweep(bench(make_session, noon, post), 10)

    assert result.succeeded == (id_,)
    execution = get_one(make_session, id_)
    assert execution.state is ExecutionState.SUCCEEDED
    assert execution.settled_at == NOW
    assert execution.lease_until is None
    [(envelope, message)] = post.sent
    assert envelope.execution_id == id_
    assert message["subject"] == "Hello Jörg 🎙"
    [attempt] = attempts_of(make_session, id_)
    assert attempt.outcome is AttemptOutcome.SUCCEEDED
    assert attempt.effect_started_at == NOW
    with make_session() as session:
        assert session.get_one(ExecutionMessage, id_).message["subject"]


def test_what_is_not_due_is_left_alone(make_session: Sessions) -> None:
    id_ = add_one(make_session, run_at=NOW + timedelta(seconds=1))
    post = FakePost()
    result = sweep(bench(make_session, noon, post), 10)
    assert not post.sent
    assert not result.succeeded
    assert get_one(make_session, id_).state is ExecutionState.PENDING


def test_a_failure_is_tried_again_later_and_keeps_its_due_time(
    make_session: Sessions,
) -> None:
    id_ = add_one(make_session)
    wish = timedelta(minutes=10)
    post = FakePost(TryAgain("host unreachable", 451, after=wish))

    result = sweep(bench(make_session, noon, post), 10)

    assert result.retried == (id_,)
    execution = get_one(make_session, id_)
    assert execution.state is ExecutionState.PENDING
    assert execution.run_at >= NOW + wish
    assert execution.due_at == NOW
    assert execution.failures == 1
    assert execution.error == "host unreachable"
    assert attempts_of(make_session, id_)[0].status_code == 451


def test_the_last_attempt_fails_for_good(make_session: Sessions) -> None:
    id_ = add_one(make_session, failures=4)
    result = sweep(bench(make_session, noon, FakePost(TryAgain("no"))), 10)
    assert result.failed == (id_,)
    execution = get_one(make_session, id_)
    assert execution.reason is Reason.ATTEMPTS_USED_UP
    assert execution.error == "no"


def test_a_refusal_is_not_tried_again(make_session: Sessions) -> None:
    id_ = add_one(make_session)
    post = FakePost(GiveUp(Reason.REFUSED, "mailbox refused: 550", 550))
    sweep(bench(make_session, noon, post), 10)
    execution = get_one(make_session, id_)
    assert execution.state is ExecutionState.FAILED
    assert execution.reason is Reason.REFUSED


def test_a_bug_in_one_row_neither_stops_the_others_nor_hides(
    make_session: Sessions,
) -> None:
    ids = add_many(make_session, 3)

    def answer(envelope: Envelope) -> Outcome:
        if envelope.execution_id == ids[1]:
            raise ZeroDivisionError
        return Done(250)

    result = sweep(bench(make_session, noon, FakePost(answer)), 10)

    assert set(result.succeeded) == {ids[0], ids[2]}
    assert result.retried == (ids[1],)
    [attempt] = attempts_of(make_session, ids[1])
    assert attempt.outcome is AttemptOutcome.UNKNOWN


def test_nothing_is_sent_for_a_booking_that_was_cancelled(
    make_session: Sessions,
) -> None:
    id_ = add_one(make_session)
    with make_session.begin() as session:
        execution = session.get_one(Execution, id_)
        booking = session.get_one(Booking, (execution.congregation_id, "b1"))
        booking.status = BookingStatus.CANCELLED
    post = FakePost()

    result = sweep(bench(make_session, noon, post), 10)

    assert not post.sent
    assert result.skipped == (id_,)
    assert get_one(make_session, id_).reason is Reason.BOOKING_CANCELLED
    assert attempts_of(make_session, id_)[0].effect_started_at is None


def test_it_takes_the_oldest_first_and_no_more_than_the_limit(
    make_session: Sessions,
) -> None:
    with make_session.begin() as session:
        tenant = factories.congregation(session)
        factories.booking(session, tenant)
        rule = factories.rule(session, tenant)
        ids = [
            factories.execution(session, rule, run_at=NOW - timedelta(minutes=age)).id
            for age in (1, 3, 2)
        ]
    first = sweep(bench(make_session, noon, FakePost()), 2)
    assert set(first.succeeded) == {ids[1], ids[2]}
    assert first.is_full
    second = sweep(bench(make_session, noon, FakePost()), 2)
    assert second.succeeded == (ids[0],)


def test_before_it_is_known_how_long_one_takes_few_are_leased(
    make_session: Sessions, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tasks.pace.UNTRIED", 2)
    add_many(make_session, 5)
    own = bench(make_session, noon, FakePost())
    first, rest = sweep(own, 10), sweep(own, 10)
    assert (len(first.succeeded), first.is_full) == (2, True)
    assert (len(rest.succeeded), rest.is_full) == (3, False)


def test_running_twice_does_the_work_once(make_session: Sessions) -> None:
    add_one(make_session)
    post = FakePost()
    sweep(bench(make_session, noon, post), 10)
    sweep(bench(make_session, noon, post), 10)
    assert len(post.sent) == 1


def test_a_flood_of_one_congregation_leaves_room_for_another(
    make_session: Sessions,
) -> None:
    with make_session.begin() as session:
        flood = factories.congregation(session, "flood")
        quiet = factories.congregation(session, "quiet")
        for tenant in (flood, quiet):
            factories.booking(session, tenant)
        rule = factories.rule(session, flood)
        for age in range(30):
            factories.execution(
                session, rule, run_at=NOW - timedelta(hours=2, seconds=age)
            )
        single = factories.execution(session, factories.rule(session, quiet)).id

    result = sweep(bench(make_session, noon, FakePost()), 10)

    assert single in result.succeeded
    assert len(result.succeeded) == 10


@pytest.mark.parametrize("setting", ["subject", "text"])
def test_a_missing_required_value_fails_with_a_reason_and_sends_nothing(
    make_session: Sessions, setting: str
) -> None:
    with make_session.begin() as session:
        tenant = factories.congregation(session)
        factories.booking(session, tenant, meeting_url=None)
        settings = factories.EMAIL_SETTINGS | {
            setting: "Here: {{ booking.meeting_url }}"
        }
        rule = factories.rule(session, tenant, settings=settings)
        id_ = factories.execution(session, rule).id
    post = FakePost()
    sweep(bench(make_session, noon, post), 10)
    execution = get_one(make_session, id_)
    assert not post.sent
    assert execution.state is ExecutionState.FAILED
    assert execution.reason is Reason.MISSING_VARIABLE
    assert "meeting_url" in (execution.error or "")


def test_what_was_made_for_another_action_says_that_its_step_is_gone(
    make_session: Sessions,
) -> None:
    """An event that was under way while the rule was edited made it."""
    id_ = add_one(make_session, action="webhook")
    post = FakePost()
    assert sweep(bench(make_session, noon, post), 10).skipped == (id_,)
    assert get_one(make_session, id_).reason is Reason.STEP_REMOVED
    assert not post.sent
