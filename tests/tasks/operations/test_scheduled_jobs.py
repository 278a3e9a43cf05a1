"""Cancelling scheduled jobs and running them now: once each, recorded."""

from __future__ import annotations

from datetime import datetime, timedelta
from uuid import UUID

import pytest
from sqlalchemy import select

from tasks import doorbell
from tasks.db import Begin
from tasks.errors import Conflict, NotFound
from tasks.models import (
    AuditEntry,
    JobState,
    OperationKind,
    Reason,
    ScheduledJob,
    new_id,
)
from tasks.operations.audit import Actor
from tasks.operations.bulk import Bulk
from tasks.operations.kinds import Asked
from tasks.operations.many import change_few, change_ticked, n_meant
from tasks.operations.scheduled_jobs import (
    cancel_job,
    run_now,
)
from tasks.operations.single import Answer
from tests.support import factories

ANNA = Actor("anna@example.org", "127.0.0.1")
CANCEL = OperationKind.CANCEL_JOBS
LATER = factories.NOW + timedelta(hours=3)


@pytest.fixture
def bells(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    heard: list[str] = []
    monkeypatch.setattr(doorbell, "_listeners", [heard.append])
    return heard


def _add(begin: Begin, n: int = 1, slug: str = "a", **values: object) -> list[UUID]:
    with begin() as session:
        rule = factories.reminder(session, factories.congregation(session, slug))
        values = {"run_at": LATER, "due_at": LATER} | values
        return [factories.job(session, rule, **values).id for _ in range(n)]


def _actions(begin: Begin) -> list[str]:
    with begin() as session:
        return [row.action for row in session.scalars(select(AuditEntry))]


def test_a_cancelled_job_says_who_and_stays_cancelled(
    begin: Begin, now: datetime
) -> None:
    (id_,) = _add(begin)
    for expected in (Answer.DONE, Answer.ALREADY):
        with begin() as session:
            assert cancel_job(session, id_, ANNA, now=now) is expected
    with begin() as session:
        row = session.get_one(ScheduledJob, id_)
        assert (row.state, row.reason) == (JobState.CANCELLED, Reason.OPERATOR)
        assert row.settled_at == now
    assert _actions(begin) == ["scheduled_job.cancelled"]


def test_run_now_moves_the_job_and_keeps_the_promise(
    begin: Begin, now: datetime, bells: list[str]
) -> None:
    (id_,) = _add(begin)
    for expected in (Answer.DONE, Answer.ALREADY):
        with begin() as session:
            assert run_now(session, id_, ANNA, now=now) is expected
    assert bells == ["scheduled_jobs"]
    with begin() as session:
        row = session.get_one(ScheduledJob, id_)
        assert (row.state, row.run_at, row.due_at) == (JobState.PENDING, now, LATER)
        entry = session.scalars(select(AuditEntry)).one()
        assert entry.before == {"run_at": LATER.isoformat()}
        assert entry.after == {"run_at": now.isoformat()}


@pytest.mark.parametrize("state", ["dispatched", "skipped", "missed", "superseded"])
def test_what_does_not_wait_is_left_alone(
    begin: Begin, now: datetime, state: str
) -> None:
    (id_,) = _add(begin, state=JobState(state))
    for verb in (cancel_job, run_now):
        with begin() as session, pytest.raises(Conflict) as refused:
            verb(session, id_, ANNA, now=now)
        assert refused.value.code == "not_pending"


def test_an_unknown_job_is_not_found(begin: Begin, now: datetime) -> None:
    for verb in (cancel_job, run_now):
        with begin() as session, pytest.raises(NotFound):
            verb(session, new_id(), ANNA, now=now)


def test_selected_jobs_are_cancelled_and_the_others_counted(
    begin: Begin, now: datetime
) -> None:
    waiting = _add(begin, 2)
    gone = _add(begin, 1, "b", state=JobState.DISPATCHED)
    with begin() as session:
        assert change_ticked(session, CANCEL, [*waiting, *gone], ANNA, now=now) == Bulk(
            2, 1
        )
    assert _actions(begin) == ["scheduled_job.cancelled"]


def test_all_that_match_are_cancelled_but_not_what_is_planned_since(
    begin: Begin, now: datetime
) -> None:
    _add(begin, 3)
    _add(begin, 1, "b", created_at=now + timedelta(seconds=1))
    _add(begin, 1, "c", state=JobState.SUPERSEDED)
    with begin() as session:
        asked = Asked(CANCEL, {}, now)
        assert n_meant(session, asked) == 3
        bulk = change_few(session, asked, ANNA, now=now)
        assert bulk == Bulk(3, 0)
    with begin() as session:
        living = select(ScheduledJob).where(ScheduledJob.state == JobState.PENDING)
        assert len(session.scalars(living).all()) == 1
