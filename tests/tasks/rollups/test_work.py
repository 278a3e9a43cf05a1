"""What lanes did whose rows keep no attempts is counted as they do it."""

from __future__ import annotations

from datetime import timedelta

from sqlalchemy import select
from sqlalchemy.orm import Session, sessionmaker

from tasks.lanes import admin_mails, contact_due
from tasks.models import (
    AdminMail,
    CongregationRollup,
    Ended,
    Measure,
)
from tasks.rollups.work import Work, note_work
from tests.support import factories, outreach
from tests.support.counted import counted
from tests.support.factories import NOW
from tests.support.fakes import FakePost, bench
from tests.support.statements import statements

Sessions = sessionmaker[Session]


def test_work_is_noted_in_one_row_and_counted_once(make_session: Sessions) -> None:
    soon, later = timedelta(seconds=0.5), timedelta(days=9)
    with make_session.begin() as session:
        tenant = factories.congregation(session)
        done = [
            *[Work(tenant, Measure.SUCCEEDED, soon, later)] * 3,
            Work(tenant, Measure.FAILED),
            Work(None, Measure.SKIPPED, n=7),
            Work(tenant, Measure.RETRIED, n=0),
        ]
        with statements() as seen:
            note_work(session, "sync", done, NOW)
            note_work(session, "sync", [], NOW)
        assert len(seen) == 1
    for _ in range(2):
        counted(make_session, "sync")
    assert counted(make_session, "sync") == {
        Measure.SUCCEEDED: 3,
        Measure.FAILED: 1,
        Measure.SKIPPED: 7,
        Measure.WAIT + 5: 3,
        Measure.RUN + 18: 3,
    }
    with make_session() as session:
        assert session.scalars(select(Ended)).all() == []
        houses = session.scalars(select(CongregationRollup.measure)).all()
        assert Measure.SKIPPED not in houses, "it belongs to no congregation alone"


def test_a_woken_agent_and_one_that_is_passed_over_arecounted(
    make_session: Sessions,
) -> None:
    with make_session.begin() as session:
        tenant = factories.congregation(session)
        outreach.engagement(session, tenant)
        paused = outreach.engagement(session, tenant, "b@example.org", agent="b@x.org")
        paused.paused_at = NOW
    contact_due.sweep(
        bench(make_session, lambda: NOW + timedelta(minutes=3), FakePost()), 10
    )
    assert counted(make_session, "contact_due") == {
        Measure.SUCCEEDED: 1,
        Measure.SKIPPED: 1,
        Measure.WAIT + 13: 2,
    }


def test_mails_to_admins_are_counted_by_what_became_of_them(
    make_session: Sessions,
) -> None:
    with make_session.begin() as session:
        session.add(
            AdminMail(
                congregation_id=None,
                key="budget",
                address="ada@example.org",
                subject="Late",
                body="Look",
                path="/lanes/",
                run_at=NOW,
                created_at=NOW,
            )
        )
    admin_mails.sweep(bench(make_session, lambda: NOW, FakePost()), 10)
    found = counted(make_session, "admin_mails")
    assert found == {Measure.SUCCEEDED: 1, Measure.WAIT: 1, Measure.RUN: 1}
