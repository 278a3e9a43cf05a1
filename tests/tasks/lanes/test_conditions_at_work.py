"""Conditions, asked again by both lanes right before they act."""

from __future__ import annotations

from datetime import datetime
from typing import Any

import pytest
from sqlalchemy import select, update
from sqlalchemy.orm import Session, sessionmaker

from tasks.automation.actions.base import TryAgain
from tasks.lanes import executions, scheduled_jobs
from tasks.models import (
    Attempt,
    AttemptOutcome,
    Booking,
    Decision,
    Execution,
    ExecutionState,
    JobState,
    Reason,
    ScheduledJob,
)
from tests.support import factories
from tests.support.factories import NOW
from tests.support.fakes import FakePost, bench

Sessions = sessionmaker[Session]
ONLY_ZOE = {"rows": [{"field": "booking.guest_name", "operator": "is", "value": "Zoë"}]}
TOLD = "Wanted: booking.guest_name is “Zoë”. Seen: “Jörg 🎙”."


def _noon() -> datetime:
    return NOW


@pytest.mark.parametrize(("name", "is_sent"), [("Zoë", True), ("Jörg 🎙", False)])
def test_a_condition_is_asked_on_fresh_records_before_the_effect(
    make_session: Sessions, name: str, is_sent: bool
) -> None:
    with make_session.begin() as session:
        tenant = factories.congregation(session)
        factories.booking(session, tenant, guest_name=name)
        rule = factories.rule(session, tenant, conditions=ONLY_ZOE)
        id_ = factories.execution(session, rule).id
    post = FakePost()
    executions.sweep(bench(make_session, _noon, post), 10)
    assert bool(post.sent) is is_sent
    with make_session() as session:
        row = session.get_one(Execution, id_)
        [attempt] = session.scalars(select(Attempt))
    if is_sent:
        assert row.state is ExecutionState.SUCCEEDED
        return
    assert (row.state, row.reason) == (ExecutionState.SKIPPED, Reason.CONDITION_FALSE)
    assert row.error == TOLD
    assert attempt.outcome is AttemptOutcome.SKIPPED
    assert attempt.effect_started_at is None


def test_a_condition_that_does_not_hold_counts_more_than_a_bad_message(
    make_session: Sessions,
) -> None:
    with make_session.begin() as session:
        tenant = factories.congregation(session)
        factories.booking(session, tenant, guest_email=None)
        rule = factories.rule(session, tenant, conditions=ONLY_ZOE)
        factories.execution(session, rule)
    result = executions.sweep(bench(make_session, _noon, FakePost()), 10)
    assert len(result.skipped) == 1


def test_a_job_is_dispatched_only_if_its_conditions_hold(
    make_session: Sessions,
) -> None:
    with make_session.begin() as session:
        tenant = factories.congregation(session)
        factories.booking(session, tenant)
        strict = factories.reminder(session, tenant, conditions=ONLY_ZOE)
        no = factories.job(session, strict).id
        yes = factories.job(session, factories.reminder(session, tenant)).id
    result = scheduled_jobs.sweep(bench(make_session, _noon, FakePost()), 10)
    assert (result.dispatched, result.skipped) == ((yes,), (no,))
    with make_session() as session:
        job = session.get_one(ScheduledJob, no)
        [decision] = session.scalars(
            select(Decision).where(Decision.reason.is_not(None))
        )
    assert (job.state, job.reason) == (JobState.SKIPPED, Reason.CONDITION_FALSE)
    assert (decision.scheduled_job_id, decision.detail) == (no, TOLD)
    assert (decision.entity_id, decision.created_at) == ("b1", NOW)


def test_what_changes_after_the_dispatch_is_seen(make_session: Sessions) -> None:
    with make_session.begin() as session:
        tenant = factories.congregation(session)
        factories.booking(session, tenant, guest_name="Zoë")
        rule = factories.reminder(session, tenant, conditions=ONLY_ZOE)
        factories.job(session, rule)
    work = bench(make_session, _noon, post := FakePost())
    assert len(scheduled_jobs.sweep(work, 10).dispatched) == 1
    with make_session.begin() as session:
        session.execute(update(Booking).values(guest_name="Jörg 🎙"))
    assert len(executions.sweep(work, 10).skipped) == 1
    assert not post.sent


def test_a_rules_own_pauses_lie_between_its_attempts(make_session: Sessions) -> None:
    pauses: dict[str, Any] = {"retry_first_seconds": 1, "retry_longest_minutes": 1}
    with make_session.begin() as session:
        tenant = factories.congregation(session)
        factories.booking(session, tenant)
        rule = factories.rule(session, tenant, **pauses)
        first = factories.execution(session, rule).id
        late = factories.execution(session, rule, failures=3, max_attempts=20).id
    executions.sweep(bench(make_session, _noon, FakePost(TryAgain("busy"))), 10)
    with make_session() as session:
        waits = [
            (session.get_one(Execution, id_).run_at - NOW).total_seconds()
            for id_ in (first, late)
        ]
    assert 0 <= waits[0] <= 1
    assert 0 <= waits[1] <= 8
