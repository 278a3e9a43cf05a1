"""The lane ``rollups``: everything that ended is counted, once, where it belongs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from datetime import datetime, timedelta
from functools import partial
from typing import Any
from uuid import UUID

import pytest
from sqlalchemy import func, select
from sqlalchemy.orm import Session, sessionmaker

from tasks.automation.actions.base import Done, Envelope, GiveUp, Outcome, TryAgain
from tasks.lanes import executions, janitor, rescue, rollups, scheduled_jobs
from tasks.models import (
    Attempt,
    AttemptOutcome,
    BookingStatus,
    CongregationRollup,
    Ended,
    EndedKind,
    Execution,
    LaneRollup,
    Measure,
    OperationKind,
    Reason,
    RuleRollup,
    Span,
)
from tasks.operations.audit import Actor
from tasks.operations.executions import cancel_execution
from tasks.operations.scheduled_jobs import cancel_job
from tasks.operations.undoing_cancel import undo_cancel
from tasks.rollups.ended import note_ended
from tests.support import factories
from tests.support.executed import add_many
from tests.support.factories import NOW
from tests.support.fakes import FakePost, bench
from tests.support.many import do_all

Sessions = sessionmaker[Session]
ANNA = Actor("anna@example.org")
Model = type[LaneRollup | CongregationRollup | RuleRollup]


def _noon() -> datetime:
    return NOW


def _later(hours: int) -> datetime:
    return NOW + timedelta(hours=hours)


def _count(make_session: Sessions, limit: int = 100) -> rollups.RollupsSweep:
    return rollups.sweep(bench(make_session, _noon, FakePost()), limit)


def _sums(make_session: Sessions, model: Model, **only: object) -> Mapping[int, int]:
    """Return the counts of all hours by measure."""
    wanted = [getattr(model, name) == value for name, value in only.items()]
    statement = select(model.measure, func.sum(model.n)).where(model.span == Span.HOUR)
    with make_session() as session:
        rows = session.execute(statement.where(*wanted).group_by(model.measure))
        return {row.measure: row[1] for row in rows}


def _outcomes(sums: Mapping[int, int]) -> dict[str, int]:
    return {Measure(n).name: found for n, found in sums.items() if n < Measure.WAIT}


def _answers(envelope: Envelope) -> Outcome:
    """Answer by the end of the execution's id."""
    refused = GiveUp(Reason.REFUSED, "no")
    answers: dict[int, Outcome] = {0: refused, 1: TryAgain("later")}
    return answers.get(envelope.execution_id.int % 4, Done(250))


def test_what_the_lanes_ended_is_what_a_direct_count_finds(
    make_session: Sessions,
) -> None:
    with make_session.begin() as session:
        tenant = factories.congregation(session)
        factories.booking(session, tenant)
        gone = factories.booking(
            session, tenant, id="b2", status=BookingStatus.CANCELLED
        )
        rules = [factories.rule(session, tenant, name=name) for name in "ab"]
        for n in range(40):
            factories.execution(session, rules[n % 2])
        factories.execution(session, rules[0], booking_id=gone.id)
    post = FakePost(_answers)
    for hours in range(3):  # retries end in other hours than first attempts
        clock = partial(_later, hours * 12)
        executions.sweep(bench(make_session, clock, post), 100)
        _count(make_session)
    assert _count(make_session) == rollups.RollupsSweep()  # twice changes nothing

    direct = _direct(make_session)
    for rule_id in {rule for rule, _ in direct}:
        sums = _sums(make_session, RuleRollup, rule_id=rule_id)
        assert _outcomes(sums) == {
            measure: n for (rule, measure), n in direct.items() if rule == rule_id
        }
    totals: Counter[str] = Counter()
    for (_, measure), n in direct.items():
        totals[measure] += n
    for model in (LaneRollup, CongregationRollup):
        assert _outcomes(_sums(make_session, model, lane="executions")) == totals


def test_what_operators_cancel_is_counted_unless_it_was_taken_back(
    make_session: Sessions,
) -> None:
    with make_session.begin() as session:
        tenant = factories.congregation(session)
        factories.booking(session, tenant)
        rule = factories.reminder(session, tenant)
        rows = [factories.execution(session, rule) for _ in range(4)]
        job = factories.job(session, rule)
        ids = [row.id for row in rows]
        cancel_execution(session, ids[0], ANNA, now=NOW)
        cancel_execution(session, ids[1], ANNA, now=NOW)
        undo_cancel(session, ids[1], ANNA, now=NOW)
        drop = OperationKind.DROP_EXECUTIONS
        assert do_all(session, drop, {"ids": [str(ids[2])]}, ANNA, NOW) == 1
        cancel_job(session, job.id, ANNA, now=NOW)
    _count(make_session)
    for model in (LaneRollup, CongregationRollup):
        of_executions = _sums(make_session, model, lane="executions")
        assert _outcomes(of_executions) == {"SKIPPED": 2}
        of_jobs = _sums(make_session, model, lane="scheduled_jobs")
        assert _outcomes(of_jobs) == {"SKIPPED": 1}
    assert _outcomes(_sums(make_session, RuleRollup)) == {"SKIPPED": 3}


_WORDS = {
    AttemptOutcome.SUCCEEDED: "SUCCEEDED",
    AttemptOutcome.FAILED: "FAILED",
    AttemptOutcome.RETRY: "RETRIED",
    AttemptOutcome.SKIPPED: "SKIPPED",
}


def _direct(make_session: Sessions) -> Counter[tuple[UUID, str]]:
    with make_session() as session:
        rows = session.execute(
            select(Execution.rule_id, Attempt.outcome).join(
                Attempt, Attempt.execution_id == Execution.id
            )
        )
        return Counter((rule_id, _WORDS[outcome]) for rule_id, outcome in rows)


def test_hours_and_days_hold_the_same(make_session: Sessions) -> None:
    _ended(make_session, NOW.replace(hour=1), NOW.replace(hour=23, minute=59))
    _count(make_session)
    with make_session() as session:
        rows = session.execute(
            select(LaneRollup.span, LaneRollup.at, LaneRollup.n)
            .filter_by(lane="executions", measure=Measure.SUCCEEDED)
            .order_by(LaneRollup.span, LaneRollup.at)
        ).all()
    midnight = NOW.replace(hour=0)
    assert rows == [
        (Span.DAY, midnight, 2),
        (Span.HOUR, midnight.replace(hour=1), 1),
        (Span.HOUR, midnight.replace(hour=23), 1),
    ]


def _ended(make_session: Sessions, *ends: datetime, **values: Any) -> list[UUID]:
    """Add an execution for each end, as a lane would have ended it."""
    slug = values.pop("slug", "bonifatius")
    with make_session.begin() as session:
        rule = factories.rule(session, factories.congregation(session, slug))
        rows = []
        for end in ends:
            row = factories.execution(session, rule, **{"due_at": end} | values)
            session.add(
                Attempt(
                    congregation_id=row.congregation_id,
                    execution_id=row.id,
                    number=1,
                    worker="w",
                    started_at=end,
                    effect_started_at=end,
                    finished_at=end,
                    outcome=AttemptOutcome.SUCCEEDED,
                )
            )
            rows.append(row.id)
        note_ended(session, EndedKind.EXECUTION, [(id_, 1) for id_ in rows])
        return rows


@pytest.mark.parametrize(
    ("due", "created", "bucket"),
    [
        (NOW - timedelta(seconds=40), NOW - timedelta(days=1), 11),  # within 60 s
        (NOW - timedelta(days=9), NOW, 0),  # it was not there any earlier
        (NOW - timedelta(days=2), NOW - timedelta(days=3), 18),  # longer than all
    ],
)
def test_the_wait_is_from_the_promise_to_the_first_attempt(
    make_session: Sessions, due: datetime, created: datetime, bucket: int
) -> None:
    _ended(make_session, NOW, due_at=due, created_at=created)
    _count(make_session)
    sums = _sums(make_session, LaneRollup, lane="executions")
    assert sums == {Measure.SUCCEEDED: 1, Measure.WAIT + bucket: 1, Measure.RUN: 1}


def test_what_is_rolled_back_is_not_counted(make_session: Sessions) -> None:
    session = make_session()
    note_ended(session, EndedKind.JOB, [(UUID(int=1), 0)])
    session.rollback()
    assert _count(make_session) == rollups.RollupsSweep()


def test_a_sweep_takes_no_more_than_its_limit(make_session: Sessions) -> None:
    for n in range(3):
        with make_session.begin() as session:
            note_ended(session, EndedKind.EXECUTION, [(UUID(int=n), 1)])
    first = _count(make_session, limit=2)
    assert (first.executions, first.is_full) == ((UUID(int=0), UUID(int=1)), True)
    with make_session() as session:
        assert rollups.backlog(session, NOW).n_due == 1
    assert _count(make_session, limit=2).executions == (UUID(int=2),)
    with make_session() as session:
        assert session.scalar(select(func.count()).select_from(Ended)) == 0


def test_jobs_are_counted_for_their_lane_and_what_came_to_nothing_for_the_rule(
    make_session: Sessions,
) -> None:
    with make_session.begin() as session:
        tenant = factories.congregation(session)
        factories.booking(session, tenant)
        factories.job(session, factories.reminder(session, tenant))
        off = factories.reminder(session, tenant, enabled=False)
        factories.job(session, off)
        rule_id = off.id
    scheduled_jobs.sweep(bench(make_session, _noon, FakePost()), 10)
    _count(make_session)
    of_lane = _sums(make_session, CongregationRollup, lane="scheduled_jobs")
    assert of_lane == {
        Measure.SUCCEEDED: 1,
        Measure.SKIPPED: 1,
        Measure.WAIT: 1,
    }
    assert _sums(make_session, RuleRollup) == {Measure.SKIPPED: 1}
    assert _sums(make_session, RuleRollup, rule_id=rule_id) == {Measure.SKIPPED: 1}


def test_a_quarantine_counts_as_the_failure_that_it_is(make_session: Sessions) -> None:
    with make_session.begin() as session:
        rule = factories.rule(session, factories.congregation(session))
        for crashes in (0, 2):
            factories.execution(
                session,
                rule,
                state="running",
                attempt=1,
                crashes=crashes,
                worker="gone",
                claimed_at=NOW - timedelta(minutes=5),
                effect_at=NOW - timedelta(minutes=5),
                lease_until=NOW - timedelta(minutes=4),
            )
    rescue.sweep(bench(make_session, _noon, FakePost()), 10)
    _count(make_session)
    assert _outcomes(_sums(make_session, RuleRollup)) == {"FAILED": 1, "RETRIED": 1}


def test_hours_go_before_days(make_session: Sessions) -> None:
    for days in (500, 100, 1):
        _ended(make_session, NOW - timedelta(days=days), slug=f"s{days}")
    _count(make_session)
    removed = janitor.sweep(bench(make_session, _noon, FakePost()), 100)
    assert removed.lane_rollups_days
    assert removed.rule_rollups_hours
    with make_session() as session:
        for model in (LaneRollup, CongregationRollup, RuleRollup):
            rows = select(model.span, model.at).distinct()
            if model is LaneRollup:  # the counting itself is counted as of today
                rows = rows.filter_by(lane="executions")
            assert sorted(session.execute(rows).all()) == [
                (Span.DAY, (NOW - timedelta(days=100)).replace(hour=0)),
                (Span.DAY, (NOW - timedelta(days=1)).replace(hour=0)),
                (Span.HOUR, NOW - timedelta(days=1)),
            ]


def test_the_counting_counts_itself_and_comes_to_an_end(make_session: Sessions) -> None:
    _ended(make_session, NOW)
    _ended(make_session, NOW, slug="b")
    for _ in range(3):
        _count(make_session)
    sums = _sums(make_session, LaneRollup, lane="rollups")
    assert _outcomes(sums) == {"SUCCEEDED": 2}
    assert sum(n for measure, n in sums.items() if measure >= Measure.WAIT) == 2
    with make_session() as session:
        assert session.scalars(select(Ended)).all() == []


def test_a_note_that_cannot_be_counted_is_left_out_and_the_others_are_counted(
    make_session: Sessions, monkeypatch: pytest.MonkeyPatch
) -> None:
    add_many(make_session, 5)
    for _ in range(5):
        executions.sweep(bench(make_session, _noon, FakePost()), 1)
    with make_session() as session:
        bad = session.scalars(select(Ended.keys).order_by(Ended.id)).all()[2]
    usual = rollups.unpacked

    def unpacked(packed: bytes) -> Any:
        if packed == bad:
            raise ZeroDivisionError
        return usual(packed)

    monkeypatch.setattr(rollups, "unpacked", unpacked)
    swept = _count(make_session)
    assert len(swept.executions) == 4
    assert "see its log" in swept.trouble
    assert _outcomes(_sums(make_session, LaneRollup, lane="executions")) == {
        "SUCCEEDED": 4
    }
    with make_session() as session:
        assert session.scalars(select(Ended.id)).all() == []
    assert _count(make_session) == rollups.RollupsSweep()
