"""The worker was away: what is sent, what is missed, what a later mail replaces."""

from __future__ import annotations

from collections import Counter
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

import pytest
from sqlalchemy import select, update
from sqlalchemy.orm import Session, sessionmaker

from tasks.automation import bookings
from tasks.lanes import executions, scheduled_jobs
from tasks.models import (
    BookingStatus,
    Execution,
    ExecutionState,
    JobState,
    Reason,
    Rule,
    ScheduledJob,
)
from tests.support import factories
from tests.support.factories import NOW
from tests.support.fakes import FakePost, bench

Sessions = sessionmaker[Session]
HOST = {**factories.EMAIL_SETTINGS, "recipient": "host"}
#: Hours from the worker's end to the start of each recording.
STARTS = (24.1, 25, 26.5, 72.5, 73, 76, 92, 90)


class House:
    """A congregation whose bookings are confirmed ten days before NOW."""

    def __init__(self, make_session: Sessions) -> None:
        self.make_session = make_session
        self.post = FakePost()
        with make_session.begin() as session:
            self.id = factories.congregation(session)

    def rule(self, hours: int, **values: Any) -> Rule:
        with self.make_session.begin() as session:
            return factories.reminder(session, self.id, offset_value=hours, **values)

    def book(self, *starts: float) -> None:
        with self.make_session.begin() as session:
            for number, hours in enumerate(starts):
                id_, start = f"b{number}", NOW + timedelta(hours=hours)
                factories.booking(
                    session,
                    self.id,
                    id=id_,
                    start_time=start,
                    status=BookingStatus.REQUESTED,
                )
                early = NOW - timedelta(days=10)
                bookings.confirm(session, self.id, id_, now=early)

    def work(self, after: timedelta, *, batch: int = 100) -> None:
        """Let the worker come back ``after`` so long, and do all that is due."""
        self.dispatch(after, batch=batch)
        executions.sweep(bench(self.make_session, lambda: NOW + after, self.post), 100)

    def dispatch(self, after: timedelta, *, batch: int = 100) -> None:
        there = bench(self.make_session, lambda: NOW + after, self.post)
        while scheduled_jobs.sweep(there, batch).is_full:
            pass

    def jobs(self) -> list[ScheduledJob]:
        with self.make_session() as session:
            rows = select(ScheduledJob).order_by(ScheduledJob.due_at, ScheduledJob.id)
            return list(session.scalars(rows))

    def ends(self) -> Counter[JobState]:
        return Counter(job.state for job in self.jobs())

    def states_of(self, *rules: Rule) -> list[JobState]:
        by_rule: dict[UUID, JobState] = {job.rule_id: job.state for job in self.jobs()}
        return [by_rule[rule.id] for rule in rules]


@pytest.fixture
def house(make_session: Sessions) -> House:
    """Return a congregation on both databases in turn."""
    return House(make_session)


@pytest.mark.parametrize("batch", [2, 100], ids=["small-batches", "one-batch"])
@pytest.mark.parametrize(
    ("away", "sent", "missed", "superseded"),
    [
        (timedelta(minutes=10), 1, 0, 0),
        (timedelta(hours=2), 2, 0, 0),
        (timedelta(days=3), 3, 19, 2),
    ],
    ids=["10-minutes", "2-hours", "3-days"],
)
def test_what_a_downtime_costs(
    house: House, away: timedelta, sent: int, missed: int, superseded: int, batch: int
) -> None:
    for hours in (24, 20, 1):
        house.rule(hours)
    house.rule(2, trigger_type="time.after_recording")
    house.book(*STARTS)
    house.work(away, batch=batch)
    ends = house.ends()
    assert len(house.post.sent) == ends[JobState.DISPATCHED] == sent
    assert (ends[JobState.MISSED], ends[JobState.SUPERSEDED]) == (missed, superseded)
    assert ends[JobState.PENDING] == 4 * len(STARTS) - sent - missed - superseded


@pytest.mark.parametrize("batch", [1, 10])
def test_of_several_overdue_reminders_only_the_latest_goes_out(
    house: House, batch: int
) -> None:
    rules = [house.rule(hours) for hours in (30, 28, 26)]
    house.book(29)
    house.work(timedelta(hours=4), batch=batch)
    gone, sent = JobState.SUPERSEDED, JobState.DISPATCHED
    assert house.states_of(*rules) == [gone, gone, sent]
    assert {j.reason for j in house.jobs() if j.state is gone} == {Reason.SUPERSEDED}
    assert len(house.post.sent) == 1


def test_the_latest_wins_even_when_it_is_taken_first(house: House) -> None:
    early, late = house.rule(30), house.rule(28)
    house.book(31)
    with house.make_session.begin() as session:
        session.execute(
            update(ScheduledJob)
            .where(ScheduledJob.rule_id == late.id)
            .values(run_at=NOW - timedelta(hours=1))
        )
    house.work(timedelta(hours=3, minutes=30), batch=1)
    assert house.states_of(early, late) == [JobState.SUPERSEDED, JobState.DISPATCHED]


def test_an_earlier_reminder_that_has_not_gone_out_yet_is_overtaken(
    house: House,
) -> None:
    early, _ = house.rule(30), house.rule(28)
    house.book(31)
    house.dispatch(timedelta(hours=1))  # nobody runs executions, and time goes by
    house.dispatch(timedelta(hours=3))
    with house.make_session() as session:
        rows = {row.rule_id: row for row in session.scalars(select(Execution))}
    first = rows.pop(early.id)
    assert first.state is ExecutionState.CANCELLED
    assert first.reason is Reason.SUPERSEDED
    assert [row.state for row in rows.values()] == [ExecutionState.PENDING]


def test_a_reminder_that_is_stopped_replaces_nothing(house: House) -> None:
    early, late = house.rule(30), house.rule(28)
    house.book(31)
    with house.make_session.begin() as session:
        session.get_one(Rule, late.id).enabled = False
    house.work(timedelta(hours=3, minutes=30))
    assert house.states_of(early, late) == [JobState.DISPATCHED, JobState.SKIPPED]


@pytest.mark.parametrize(
    "values",
    [
        {"settings": HOST},
        {"action": "webhook", "settings": {"url": "https://example.org"}},
        {"trigger_type": "time.after_booking", "offset_value": 10 * 24 + 3},
    ],
    ids=["another-recipient", "a-webhook", "no-reminder"],
)
def test_what_is_no_reminder_to_the_same_person_replaces_nothing(
    house: House, values: dict[str, Any]
) -> None:
    early, late = house.rule(30), house.rule(**{"hours": 28} | _hours(values))
    house.book(31)
    house.dispatch(timedelta(hours=3, minutes=30))
    assert house.states_of(early, late) == [JobState.DISPATCHED] * 2


def _hours(values: dict[str, Any]) -> dict[str, Any]:
    named = dict(values)
    return {"hours": named.pop("offset_value", 28), **named}


def test_reminders_of_one_instant_are_both_meant(house: House) -> None:
    rules = [house.rule(24), house.rule(1, offset_unit="days")]
    house.book(25)
    house.work(timedelta(hours=3))
    assert house.states_of(*rules) == [JobState.DISPATCHED] * 2


def test_what_waited_in_its_lane_for_too_long_is_not_sent(house: House) -> None:
    house.rule(24)
    house.book(25)
    house.dispatch(timedelta(hours=1))
    late = NOW + timedelta(hours=7, minutes=1)
    executions.sweep(bench(house.make_session, lambda: late, house.post), 10)
    with house.make_session() as session:
        row = session.scalars(select(Execution)).one()
    assert (row.state, row.reason) == (ExecutionState.SKIPPED, Reason.TOO_LATE)
    assert house.post.sent == []


def test_an_operators_retry_is_never_too_late_before_the_date(house: House) -> None:
    house.rule(24)
    house.book(25)
    house.dispatch(timedelta(hours=1))
    late: datetime = NOW + timedelta(hours=12)
    with house.make_session.begin() as session:
        session.execute(update(Execution).values(run_at=late))
    executions.sweep(bench(house.make_session, lambda: late, house.post), 10)
    assert len(house.post.sent) == 1
