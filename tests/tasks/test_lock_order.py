"""Locks are taken in one order: two that meet wait for one another, but tie no knot."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import timedelta
from typing import Any
from uuid import UUID

import pytest
from sqlalchemy import Engine, select
from sqlalchemy.orm import Session, sessionmaker

from tasks.automation.bookings import cancel, reschedule
from tasks.automation.plans import reconcile
from tasks.automation.subjects import of_bookings, of_episodes
from tasks.db import sessions
from tasks.lanes import executions, replanning, scheduled_jobs
from tasks.models import (
    Booking,
    Episode,
    Execution,
    ExecutionState,
    JobState,
    ScheduledJob,
)
from tasks.models.base import Base
from tasks.operations.audit import Actor
from tasks.operations.congregations import CongregationChange, edit_congregation
from tasks.operations.rule_documents import change_of, document_of
from tasks.operations.rule_rows import find_rule
from tasks.operations.rules import delete_rule, edit_rule
from tasks.secrets import SecretBox
from tests.support import factories
from tests.support.executed import get_one
from tests.support.factories import EMAIL_SETTINGS, NOW
from tests.support.fakes import FakePost, bench
from tests.support.locks import waits_for_a_lock
from tests.support.processes import until

ADA = Actor("ada@example.org")
BOX = SecretBox("0123456789abcdef0123456789abcdef")
Make = sessionmaker[Session]
Deed = Callable[[Session], Any]
LATER_STEP = {
    "number": 1,
    "delay": 60,
    "action": "email",
    "settings": dict(EMAIL_SETTINGS),
    "max_attempts": 5,
}


@pytest.fixture
def make(postgres_engine: Engine) -> Make:
    return sessions(postgres_engine)


def at_once(make: Make, first: Deed, then: Deed, other: Callable[[], Any]) -> Any:
    """Do something in two halves; between them another begins, and meets its locks."""
    engine = make.kw["bind"]
    with ThreadPoolExecutor(1) as pool:
        with make.begin() as session:
            first(session)
            begun = pool.submit(other)
            until(lambda: begun.done() or waits_for_a_lock(engine))
            then(session)
        return begun.result(30)


def within(make: Make, deed: Deed) -> Callable[[], Any]:
    def work() -> Any:
        with make.begin() as session:
            return deed(session)

    return work


def lock(model: type[Base], *ids: UUID) -> Deed:
    column = model.__table__.c.id
    wanted = select(column).where(column.in_(ids)).order_by(column).with_for_update()
    return lambda session: session.scalars(wanted).all()


def refuses_locked(make: Make, model: type[Base], *ids: UUID) -> Deed:
    """Return what fails when somebody has locked one of the rows."""
    column = model.__table__.c.id
    wanted = select(column).where(column.in_(ids)).with_for_update(nowait=True)
    return lambda _: within(make, lambda session: session.scalars(wanted).all())()


def world(session: Session, **values: Any) -> tuple[UUID, Any]:
    of = factories.congregation(session)
    factories.booking(session, of)
    return of, factories.rule(session, of, **values)


@pytest.mark.parametrize("action", ["email", "start_lane"])
def test_a_claim_that_gives_turns_meets_who_changes_the_rule(
    make: Make, action: str
) -> None:
    settings = {"lane": "janitor"} if action == "start_lane" else EMAIL_SETTINGS
    with make.begin() as session:
        _, rule = world(
            session,
            action=action,
            settings=dict(settings),
            rate_limit=1,
            rate_window_minutes=10,
        )
        id_ = factories.execution(session, rule).id
    post = FakePost()
    at_once(
        make,
        lambda session: find_rule(session, rule.id),
        lambda session: delete_rule(session, rule.id, ADA, now=NOW),
        lambda: executions.sweep(bench(make, lambda: NOW, post), 10),
    )
    state = get_one(make, id_).state
    assert state in {ExecutionState.CANCELLED, ExecutionState.SKIPPED}
    assert not post.sent


def test_a_dispatch_meets_who_deletes_the_rule(make: Make) -> None:
    with make.begin() as session:
        of = factories.congregation(session)
        factories.booking(session, of, start_time=NOW + timedelta(hours=24))
        rule = factories.reminder(session, of)
        id_ = factories.job(session, rule).id
    at_once(
        make,
        lambda session: find_rule(session, rule.id),
        lambda session: delete_rule(session, rule.id, ADA, now=NOW),
        lambda: scheduled_jobs.sweep(bench(make, lambda: NOW, FakePost()), 10),
    )
    with make() as session:
        states = session.scalars(select(Execution.state)).all()
        assert session.get_one(ScheduledJob, id_).state is JobState.DISPATCHED
    # Its execution may be too young for the deletion; then the guard stops it.
    assert states in ([ExecutionState.CANCELLED], [ExecutionState.PENDING])


def test_a_dispatch_meets_who_moves_the_congregation(make: Make) -> None:
    with make.begin() as session:
        of = factories.congregation(session)
        factories.booking(session, of, start_time=NOW + timedelta(hours=24))
        rule = factories.reminder(session, of)
        id_ = factories.job(session, rule).id
    change = CongregationChange("bonifatius", "St. Bonifatius", "fr", "Asia/Tokyo")
    same_zone = replace(change, timezone="UTC")
    at_once(
        make,
        lambda session: edit_congregation(session, of, same_zone, ADA, now=NOW),
        lambda session: edit_congregation(session, of, change, ADA, now=NOW),
        lambda: scheduled_jobs.sweep(bench(make, lambda: NOW, FakePost()), 10),
    )
    with make() as session:
        assert session.get_one(ScheduledJob, id_).state is JobState.DISPATCHED


def test_who_changes_a_rule_has_no_executions_while_it_waits_for_jobs(
    make: Make,
) -> None:
    with make.begin() as session:
        of = factories.congregation(session)
        factories.booking(session, of)
        rule = factories.reminder(session, of, steps=[LATER_STEP], n_steps=1)
        job = factories.job(session, rule, run_at=NOW + timedelta(hours=1))
        later = NOW + timedelta(minutes=60)
        waits = factories.execution(session, rule, step=1, run_at=later)

    def edit(session: Session) -> None:
        found = find_rule(session, rule.id, locked=False)
        change = replace(change_of(document_of(found)), offset_value=12, steps=())
        edit_rule(session, rule.id, change, ADA, BOX, now=NOW)

    at_once(
        make,
        lock(ScheduledJob, job.id),
        refuses_locked(make, Execution, waits.id),
        within(make, edit),
    )
    with make() as session:
        assert session.get_one(ScheduledJob, job.id).state is JobState.SUPERSEDED
    assert get_one(make, waits.id).state is ExecutionState.CANCELLED


@pytest.mark.parametrize("verb", ["reschedule", "cancel"])
def test_who_changes_a_booking_has_no_executions_while_it_waits_for_jobs(
    make: Make, verb: str
) -> None:
    with make.begin() as session:
        of = factories.congregation(session)
        episode = Episode(
            congregation_id=of,
            id="e1",
            podcast_id="show",
            title="Bells",
            recording_at=NOW + timedelta(days=2),
        )
        session.add(episode)
        session.flush()
        factories.booking(session, of, episode_id="e1")
        rule = factories.reminder(session, of)
        later = NOW + timedelta(hours=1)
        of_booking = factories.job(session, rule, run_at=later)
        of_episode = factories.job(
            session, rule, booking_id=None, episode_id="e1", run_at=later
        )
        waits = factories.execution(session, rule, run_at=later)
    job = of_booking if verb == "reschedule" else of_episode

    def change(session: Session) -> None:
        if verb == "cancel":
            cancel(session, of, "b1", now=NOW)
            return
        start = NOW + timedelta(days=5)
        reschedule(session, of, "b1", start, now=NOW)

    at_once(
        make,
        lock(ScheduledJob, job.id),
        refuses_locked(make, Execution, waits.id),
        within(make, change),
    )
    assert get_one(make, waits.id).state is ExecutionState.CANCELLED


def test_a_booking_and_its_episode_are_planned_at_once(make: Make) -> None:
    """Both want the episode's jobs; one of them is the booking's, and the younger."""
    with make.begin() as session:
        of = factories.congregation(session)
        episode = Episode(congregation_id=of, id="e1", podcast_id="show", title="Bells")
        session.add(episode)
        session.flush()
        booking = factories.booking(session, of, episode_id="e1")
        rule = factories.reminder(session, of)
        later = NOW + timedelta(hours=1)
        first = factories.job(
            session, rule, booking_id=None, episode_id="e1", run_at=later
        )
        second = factories.job(session, rule, episode_id="e1", run_at=later)

    def plan(session: Session) -> None:
        found = session.get_one(Booking, (of, booking.id))
        reconcile(session, of_bookings(session, [found]), now=NOW)

    def plan_episode(session: Session) -> None:
        found = session.get_one(Episode, (of, "e1"))
        reconcile(session, of_episodes(session, [found], frozenset()), now=NOW)

    at_once(
        make,
        lock(ScheduledJob, first.id),
        refuses_locked(make, ScheduledJob, second.id),
        within(make, plan),
    )
    within(make, plan_episode)()


def test_jobs_planned_while_their_rule_changes_follow_it_soon_after(make: Make) -> None:
    with make.begin() as session:
        of = factories.congregation(session)
        start = NOW + timedelta(days=5)
        factories.booking(session, of, start_time=start)
        rule = factories.reminder(session, of)

    def plan(session: Session) -> None:
        found = session.get_one(Booking, (of, "b1"))
        reconcile(session, of_bookings(session, [found]), now=NOW)

    def edit(session: Session) -> None:
        found = find_rule(session, rule.id, locked=False)
        change = replace(change_of(document_of(found)), offset_value=48)
        edit_rule(session, rule.id, change, ADA, BOX, now=NOW)

    with make.begin() as session:
        plan(session)
        within(make, edit)()
    swept = replanning.sweep(bench(make, lambda: NOW, FakePost()), 10)
    assert swept.continued == (rule.id,)
    with make() as session:
        waits = ScheduledJob.state == JobState.PENDING
        (job,) = session.scalars(select(ScheduledJob).where(waits)).all()
    assert (job.due_at, job.rule_version) == (start - timedelta(hours=48), 2)
    assert replanning.sweep(bench(make, lambda: NOW, FakePost()), 10).finished
    assert not replanning.sweep(bench(make, lambda: NOW, FakePost()), 10).is_full
