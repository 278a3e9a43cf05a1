"""Charts: what they count, how they are drawn, and what says the same in words."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from uuid import UUID
from zoneinfo import ZoneInfo

import pytest
from sqlalchemy import Engine, update
from sqlalchemy.orm import Session

from dashboard.charts import series
from dashboard.charts.drawing import HEIGHT, draw
from dashboard.charts.lanes import COUNTED
from dashboard.charts.panel import about
from dashboard.charts.periods import PERIODS
from dashboard.operators.models import Operator, RoleName
from tasks.clock import utcnow
from tasks.db import CongregationSession, Scope, set_scope
from tasks.models import Measure, RuleVersion, Span
from tasks.registry import LANES
from tasks.rollups.adding import add
from tasks.rollups.counting import Place
from tasks.rollups.warning import look_at_budgets
from tests.dashboard.conftest import Browser
from tests.support import factories
from tests.support.factories import NOW
from tests.support.statements import statements


def _fill(session: Session, tenant: UUID, rule: UUID, at: datetime, n: int) -> None:
    """Count ``n`` that succeeded within a second, and one that failed after hours."""
    place = Place(tenant, "executions", rule, at.replace(minute=0), 0)
    add(
        session,
        {
            place._replace(measure=Measure.SUCCEEDED): n,
            place._replace(measure=Measure.FAILED): 1,
            place._replace(measure=Measure.WAIT + 6): n,
            place._replace(measure=Measure.WAIT + 16): 1,
            place._replace(measure=Measure.RUN + 3): n,
        },
    )


@pytest.mark.parametrize("name", PERIODS)
def test_a_series_holds_what_was_counted_within_its_period(
    engine: Engine, name: str
) -> None:
    period = PERIODS[name]
    with Session(engine) as session, session.begin():
        tenant = factories.congregation(session)
        rule = factories.rule(session, tenant).id
        _fill(session, tenant, rule, NOW, 5)
        _fill(session, tenant, rule, NOW - period.step * (period.n_steps - 1), 7)
        _fill(session, tenant, rule, NOW - period.step * (period.n_steps + 1), 900)
        session.flush()
        for found in (
            series.of_rule(session, rule, period, NOW),
            series.of_lane(session, "executions", period, NOW),
        ):
            assert len(found.steps) == period.n_steps
            assert (found.steps[0].total, found.steps[-1].total) == (8, 6)
            assert [step.is_partial for step in found.steps].count(True) == 1
            assert found.whole.n("succeeded") == 12
            assert found.whole.n_timed(Measure.WAIT) == 14


@pytest.mark.parametrize(
    ("name", "zone", "expected", "span"),
    [
        ("30d", "UTC", "2026-03-30T00:00", Span.DAY),
        ("30d", "America/New_York", "2026-03-30T04:00", Span.HOUR),
        ("30d", "Asia/Kolkata", "2026-03-29T18:00", Span.HOUR),
        ("7d", "Europe/Paris", "2026-03-30T10:00", Span.HOUR),
        ("24h", "Asia/Kolkata", "2026-03-30T12:00", Span.HOUR),
    ],
)
def test_steps_begin_by_the_clock_of_who_looks(
    name: str, zone: str, expected: str, span: Span
) -> None:
    # The day after Europe's clocks were set forward.
    now = datetime(2026, 3, 30, 12, 40, tzinfo=UTC)
    period = PERIODS[name]
    starts = period.starts(now, ZoneInfo(zone))
    assert starts[-1] == datetime.fromisoformat(expected).replace(tzinfo=UTC)
    assert starts == sorted(set(starts))
    assert len(starts) == period.n_steps
    assert period.span_of(starts) is span


def test_a_day_of_the_charts_is_a_day_of_the_operators_own(
    as_operator: Browser, sqlite_engine: Engine
) -> None:
    now = utcnow()
    zone = ZoneInfo("Asia/Kolkata")
    with Session(sqlite_engine) as session, session.begin():
        tenant = factories.congregation(session)
        rule = factories.rule(session, tenant).id
        _fill(session, tenant, rule, now, 41)
        session.execute(update(Operator).values(timezone=str(zone)))
    page = as_operator.get(f"/rules/{rule}?period=30d").get_data(as_text=True)
    today = now.astimezone(zone)
    assert re.search(rf'"row">{today:%-d %b} <small>until now</small>', page)
    assert '<td class="figures">41</td>' in page
    assert "each step begins 30 min before the hour" in page


def test_a_lane_shows_an_operator_their_own_congregations_only(engine: Engine) -> None:
    with Session(engine) as session, session.begin():
        houses = [factories.congregation(session, slug) for slug in "ab"]
        for n, house in enumerate(houses):
            _fill(session, house, factories.rule(session, house).id, NOW, n + 1)
    day = PERIODS["24h"]
    expected = ((Scope.EVERY, 3), (frozenset(houses[:1]), 1), (frozenset[UUID](), 0))
    for scope, n in expected:
        with CongregationSession(engine) as session:
            set_scope(session, scope)
            found = series.of_lane(session, "executions", day, NOW)
            assert found.whole.n("succeeded") == n


def test_a_drawing_stays_in_its_frame_and_shows_single_failures() -> None:
    steps = [series.Step(NOW, is_partial=False) for _ in range(24)]
    steps[3].counts.update({Measure.SUCCEEDED: 100_000, Measure.FAILED: 1})
    steps[5].counts.update({Measure.WAIT: 1, Measure.WAIT + 18: 1})
    charts = draw(series.Series(PERIODS["24h"], steps, steps[3]))
    parts = {part.outcome: part for part in charts.bars[3].parts}
    assert parts["failed"].height >= 1
    assert all(0 <= part.y <= HEIGHT for part in parts.values())
    (wait,) = charts.times
    heights = re.findall(r" ([\d.]+)H", "".join(line.path for line in wait.lines))
    assert len(heights) == 3
    assert all(0 <= float(y) <= HEIGHT for y in heights)


def test_the_pages_draw_charts_and_say_the_same_in_a_table(
    as_operator: Browser, sqlite_engine: Engine
) -> None:
    now = utcnow()
    with Session(sqlite_engine) as session, session.begin():
        tenant = factories.congregation(session)
        rule = factories.rule(session, tenant)
        _fill(session, tenant, rule.id, now, 41)
        changed = {"congregation_id": tenant, "rule_id": rule.id, "version": 2}
        at = now - timedelta(hours=3)
        session.add(
            RuleVersion(**changed, created_at=at, actor="a", verb="edited", document={})
        )
        path = f"/rules/{rule.id}"
    for period in (*PERIODS, "nonsense"):
        page = as_operator.get(f"{path}?period={period}").get_data(as_text=True)
        assert "Version 2 of the rule begins" in page
        assert re.search(r'data-state="failed"[^>]*>', page)
        assert '<td class="figures">41</td>' in page
    with statements() as seen:
        page = as_operator.get("/lanes/executions?period=7d").get_data(as_text=True)
    assert '<td class="figures">41</td>' in page
    assert sum("lane_rollups" in statement for statement in seen) == 1
    assert 'style="' not in page


def test_every_lane_says_what_it_counts_and_why_nothing_waits(
    as_operator: Browser,
) -> None:
    assert COUNTED.keys() == {lane.name for lane in LANES}
    for lane in LANES:
        page = as_operator.get(f"/lanes/{lane.name}").get_data(as_text=True)
        counts = COUNTED[lane.name]
        for said in (counts.what, counts.never_waits, counts.untimed):
            assert said in page, lane.name
        assert ("Lateness budget" in page) is (not counts.never_waits), lane.name


def test_a_rule_says_since_when_its_oldest_waits(
    as_operator: Browser, sqlite_engine: Engine
) -> None:
    now = utcnow()
    with Session(sqlite_engine) as session, session.begin():
        tenant = factories.congregation(session)
        factories.booking(session, tenant)
        rules = [factories.rule(session, tenant, name=name) for name in "ab"]
        for rule, hours in zip(rules, (3, -3), strict=True):
            at = now - timedelta(hours=hours)
            factories.execution(session, rule, run_at=at, due_at=at)
        ids = [rule.id for rule in rules]
    late, fine = (as_operator.get(f"/rules/{id_}").text for id_ in ids)
    assert "The oldest that waits past its time" in late
    assert "3\xa0h ago" in late
    assert "Nothing of it waits past its time." in fine


def test_times_are_told_as_one_number() -> None:
    assert [about(each) for each in (None, 0.0123, 95, 7_300)] == [
        "–",
        "12\xa0ms",
        "1\xa0min",
        "2\xa0h",
    ]


def test_a_budget_is_set_on_its_page_and_shown_when_it_burns(
    as_operator: Browser, sqlite_engine: Engine
) -> None:
    now = utcnow()
    with Session(sqlite_engine) as session, session.begin():
        tenant = factories.congregation(session)
        rule = factories.rule(session, tenant).id
        _fill(session, tenant, rule, now, 41)
    for kind, key in (("rules", str(rule)), ("lanes", "executions")):
        path, here = f"/budgets/{kind}/{key}", f"/{kind}/{key}"
        assert "None is set" in as_operator.get(here).get_data(as_text=True)
        for wrong in ({"share": "x", "seconds": "60"}, {"share": "950"}):
            answer = as_operator.post(path, data=wrong, follow_redirects=True)
            assert "Choose one of the offered" in answer.get_data(as_text=True)
        promise = {"share": "990", "seconds": "60"}
        answer = as_operator.post(path, data=promise, follow_redirects=True)
        page = answer.get_data(as_text=True)
        assert "99 % are to begin within 1\xa0min" in page
        assert "Nobody is told by mail" in page
        answer = as_operator.post(
            path, data=promise | {"by_mail": "1"}, follow_redirects=True
        )
        page = answer.get_data(as_text=True)
        assert "Admins are told by mail" in page
        assert "1 of 42 were late" in page
        assert "Broken" in page
    with Session(sqlite_engine) as session, session.begin():
        look_at_budgets(session, now)
    home = as_operator.get("/").get_data(as_text=True)
    assert home.count("Lateness budget") == 2
    gone = as_operator.post(f"/budgets/rules/{rule}", data={}, follow_redirects=True)
    assert "None is set" in gone.get_data(as_text=True)
    for nothing_waits in ("janitor", "nonsense"):
        assert as_operator.post(f"/budgets/lanes/{nothing_waits}").status_code == 404


def test_who_sees_some_congregations_sets_no_lane_budget(
    log_in: Callable[..., Browser], sqlite_engine: Engine
) -> None:
    with Session(sqlite_engine) as session, session.begin():
        tenant = factories.congregation(session)
    browser = log_in(RoleName.OPERATOR, sees_all=False, congregations=[tenant])
    assert browser.post("/budgets/lanes/executions").status_code == 403
    page = browser.get("/lanes/executions").get_data(as_text=True)
    assert "Lateness budget" not in page
