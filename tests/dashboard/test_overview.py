"""The first page answers: what needs me, what comes next, what just happened."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from html import unescape

import pytest
from flask.testing import FlaskClient
from sqlalchemy import Engine, select
from sqlalchemy.orm import Session

from tasks.clock import utcnow
from tasks.failures.groups import acknowledge
from tasks.models import (
    ApiToken,
    Campaign,
    Congregation,
    DailyRun,
    Event,
    FailureGroup,
    LaneRollup,
    LaneRun,
    LaneSetting,
    LaneTrigger,
    Measure,
    Rule,
    Span,
    WorkerProcess,
)
from tasks.operations.audit import Actor
from tasks.registry import LANES
from tests.support import factories
from tests.support.failures import note
from tests.support.statements import statements

HTMX = {"HX-Request": "true"}


@pytest.fixture
def worker(sqlite_engine: Engine) -> None:
    """Let one worker process be alive."""
    with Session(sqlite_engine) as session, session.begin():
        session.add(
            WorkerProcess(
                id="host:7:ab",
                hostname="host",
                pid=7,
                lanes={lane.name: 1 for lane in LANES},
                started_at=utcnow(),
                heartbeat_at=utcnow(),
            )
        )


@pytest.fixture
def rule(sqlite_engine: Engine) -> Rule:
    """Return a rule of a congregation in which an event happened, a day ago."""
    with Session(sqlite_engine, expire_on_commit=False) as session, session.begin():
        id_ = factories.congregation(session)
        factories.booking(session, id_)
        session.add(
            Event(
                congregation_id=id_,
                type="booking.confirmed",
                booking_id="b1",
                source="api",
                occurred_at=utcnow() - timedelta(days=1),
                created_at=utcnow() - timedelta(days=1),
            )
        )
        return factories.rule(session, id_)


def test_all_is_well_when_nothing_needs_anybody(
    as_viewer: FlaskClient, worker: None, rule: Rule, sqlite_engine: Engine
) -> None:
    with Session(sqlite_engine) as session, session.begin():
        for hours, measure in ((0, Measure.SUCCEEDED), (0, Measure.SKIPPED), (25, 0)):
            hour = utcnow().replace(minute=0, second=0, microsecond=0)
            session.add(
                LaneRollup(
                    lane="executions",
                    span=Span.HOUR,
                    at=hour - timedelta(hours=hours),
                    measure=measure,
                    n=1,
                )
            )
    page = as_viewer.get("/").text
    assert "All is well." in page
    assert "1 execution succeeded in the last 24 hours" in page
    assert 'class="tile"' not in page


def test_each_trouble_has_a_tile_that_links_to_its_rows(
    as_viewer: FlaskClient, rule: Rule, sqlite_engine: Engine
) -> None:
    late = utcnow() - timedelta(minutes=5)
    with Session(sqlite_engine) as session, session.begin():
        for _ in range(3):
            row = factories.execution(
                session, rule, state="failed", created_at=utcnow()
            )
            note(session, row, utcnow())
        factories.execution(session, rule, state="failed")  # long ago
        factories.execution(session, rule, run_at=late)
        factories.job(session, rule, run_at=late)
        session.add(
            LaneSetting(lane="rescue", is_paused=True, paused_by="anna@example.org")
        )
    page = as_viewer.get("/").text
    assert "All is well." not in page
    links = [
        unescape(part.split('"')[0]) for part in page.split('class="tile" href="')[1:]
    ]
    assert len(links) == 6
    assert any(link.startswith("/executions/?state=failed&since=") for link in links)
    assert "/failures/" in links
    assert "/executions/?late=1" in links
    assert "/scheduled/?late=1" in links
    assert "/lanes/rescue" in links
    assert "/lanes/" in links  # no worker
    for link in links:
        assert as_viewer.get(link).status_code == 200, link
    failed = next(link for link in links if "state=failed" in link)
    assert as_viewer.get(failed).text.count('<tr id="execution-') == 3
    assert ">3</span>" in page
    assert page.count('<li id="fails-') == 1


def test_what_else_is_wrong_has_a_tile(
    as_viewer: FlaskClient, worker: None, rule: Rule, sqlite_engine: Engine
) -> None:
    now, of = utcnow(), {"congregation_id": rule.congregation_id}
    with Session(sqlite_engine) as session, session.begin():
        session.get_one(WorkerProcess, "host:7:ab").lanes = {
            lane.name: 1 for lane in LANES if lane.name != "feeds"
        }
        session.add(
            LaneRun(
                lane="rescue",
                trigger=LaneTrigger.CLOCK,
                requested_at=now,
                started_at=now,
                error="It broke in two",
            )
        )
        failed = {"failed_at": now, "error": "x"}
        session.add(DailyRun(**of, lane="retention", **failed))
        campaign = Campaign(
            **of,
            name="Spring",
            starts_on=now.date() - timedelta(days=9),
            ends_on=now.date() - timedelta(days=8),
            missed_at=now,
        )
        session.add(campaign)
        session.flush()
        id_ = campaign.id
    page = as_viewer.get("/").text
    assert "All is well." not in page
    for says in ("It broke in two", "could not be done", "nothing ran when", "Feeds"):
        assert says in page, says
    assert f"/campaigns/{id_}" in page


def test_what_somebody_took_note_of_leaves_the_page_calm(
    as_viewer: FlaskClient, worker: None, rule: Rule, sqlite_engine: Engine
) -> None:
    with Session(sqlite_engine) as session, session.begin():
        row = factories.execution(session, rule, state="failed", created_at=utcnow())
        note(session, row, utcnow() - timedelta(minutes=1))
        ids = session.scalars(select(FailureGroup.id)).all()
        acknowledge(session, ids, Actor("ines@example.org"), now=utcnow())
    page = as_viewer.get("/").text
    assert "All is well." in page
    assert "1 failed</a>, and somebody took note of it" in page


def test_the_next_campaign_and_the_daily_lanes_are_told_of(
    as_viewer: FlaskClient, worker: None, rule: Rule, sqlite_engine: Engine
) -> None:
    today = utcnow().date()
    with Session(sqlite_engine) as session, session.begin():
        for days, begun in ((-3, utcnow()), (5, None), (40, None)):
            session.add(
                Campaign(
                    congregation_id=rule.congregation_id,
                    name=f"C{days}",
                    starts_on=today + timedelta(days=days),
                    ends_on=today + timedelta(days=days + 4),
                    activated_at=begun,
                )
            )
    page = as_viewer.get("/").text
    assert "C-3</a> ends on" in page
    assert page.index("C-3</a>") < page.index("C5</a> begins on")
    assert page.count("looks at every congregation") == 3


def test_a_worker_that_fell_silent_is_noticed(
    as_viewer: FlaskClient, rule: Rule, sqlite_engine: Engine
) -> None:
    with Session(sqlite_engine) as session, session.begin():
        session.add(
            WorkerProcess(
                id="a",
                hostname="a",
                pid=1,
                started_at=utcnow(),
                heartbeat_at=utcnow() - timedelta(seconds=70),
            )
        )
    assert "Nothing is done until one starts" in as_viewer.get("/").text


def test_what_comes_next_is_soonest_first_with_retries_among_jobs(
    as_viewer: FlaskClient, worker: None, rule: Rule, sqlite_engine: Engine
) -> None:
    with Session(sqlite_engine) as session, session.begin():
        jobs = []
        for hours in range(12, 0, -1):
            due = utcnow() + timedelta(hours=hours)
            jobs.append(factories.job(session, rule, due_at=due, run_at=due).id)
        soon = utcnow() + timedelta(minutes=30)
        retry = factories.execution(session, rule, run_at=soon).id
    page = as_viewer.get("/").text
    assert page.count('<li id="coming-') == 8
    first = page.index(f'id="coming-{retry}"')
    assert first < page.index(f'id="coming-{jobs[-1]}"')
    assert f'id="coming-{jobs[0]}"' not in page
    assert "Jörg 🎙</a></small>" in page


def test_what_just_happened_is_newest_first(
    as_viewer: FlaskClient, worker: None, rule: Rule, sqlite_engine: Engine
) -> None:
    with Session(sqlite_engine) as session, session.begin():
        made = factories.execution(
            session, rule, state="succeeded", created_at=utcnow()
        ).id
    page = as_viewer.get("/").text.split("What just happened")[1]
    assert page.index(f"recent-{made}") < page.index("Booking confirmed")


def test_a_new_installation_says_how_to_begin(
    as_admin: FlaskClient, sqlite_engine: Engine
) -> None:
    page = as_admin.get("/").text
    assert "Three steps to begin" in page
    assert "/congregations/new" in page
    assert "http://localhost/api/v1/events" in page
    with Session(sqlite_engine) as session, session.begin():
        id_ = factories.congregation(session)
    page = as_admin.get("/").text
    assert "/congregations/new" not in page
    assert 'href="/rules/new"' in page
    with Session(sqlite_engine) as session, session.begin():
        factories.rule(session, id_)
        session.add(
            ApiToken(
                congregation_id=id_,
                name="Website",
                lookup="x",
                digest="x",
                last4="abcd",
                scopes="events:write",
                created_by="x",
            )
        )
    page = as_admin.get("/").text
    assert page.count("data-done") == 3


def test_the_steps_are_gone_once_an_event_came_in(
    as_admin: FlaskClient, rule: Rule
) -> None:
    assert "Three steps" not in as_admin.get("/").text


def test_the_fragment_is_a_part_of_the_page(as_viewer: FlaskClient, rule: Rule) -> None:
    fragment = as_viewer.get("/", headers=HTMX).text
    assert "<html" not in fragment
    assert fragment.strip() in as_viewer.get("/").text


def test_nothing_of_another_congregation_is_seen_or_counted(
    log_in: Callable[..., FlaskClient],
    worker: None,
    rule: Rule,
    congregation: Congregation,
    sqlite_engine: Engine,
) -> None:
    late = utcnow() - timedelta(minutes=5)
    with Session(sqlite_engine) as session, session.begin():
        factories.execution(session, rule, state="failed", created_at=utcnow())
        factories.execution(session, rule, state="quarantined")
        factories.execution(session, rule, run_at=late)
        factories.job(session, rule, run_at=late)
    browser = log_in("viewer", sees_all=False, congregations=[congregation.id])
    page = browser.get("/").text
    assert "All is well." in page
    assert "Bonifatius" not in page
    assert "Welcome" not in page
    assert "Booking confirmed" not in page


def test_names_are_shown_as_text(
    as_viewer: FlaskClient, rule: Rule, sqlite_engine: Engine
) -> None:
    with Session(sqlite_engine) as session, session.begin():
        row = session.get_one(Rule, rule.id)
        row.name = "<script>alert(1)</script>"
        factories.job(session, row)
    assert "<script>alert(1)" not in as_viewer.get("/").text


def test_more_rows_cost_no_more_statements(
    as_viewer: FlaskClient, rule: Rule, sqlite_engine: Engine
) -> None:
    def cost() -> int:
        with statements() as seen:
            as_viewer.get("/")
        return len(seen)

    few = cost()
    with Session(sqlite_engine) as session, session.begin():
        for _ in range(40):
            factories.execution(session, rule)
            factories.job(session, rule)
    assert cost() == few
