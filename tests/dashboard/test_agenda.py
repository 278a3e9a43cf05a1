"""The agenda: hours of a week, the list below, one's own congregations only."""

from __future__ import annotations

import html
import re
from collections.abc import Callable
from datetime import UTC, date, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
from sqlalchemy import Engine, update
from sqlalchemy.orm import Session

from dashboard.agenda import queries
from dashboard.agenda.week import LEVELS, Week
from dashboard.operators.models import Operator, RoleName
from tasks.clock import utcnow
from tasks.db import CongregationSession, set_scope
from tasks.models import Campaign
from tests.dashboard.conftest import Browser
from tests.support import factories
from tests.support.factories import NOW
from tests.support.outreach import engagement
from tests.support.statements import statements

WEEK = Week(NOW.date())
SPAN = (WEEK.start, WEEK.end)


def test_a_week_counts_what_is_to_come_by_hour(engine: Engine) -> None:
    with Session(engine) as session, session.begin():
        tenants = [factories.congregation(session, slug) for slug in "ab"]
        for tenant in tenants:
            rule = factories.reminder(session, tenant)
            for minutes in (-5, 30, 59, 60, 8 * 24 * 60):
                at = NOW + timedelta(minutes=minutes)
                factories.job(session, rule, run_at=at)
            later = NOW + timedelta(hours=1)
            factories.execution(session, rule, run_at=later)
            factories.job(session, rule, run_at=later, state="cancelled")
    with CongregationSession(engine) as session:
        set_scope(session, frozenset(tenants[:1]))
        found = queries.volume(session, WEEK, None, NOW)
        assert dict(found.hours) == {NOW: 2, NOW + timedelta(hours=1): 2}
        assert (found.n_jobs, found.n_executions) == (3, 1)
        assert found.counted_until == WEEK.end
        assert queries.volume(session, WEEK, tenants[0], NOW).n_jobs == 0
        page = queries.page(session, SPAN, None, NOW, None, 2)
        assert page.next_cursor
        rest = queries.page(session, SPAN, None, NOW, page.next_cursor, 2)
        assert [line.job.run_at for line in (*page.rows, *rest.rows)] == [
            NOW + timedelta(minutes=minutes) for minutes in (30, 59, 60)
        ]


def test_wake_ups_of_agents_are_counted_too(engine: Engine) -> None:
    with Session(engine) as session, session.begin():
        tenant = factories.congregation(session)
        engagement(session, tenant, next_action_at=NOW + timedelta(hours=3))
    with Session(engine) as session:
        assert queries.volume(session, WEEK, None, NOW).n_wakeups == 1


def test_the_grid_is_as_dark_as_an_hour_is_full() -> None:
    volume = {NOW: 1, NOW + timedelta(hours=1): 100, NOW + timedelta(hours=2): 50}
    until = NOW + timedelta(hours=3)
    first, *rest = WEEK.days(volume, until, NOW)
    assert [slot.level for slot in first.slots[11:16]] == [0, 1, LEVELS - 1, 2, 0]
    assert [slot.is_counted for slot in first.slots[13:16]] == [True, True, False]
    assert (first.slots[11].is_past, first.slots[12].is_past) == (True, False)
    assert (first.n, len(rest)) == (151, 6)


@pytest.mark.parametrize(
    "query",
    [
        "week=soon",
        "week=0001-01-01",
        "rule=x",
        "cursor=x",
        "since=2026-03-10T12:00Z",
        "since=2026-03-10T12:00&until=2026-03-10T13:00",
        "since=2026-03-10T12:00Z&until=2026-03-10T12:00Z",
        "since=2026-03-10T12:00Z&until=2026-03-12T12:00Z",
        "since=0001-01-01T00:00%2B14:00&until=0001-01-01T00:00Z",
        "since=0001-01-02T00:00Z&until=0001-01-02T01:00Z",  # no clock can tell it
    ],
)
def test_an_address_that_cannot_be_read_says_so(as_viewer: Browser, query: str) -> None:
    answer = as_viewer.get(f"/agenda/?{query}")
    assert answer.status_code in (400, 422)


@pytest.mark.parametrize("zone", ["UTC", "Pacific/Auckland", "America/New_York"])
@pytest.mark.parametrize(
    ("first", "offered"),
    [
        ("1970-01-01", {"next"}),
        ("1970-01-07", {"next"}),
        ("1970-01-08", {"prev", "next"}),
        ("2999-12-24", {"prev", "next"}),
        ("2999-12-25", {"prev"}),
        ("2999-12-31", {"prev"}),
    ],
)
def test_only_weeks_that_can_be_shown_are_offered(
    as_viewer: Browser,
    sqlite_engine: Engine,
    first: str,
    offered: set[str],
    zone: str,
) -> None:
    with Session(sqlite_engine) as session, session.begin():
        session.execute(update(Operator).values(timezone=zone))
    answer = as_viewer.get(f"/agenda/?week={first}")
    assert answer.status_code == 200
    links = re.findall(r'rel="(prev|next)" href="([^"]+)"', answer.text)
    assert {rel for rel, _ in links} == offered
    for _, link in links:
        assert as_viewer.get(html.unescape(link)).status_code == 200
    assert "from 1970 to 2999" in as_viewer.get("/agenda/?week=3000-01-01").text


def test_days_that_are_over_lead_to_what_was_done(as_viewer: Browser) -> None:
    page = as_viewer.get("/agenda/?week=2026-03-02").text
    assert "These days are over" in page
    assert "To come" not in page
    link = re.search(r'href="(/executions/[?][^"]+)">See what was done', page)
    assert link
    done = as_viewer.get(html.unescape(link[1]))
    assert done.status_code == 200
    assert 'value="2026-03-02T00:00"' in done.text
    assert 'value="2026-03-09T00:00"' in done.text
    assert "Nothing is planned" in as_viewer.get("/agenda/?week=2999-12-31").text


def test_the_page_shows_a_week_with_its_marks(
    log_in: Callable[..., Browser], sqlite_engine: Engine
) -> None:
    now = utcnow()
    day: date = now.date() + timedelta(days=1)
    at = datetime.combine(day, now.time(), UTC)
    with Session(sqlite_engine) as session, session.begin():
        for slug, name in (("ours", "Advent"), ("theirs", "Lent")):
            tenant = factories.congregation(session, slug)
            rule = factories.reminder(session, tenant, name=f"Reminder {slug}")
            for _ in range(30):
                factories.job(session, rule, run_at=at)
            session.add(
                Campaign(
                    congregation_id=tenant,
                    name=name,
                    starts_on=day,
                    ends_on=day + timedelta(days=2),
                )
            )
            if slug == "ours":
                ours, path = tenant, f"/agenda/?rule={rule.id}"
    browser = log_in(RoleName.VIEWER, sees_all=False, congregations=[ours])
    with statements() as seen:
        page = browser.get("/agenda/").get_data(as_text=True)
    assert len(seen) <= 16  # the page's own, and what every page asks
    assert "Reminder ours" in page
    assert "Advent begins" in page
    assert "Advent ends" in page
    assert "Reminder theirs" not in page
    assert "Lent" not in page
    assert '<span class="figures">30</span>' in page
    assert "To come: 30 scheduled jobs" in page
    assert 'style="' not in page
    of_rule = browser.get(path).get_data(as_text=True)
    assert "Advent" not in of_rule
    assert "selected" in of_rule
    other_week = browser.get(f"/agenda/?week={day + timedelta(days=30)}")
    assert "Nothing is planned" in other_week.get_data(as_text=True)


def test_a_week_goes_by_the_clock_of_who_looks() -> None:
    clock_change = datetime(2026, 3, 29, 12, tzinfo=UTC)
    week = Week.asked(None, clock_change, ZoneInfo("Europe/Paris"))
    assert week.start == datetime(2026, 3, 28, 23, tzinfo=UTC)
    assert week.end == datetime(2026, 4, 4, 22, tzinfo=UTC)
    volume = {datetime(2026, 3, 30, 22, tzinfo=UTC): 3}
    days = week.days(volume, week.end, clock_change)
    assert [(day.on.day, day.n) for day in days if day.n] == [(31, 3)]
    assert days[2].slots[0].n == 3
    assert Week.asked(None, clock_change, ZoneInfo("Asia/Kolkata")).zone is UTC


def test_an_hour_leads_to_the_jobs_that_it_counts(
    as_viewer: Browser, sqlite_engine: Engine
) -> None:
    at = utcnow().replace(minute=0, second=0, microsecond=0) + timedelta(days=1)
    with Session(sqlite_engine) as session, session.begin():
        rule = factories.reminder(session, factories.congregation(session))
        # Quiet hours put it off: it is due long before.
        factories.job(session, rule, due_at=at - timedelta(hours=9), run_at=at)
        factories.job(session, rule, run_at=at + timedelta(hours=1))
        factories.execution(session, rule, run_at=at + timedelta(minutes=59))
    week = as_viewer.get("/agenda/").get_data(as_text=True)
    (link,) = re.findall(r'href="([^"]+)#what-comes">.*?>2</span>', week)
    page = as_viewer.get(link.replace("&amp;", "&")).get_data(as_text=True)
    assert page.count('<tr id="job-') == 1
    assert "1 more is no scheduled job" in page
    assert "Show all seven days" in page
    empty = as_viewer.get("/agenda/?since=2026-03-10T12:00Z&until=2026-03-10T13:00Z")
    assert "No scheduled job is planned for then" in empty.get_data(as_text=True)


def test_an_hour_that_comes_twice_is_one_of_two_hours() -> None:
    first, second = (datetime(2026, 10, 25, hour, tzinfo=UTC) for hour in (0, 1))
    week = Week.asked("2026-10-25", first, ZoneInfo("Europe/Paris"))
    slot = week.days({first: 1, second: 2}, week.end, second)[0].slots[2]
    assert (slot.n, slot.at, slot.until) == (3, first, second + timedelta(hours=1))
    assert not slot.is_past


def test_an_hour_that_the_clock_skips_is_none() -> None:
    at = datetime(2026, 3, 29, 1, tzinfo=UTC)
    week = Week.asked("2026-03-29", at, ZoneInfo("Europe/Paris"))
    skipped, next_ = week.days({at: 3}, week.end, at)[0].slots[2:4]
    assert (skipped.n, skipped.until - skipped.at) == (0, timedelta(0))
    assert (next_.n, next_.at) == (3, at)


def test_a_week_is_off_the_full_hour_whatever_the_clock_is_now() -> None:
    zone, summer = ZoneInfo("Australia/Lord_Howe"), datetime(2026, 1, 10, tzinfo=UTC)
    assert Week.asked(None, summer, zone).zone is zone
    for first in ("2026-07-01", "2026-04-03"):
        week = Week.asked(first, summer, zone)
        assert (week.zone, week.is_off_hour) == (UTC, True)
