"""The lane ``janitor``: what is past its time goes, what is needed stays."""

from __future__ import annotations

from datetime import datetime, timedelta

import pytest
from sqlalchemy import Engine, func, inspect, select, text, update
from sqlalchemy.orm import Session, sessionmaker

from tasks.congregation import keeping
from tasks.lane import Timing, tally
from tasks.lanes.janitor import JanitorSweep, sweep
from tasks.models import (
    Account,
    AccountToken,
    Consent,
    Event,
    Execution,
    ExecutionContext,
    ExecutionState,
    FailureGroup,
    FailureHour,
    LaneRun,
    Measure,
    Member,
    Operation,
    OperationKind,
    OperationState,
    new_id,
)
from tasks.models.notification import Digest, Notification, NotificationState
from tasks.models.outbox import OutboxEntry
from tests.support import factories, notification_rows, people_rows
from tests.support.counted import counted
from tests.support.factories import NOW
from tests.support.failures import note
from tests.support.fakes import FakePost, bench

Sessions = sessionmaker[Session]
LONG_AGO = NOW - timedelta(days=91)


def _fill(make_session: Sessions, **values: object) -> None:
    with make_session.begin() as session:
        tenant = factories.congregation(session)
        rule = factories.rule(session, tenant)
        for _ in range(3):
            factories.execution(session, rule, **values)


def _count(make_session: Sessions, model: type) -> int:
    with make_session() as session:
        return session.scalar(select(func.count()).select_from(model)) or 0


def test_what_ended_long_ago_goes_with_all_that_hangs_on_it(
    make_session: Sessions,
) -> None:
    _fill(
        make_session,
        state=ExecutionState.SUCCEEDED,
        created_at=LONG_AGO,
        settled_at=LONG_AGO,
    )
    result = sweep(bench(make_session, lambda: NOW, FakePost()), 10)
    assert len(result.executions) == 3
    assert _count(make_session, Execution) == 0
    assert _count(make_session, ExecutionContext) == 0


def test_a_group_goes_when_none_of_its_failures_is_kept(
    make_session: Sessions,
) -> None:
    old = {"state": ExecutionState.FAILED, "settled_at": LONG_AGO}
    _fill(make_session, created_at=LONG_AGO, **old)
    with make_session.begin() as session:
        for row in session.scalars(select(Execution)):
            note(session, row, LONG_AGO)
        kept = session.scalars(select(Execution).limit(1)).one()
        kept.settled_at = NOW
    sweep(bench(make_session, lambda: NOW, FakePost()), 10)
    assert _count(make_session, FailureHour) == 0
    assert _count(make_session, FailureGroup) == 1, "one of its failures is kept"
    with make_session.begin() as session:
        session.execute(update(Execution).values(settled_at=LONG_AGO))
    result = sweep(bench(make_session, lambda: NOW, FakePost()), 10)
    assert len(result.failure_groups) == 1


def test_what_still_waits_stays_however_old(make_session: Sessions) -> None:
    _fill(make_session, created_at=LONG_AGO)
    assert not sweep(bench(make_session, lambda: NOW, FakePost()), 10).executions
    assert _count(make_session, Execution) == 3


def test_an_event_stays_until_those_who_listen_were_told(
    make_session: Sessions,
) -> None:
    with make_session.begin() as session:
        of = factories.congregation(session)
        old = {"congregation_id": of, "type": "booking.confirmed", "source": "test"}
        old |= {"occurred_at": LONG_AGO, "created_at": LONG_AGO}
        waits, told = (Event(id=new_id(), **old) for _ in range(2))
        session.add_all([waits, told])
        session.flush()
        session.add(OutboxEntry(id=new_id(), congregation_id=of, event_id=waits.id))
        kept, gone = waits.id, told.id
    swept = sweep(bench(make_session, lambda: NOW, FakePost()), 10)
    assert swept.events == (gone,)
    assert _count(make_session, OutboxEntry) == 1
    with make_session() as session:
        assert session.scalars(select(Event.id)).all() == [kept]


def test_a_limit_is_kept_and_more_is_announced(make_session: Sessions) -> None:
    _fill(
        make_session,
        state=ExecutionState.FAILED,
        created_at=LONG_AGO,
        settled_at=LONG_AGO,
    )
    result = sweep(bench(make_session, lambda: NOW, FakePost()), 2)
    assert (len(result.failed), result.is_full) == (2, True)
    again = sweep(bench(make_session, lambda: NOW, FakePost()), 2)
    assert (len(again.failed), again.is_full) == (1, False)
    assert counted(make_session, "janitor") == {Measure.SUCCEEDED: 3}


def test_lane_runs_of_last_month_go(make_session: Sessions) -> None:
    with make_session.begin() as session:
        for age in (8, 1):
            session.add(
                LaneRun(
                    lane="rescue",
                    trigger="clock",
                    requested_at=NOW - timedelta(days=age),
                )
            )
    assert len(sweep(bench(make_session, lambda: NOW, FakePost()), 10).lane_runs) == 1
    assert _count(make_session, LaneRun) == 1


@pytest.mark.parametrize("state", ["done", "running"])
def test_operations_that_ended_long_ago_go_and_open_ones_stay(
    make_session: Sessions, state: str
) -> None:
    ended = LONG_AGO if state == "done" else None
    with make_session.begin() as session:
        session.add(
            Operation(
                kind=OperationKind.REPLAY_EVENTS,
                matching={},
                high_water=LONG_AGO,
                actor="ada@example.org",
                state=OperationState(state),
                n_total=1,
                touched_at=LONG_AGO,
                created_at=LONG_AGO,
                ended_at=ended,
            )
        )
    result = sweep(bench(make_session, lambda: NOW, FakePost()), 10)
    assert len(result.operations) == (1 if ended else 0)


def test_executions_stay_as_long_as_their_end_says(make_session: Sessions) -> None:
    with make_session.begin() as session:
        tenant = factories.congregation(session)
        rule = factories.rule(session, tenant)
        for state in ExecutionState:
            if state not in (ExecutionState.PENDING, ExecutionState.RUNNING):
                past = {"created_at": LONG_AGO, "settled_at": LONG_AGO}
                factories.execution(session, rule, state=state, **past)
    timing = Timing(
        keep_succeeded=timedelta(days=30),
        keep_failed=timedelta(days=365),
        keep_not_run=timedelta(days=92),
    )
    fake = bench(make_session, lambda: NOW, FakePost(), timing=timing)
    assert tally(sweep(fake, 10)) == {"executions": 1}
    assert tally(sweep(bench(make_session, lambda: NOW, FakePost()), 10)) == {
        "failed": 1,
        "quarantined": 1,
        "cancelled": 1,
        "skipped": 1,
    }


def test_what_the_back_office_need_not_keep_goes(make_session: Sessions) -> None:
    """Everything of a member stays until it is past its own time, table by table."""
    days = timedelta(days=1)
    with make_session.begin() as session:
        tenant = factories.congregation(session)
        person = people_rows.whole(session, tenant, None)
        session.execute(
            update(AccountToken).values(expires_at=NOW)  # only just valid
        )
        session.execute(update(Consent).values(withdrawn_at=NOW - 730 * days))
        its = {
            "ended_at": NOW - 7 * days,
            "digest_id": select(Digest.id).scalar_subquery(),
        }
        session.execute(update(Notification).values(its))
        session.execute(update(Digest).values(created_at=NOW - 20 * days))
    assert tally(_sweep_at(make_session, NOW)) == {}
    later = NOW + timedelta(minutes=1)
    with make_session.begin() as session:
        failed = session.scalars(select(Notification)).one()
        other = Notification(
            **{
                column.key: getattr(failed, column.key)
                for column in inspect(Notification).columns
            }
            | {"id": new_id(), "state": NotificationState.FAILED}
        )
        session.add(other)
    assert tally(_sweep_at(make_session, later)) == {"tokens": 1, "notifications": 1}
    month = NOW + 24 * days
    assert tally(_sweep_at(make_session, month)) == {
        "untold": 1,
        "consents": 1,
        "digests": 1,
    }
    with make_session() as session:
        assert session.get(Account, person.account_id) is not None


def test_a_consent_to_mails_that_was_taken_back_stays_while_it_stops_them(
    make_session: Sessions,
) -> None:
    """Forgotten after two years, it would let mails go to them again."""
    long_ago = NOW - timedelta(days=800)
    gone = {"given_at": long_ago - timedelta(days=9), "withdrawn_at": long_ago}
    with make_session.begin() as session:
        tenant = factories.congregation(session)
        silent, back, erased = (
            notification_rows.member(session, tenant, name)
            for name in ("Silent", "Back", "Erased")
        )
        for member_id in (silent, back, erased):
            notification_rows.consent(session, tenant, member_id, **gone)
        notification_rows.consent(session, tenant, back, given_at=NOW)
        session.execute(
            update(Member).where(Member.id == erased).values(anonymised_at=NOW)
        )
    assert tally(_sweep_at(make_session, NOW)) == {"consents": 2}
    with make_session() as session:
        left = session.scalars(select(Consent).order_by(Consent.given_at)).all()
    assert [each.member_id for each in left] == [silent, back]


def _sweep_at(make_session: Sessions, at: datetime) -> JanitorSweep:
    return sweep(bench(make_session, lambda: at, FakePost()), 10)


def test_everything_that_is_past_is_found_by_an_index(engine: Engine) -> None:
    """Neither database may go through a whole big table every hour."""
    if engine.dialect.name != "sqlite":
        return  # with empty tables PostgreSQL reads them whatever indexes there are
    with Session(engine) as session:
        for name, key, past in keeping.past(NOW, timedelta(days=90)):
            statement = select(key).where(*past).limit(10)
            compiled = statement.compile(engine, compile_kwargs={"literal_binds": True})
            plan = session.execute(text(f"EXPLAIN QUERY PLAN {compiled}")).all()
            assert f"SEARCH {key.class_.__tablename__}" in plan[0].detail, name
