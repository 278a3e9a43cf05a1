"""What the pages read gives the same on both databases, within a scope as well."""

from __future__ import annotations

from datetime import datetime, timedelta
from pathlib import Path
from uuid import UUID

import pytest
from sqlalchemy import Engine, select
from sqlalchemy.orm import Session

from dashboard.audit.queries import entries
from dashboard.congregations import podcast_queries, queries
from dashboard.congregations.records import names_of
from dashboard.congregations.timeline import timeline
from dashboard.failures import queries as failures
from dashboard.lanes.queries import lane_views, runs
from dashboard.overview import lists
from dashboard.overview.queries import first_steps, n_succeeded, needs
from dashboard.waiting.evidence import answer
from dashboard.waiting.standing import speed, standings
from tasks.config import Config
from tasks.db import Begin, Congregations, CongregationSession, Scope, set_scope
from tasks.failures.groups import is_quiet
from tasks.models import (
    CongregationRollup,
    Event,
    Execution,
    LaneHeartbeat,
    LaneRollup,
    LaneRun,
    LaneTrigger,
    ScheduledJob,
    Span,
)
from tasks.operations.audit import Actor, Subject, record
from tasks.operations.lanes import pause_lane, sweep_now
from tasks.registry import LANES
from tasks.search.audit import AUDIT
from tasks.search.plain import plain_conditions
from tests.support import factories
from tests.support.failures import note

ANNA = Actor("anna@example.org")


@pytest.fixture
def twins(begin: Begin, now: datetime) -> list[UUID]:
    """Return two congregations with the same rows, each with a failure, late work."""
    with begin() as session:
        found = [factories.congregation(session, slug) for slug in ("a", "b")]
        for id_ in found:
            factories.booking(session, id_)
            rule = factories.rule(session, id_)
            late = now - timedelta(minutes=2)
            factories.execution(session, rule, state="failed")
            factories.execution(session, rule, state="succeeded")
            factories.execution(session, rule, run_at=late)
            factories.job(session, rule, run_at=now + timedelta(hours=1))
            session.add(
                Event(
                    congregation_id=id_,
                    type="booking.confirmed",
                    booking_id="b1",
                    source="api",
                    occurred_at=now,
                    created_at=now,
                )
            )
            subject = Subject("rule", str(rule.id), id_)
            record(session, ANNA, "rule.edited", subject, "Changed 100%.")
            count = {"lane": "executions", "span": Span.HOUR, "measure": 0}
            session.add(CongregationRollup(congregation_id=id_, at=now, n=1, **count))
        session.add(LaneRollup(at=now, n=2, **count))
        session.add(LaneRollup(at=now - timedelta(hours=24), n=9, **count))
        return found


def _session(engine: Engine, scope: Congregations) -> Session:
    session = CongregationSession(engine)
    set_scope(session, scope)
    return session


def test_the_overview_counts_and_lists_within_the_scope(
    engine: Engine, twins: list[UUID], now: datetime
) -> None:
    expected = ((Scope.EVERY, 2), (frozenset(twins[:1]), 1), (frozenset[UUID](), 0))
    for scope, times in expected:
        with _session(engine, scope) as session:
            found = needs(session, now=now)
            assert (found.failed, found.late, found.late_jobs) == (times, times, 0)
            assert n_succeeded(session, now=now) == times
            assert len(lists.coming(session)) == 2 * times
            assert len(lists.recent(session)) == 4 * times
            assert (first_steps(session) is None) == bool(times)


def test_failures_are_grouped_within_the_scope(
    engine: Engine, twins: list[UUID], now: datetime
) -> None:
    with Session(engine) as session, session.begin():
        for row in session.scalars(select(Execution).filter_by(state="failed")):
            note(session, row, now - timedelta(minutes=1))
    for scope, n in ((Scope.EVERY, 2), (frozenset(twins[:1]), 1)):
        with _session(engine, scope) as session:
            found = failures.page(session, [], None, 9, now=now)
            assert len(found.rows) == failures.n_asking(session, now=now) == n
            [first, *_] = found.rows
            assert (first.n_open, sum(first.hours)) == (1, 1)
            assert first.state == "recovered", "another one succeeded later"
            own = failures.executions(session, first.group.id, None, 9)
            assert len(own.rows) == 1
            quiet = [is_quiet(now)]
            assert failures.page(session, quiet, None, 9, now=now).rows == []


def test_why_something_waits_is_read_alike(
    engine: Engine, twins: list[UUID], now: datetime, tmp_path: Path
) -> None:
    config = Config.from_environ({"VAR_DIR": str(tmp_path)})
    with _session(engine, frozenset(twins[:1])) as session:
        standing = standings(session, config, now)
        job = session.scalars(select(ScheduledJob)).one()
        assert answer(session, job, standing, now).starts_at is None, "no worker"
        late = session.scalars(select(Execution).filter_by(state="pending")).one()
        words = [why.word for why in answer(session, late, standing, now).reasons]
        assert words == ["no worker", "about to begin"]
        assert speed(session, "executions", now) is None


def test_lanes_are_read_with_their_newest_runs(
    begin: Begin, now: datetime, tmp_path: Path
) -> None:
    config = Config.from_environ({"VAR_DIR": str(tmp_path)})
    with begin() as session:
        for lane in LANES:
            for minutes in (3, 2, 1):
                at = now - timedelta(minutes=minutes)
                run = LaneRun(
                    lane=lane.name,
                    trigger=LaneTrigger.CLOCK,
                    requested_at=at,
                    started_at=at,
                )
                beat = LaneHeartbeat(lane=lane.name, worker=str(minutes), swept_at=at)
                session.add_all([run, beat])
        sweep_now(session, "executions", ANNA, now=now)
        pause_lane(session, "rescue", ANNA, now=now)
    with begin() as session:
        views = {
            view.lane.name: view for view in lane_views(session, LANES, config, now=now)
        }
        newest = now - timedelta(minutes=1)
        for view in views.values():
            assert view.swept_at == newest
            assert view.last_run is not None
            assert view.last_run.started_at == newest
        assert views["executions"].asked is not None
        assert views["janitor"].asked is None
        assert views["rescue"].state == "paused"
        assert len(runs(session, "executions", None).rows) == 4


def test_a_congregations_pages_are_read_within_the_scope(
    engine: Engine, twins: list[UUID], now: datetime
) -> None:
    a, b = twins
    with _session(engine, frozenset({a})) as session:
        found = queries.congregations(session, [], None, 9).rows
        assert [row.slug for row in found] == ["a"]
        assert queries.podcast_counts(session, twins) == {a: 1}
        assert queries.link_counts(session, a, ["show"]) == {}
        start = now + timedelta(days=2)
        assert queries.next_bookings(session, a, ["show"], now) == {"show": start}
        assert queries.next_bookings(session, b, ["show"], now) == {}
        podcast = queries.podcast(session, a, "show")
        found = podcast_queries.bookings(
            session, podcast, "coming", None, limit=9, now=now
        )
        assert [row.id for row in found.rows] == ["b1"]
        assert len(podcast_queries.rules(session, podcast)) == 1
        booking = podcast_queries.booking(session, a, "b1").booking
        story = timeline(session, names_of(booking), None, 9)
        assert (len(story.ahead), len(story.past)) == (2, 3)


def test_audit_entries_are_filtered_alike(engine: Engine, twins: list[UUID]) -> None:
    with _session(engine, frozenset(twins[:1])) as session:
        for wanted, n in (
            ("", 1),
            ("who:ANNA@", 1),
            ("who:%", 0),
            ("action:rule.", 1),
            ("action:rul_.", 0),
        ):
            found = entries(session, plain_conditions(AUDIT, wanted, ""), None, 9)
            assert len(found.rows) == n, wanted
