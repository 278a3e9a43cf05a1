"""Cancelling a scheduled job is taken back while it is fresh, for the date of now."""

from __future__ import annotations

from datetime import datetime, timedelta
from uuid import UUID

import pytest
from sqlalchemy import select
from sqlalchemy.orm import Session

from tasks.automation.replan import plan_coming
from tasks.db import Begin
from tasks.errors import Conflict, NotFound
from tasks.models import AuditEntry, Booking, JobState, Rule, ScheduledJob, new_id
from tasks.operations.audit import Actor
from tasks.operations.scheduled_jobs import cancel_job
from tasks.operations.undoing_cancel import UNDO_WITHIN
from tasks.operations.undoing_job_cancel import undo_cancel_job
from tests.support import factories

ANNA = Actor("anna@example.org", "127.0.0.1")
DAY = timedelta(days=1)


def _planned(begin: Begin, now: datetime) -> UUID:
    """Return the job of a rule for a booking in three days."""
    with begin() as session:
        house = factories.congregation(session)
        factories.booking(session, house, start_time=now + 3 * DAY)
        plan_coming(session, factories.reminder(session, house), now=now)
        return session.scalars(select(ScheduledJob.id)).one()


def _cancelled(begin: Begin, now: datetime) -> UUID:
    id_ = _planned(begin, now)
    with begin() as session:
        cancel_job(session, id_, ANNA, now=now)
    return id_


def _living(session: Session) -> list[ScheduledJob]:
    waits = ScheduledJob.state == JobState.PENDING
    return list(session.scalars(select(ScheduledJob).where(waits)))


def test_it_waits_again_for_the_time_that_it_had(begin: Begin, now: datetime) -> None:
    id_ = _cancelled(begin, now)
    with begin() as session, pytest.raises(Conflict):
        undo_cancel_job(session, id_, ANNA, now=now + UNDO_WITHIN)
    with begin() as session:
        assert undo_cancel_job(session, id_, ANNA, now=now + UNDO_WITHIN / 2)
    with begin() as session:
        (row,) = _living(session)
        assert (row.id, row.reason, row.settled_at) == (id_, None, None)
        assert row.due_at == now + 2 * DAY
        actions = session.scalars(select(AuditEntry.action)).all()
        assert sorted(actions) == [
            "scheduled_job.cancelled",
            "scheduled_job.uncancelled",
        ]
    with begin() as session, pytest.raises(Conflict):
        undo_cancel_job(session, id_, ANNA, now=now)  # it waits already
    with begin() as session, pytest.raises(NotFound):
        undo_cancel_job(session, new_id(), ANNA, now=now)


def test_where_the_date_has_moved_it_is_planned_for_the_new_one(
    begin: Begin, now: datetime
) -> None:
    id_ = _cancelled(begin, now)
    with begin() as session:
        session.scalars(select(Booking)).one().start_time = now + 5 * DAY
    with begin() as session:
        assert not undo_cancel_job(session, id_, ANNA, now=now)
    with begin() as session:
        assert [row.due_at for row in _living(session)] == [now + 4 * DAY]


def test_what_was_planned_anew_or_has_no_rule_is_left_alone(
    begin: Begin, now: datetime
) -> None:
    id_ = _cancelled(begin, now)
    with begin() as session:
        job = session.get_one(ScheduledJob, id_)
        rule = session.get_one(Rule, job.rule_id)
        twin = factories.job(session, rule, idempotency_key=job.idempotency_key)
    with begin() as session, pytest.raises(Conflict):
        undo_cancel_job(session, id_, ANNA, now=now)
    with begin() as session:
        session.delete(session.get_one(ScheduledJob, twin.id))
        session.get_one(Rule, rule.id).deleted_at = now
    with begin() as session, pytest.raises(Conflict):
        undo_cancel_job(session, id_, ANNA, now=now)


def test_it_stays_cancelled_when_its_rule_counts_from_no_date_any_more(
    begin: Begin, now: datetime
) -> None:
    id_ = _cancelled(begin, now)
    with begin() as session:
        rule = session.scalars(select(Rule)).one()
        rule.trigger_type = "booking.confirmed"
    with begin() as session, pytest.raises(Conflict):
        undo_cancel_job(session, id_, ANNA, now=now)
    with begin() as session:
        assert _living(session) == []
