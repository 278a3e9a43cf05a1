"""The lanes' pages: what they say, who may press what, what it leaves behind."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from flask.testing import FlaskClient
from sqlalchemy import Engine, select
from sqlalchemy.orm import Session

from tasks.clock import utcnow
from tasks.models import (
    AuditEntry,
    Base,
    Congregation,
    LaneHeartbeat,
    LaneRun,
    LaneSetting,
    LaneTrigger,
    WorkerProcess,
)
from tasks.registry import LANES
from tests.support import factories

HTMX = {"HX-Request": "true"}


@pytest.fixture
def add(sqlite_engine: Engine) -> Callable[..., None]:
    def rows(*rows: Base) -> None:
        with Session(sqlite_engine) as session, session.begin():
            session.add_all(rows)

    return rows


def _worker(**values: Any) -> WorkerProcess:
    defaults: dict[str, Any] = {
        "id": "host:7:ab",
        "hostname": "host",
        "pid": 7,
        "lanes": {lane.name: lane.workers for lane in LANES},
        "started_at": utcnow() - timedelta(hours=1),
        "heartbeat_at": utcnow(),
    }
    return WorkerProcess(**defaults | values)


def _run(**values: Any) -> LaneRun:
    began = utcnow() - timedelta(minutes=2)
    defaults: dict[str, Any] = {
        "lane": "executions",
        "trigger": LaneTrigger.DOORBELL,
        "requested_at": began,
        "started_at": began,
        "ended_at": began + timedelta(seconds=3),
        "moved": {"succeeded": 12, "retried": 1},
        "n_moved": 13,
    }
    return LaneRun(**defaults | values)


def test_every_lane_of_the_registry_has_its_row(as_viewer: FlaskClient) -> None:
    page = as_viewer.get("/lanes/").text
    for lane in LANES:
        assert f'id="lane-{lane.name}"' in page
        assert lane.purpose in page


def test_a_lane_without_a_worker_says_so(
    as_viewer: FlaskClient, add: Callable[..., None]
) -> None:
    add(_worker(heartbeat_at=utcnow() - timedelta(seconds=61)))
    page = as_viewer.get("/lanes/executions").text
    assert "No worker" in page
    assert "carillon worker" in page


def test_a_lane_at_work_shows_heartbeats_runs_and_the_next_sweep(
    as_viewer: FlaskClient, add: Callable[..., None]
) -> None:
    beat = LaneHeartbeat(
        lane="executions", worker="host:7:ab", swept_at=utcnow(), n_sweeps=4321
    )
    add(_worker(), beat, _run())
    page = as_viewer.get("/lanes/executions").text
    assert "Running" in page
    assert "No worker" not in page
    assert "sweeps since its start" in page
    assert "1 retried · 12 succeeded" in page
    assert "doorbell" in page
    assert "3\xa0s" in page


def test_the_backlog_is_counted_with_its_oldest_row(
    as_viewer: FlaskClient, sqlite_engine: Engine
) -> None:
    with Session(sqlite_engine) as session, session.begin():
        rule = factories.rule(session, factories.congregation(session))
        for minutes in (5, 90):
            due = utcnow() - timedelta(minutes=minutes)
            factories.execution(session, rule, due_at=due, run_at=due)
    page = as_viewer.get("/lanes/executions").text
    assert "2 due" in page
    assert "1\xa0h ago" in page


def test_a_sweep_asked_for_is_shown_as_waiting_then_with_its_result(
    as_operator: FlaskClient, sqlite_engine: Engine
) -> None:
    answer = as_operator.post("/lanes/executions/sweep", follow_redirects=True)
    assert "Asked for." in answer.text
    assert "asked for by operator@example.org" in answer.text
    assert "Waiting" in answer.text
    with Session(sqlite_engine) as session, session.begin():
        run = session.scalars(select(LaneRun)).one()
        run.started_at = run.requested_at
        run.ended_at = run.requested_at + timedelta(milliseconds=40)
    fragment = as_operator.get("/lanes/executions", headers=HTMX).text
    assert "nothing was due" in fragment
    assert "40\xa0ms" in fragment
    assert "Waiting</span>" not in fragment


def test_a_second_request_and_one_of_a_paused_lane_are_refused_in_words(
    as_operator: FlaskClient,
) -> None:
    as_operator.post("/lanes/executions/sweep")
    again = as_operator.post("/lanes/executions/sweep", follow_redirects=True)
    assert "was asked for and waits for a worker" in again.text
    as_operator.post("/lanes/rescue/pause")
    paused = as_operator.post("/lanes/rescue/sweep", follow_redirects=True)
    assert "Resume it, then ask for a sweep." in paused.text


def test_pausing_and_resuming_is_shown_with_who_and_audited(
    as_operator: FlaskClient, sqlite_engine: Engine
) -> None:
    paused = as_operator.post("/lanes/executions/pause", follow_redirects=True)
    assert "by operator@example.org" in paused.text
    assert "/lanes/executions/resume" in paused.text
    assert "/lanes/executions/sweep" not in paused.text
    assert "Paused" in as_operator.get("/lanes/").text
    resumed = as_operator.post("/lanes/executions/resume", follow_redirects=True)
    assert "/lanes/executions/pause" in resumed.text
    with Session(sqlite_engine) as session:
        entries = session.scalars(
            select(AuditEntry).where(AuditEntry.subject_kind == "lane")
        ).all()
    assert {entry.action for entry in entries} == {"lane.paused", "lane.resumed"}
    assert {entry.actor for entry in entries} == {"operator@example.org"}


def test_the_number_of_workers_is_saved_and_can_go_back_to_the_default(
    as_operator: FlaskClient, sqlite_engine: Engine
) -> None:
    as_operator.post("/lanes/rescue/workers", data={"workers": "4"})
    assert 'value="4"' in as_operator.get("/lanes/rescue").text
    with Session(sqlite_engine) as session:
        assert session.get_one(LaneSetting, "rescue").workers == 4
    as_operator.post("/lanes/rescue/workers", data={"workers": ""})
    with Session(sqlite_engine) as session:
        assert session.get_one(LaneSetting, "rescue").workers is None


@pytest.mark.parametrize("text", ["0", "33", "-1", "three", "1e3"])
def test_a_wrong_number_of_workers_comes_back_with_a_sentence(
    as_operator: FlaskClient, sqlite_engine: Engine, text: str
) -> None:
    page = as_operator.post("/lanes/rescue/workers", data={"workers": text})
    assert page.status_code == 422
    assert "field-error" in page.text
    assert 'hx-get="/lanes/rescue"' in page.text, "it goes on refreshing itself"
    with Session(sqlite_engine) as session:
        assert session.get(LaneSetting, "rescue") is None


def test_a_viewer_sees_everything_and_presses_nothing(as_viewer: FlaskClient) -> None:
    page = as_viewer.get("/lanes/executions").text
    assert "Sweep now" not in page
    assert "/lanes/executions/pause" not in page
    for verb in ("pause", "resume", "workers", "sweep"):
        assert as_viewer.post(f"/lanes/executions/{verb}").status_code == 403


def test_an_operator_of_one_congregation_may_ask_but_not_pause(
    log_in: Callable[..., FlaskClient],
    congregation: Congregation,
    add: Callable[..., None],
) -> None:
    add(_run(error="ValueError: of somebody else's row", moved={}, n_moved=0))
    browser = log_in("operator", sees_all=False, congregations=[congregation.id])
    refused = browser.post("/lanes/executions/pause")
    assert refused.status_code == 403
    assert "only operators of all congregations" in refused.text
    assert browser.post("/lanes/executions/workers").status_code == 403
    assert browser.post("/lanes/executions/sweep").status_code == 303
    page = browser.get("/lanes/executions").text
    assert "/lanes/executions/pause" not in page
    assert "somebody else" not in page


def test_an_operator_of_one_congregation_sees_only_its_backlog(
    log_in: Callable[..., FlaskClient],
    congregation: Congregation,
    sqlite_engine: Engine,
) -> None:
    with Session(sqlite_engine) as session, session.begin():
        rule = factories.rule(session, factories.congregation(session))
        factories.execution(session, rule)
    browser = log_in("operator", sees_all=False, congregations=[congregation.id])
    waiting = re.compile(r"\d+ due\b")
    assert not waiting.search(browser.get("/lanes/", headers=HTMX).text)
    everybody = log_in("admin")
    assert waiting.search(everybody.get("/lanes/", headers=HTMX).text)


def test_an_unknown_lane_is_not_found(as_operator: FlaskClient) -> None:
    assert as_operator.get("/lanes/nothing").status_code == 404
    for verb in ("pause", "resume", "workers", "sweep"):
        assert as_operator.post(f"/lanes/nothing/{verb}").status_code == 404


@pytest.mark.parametrize("path", ["/lanes/", "/lanes/executions"])
def test_the_fragment_is_a_part_of_the_page(
    as_viewer: FlaskClient, add: Callable[..., None], path: str
) -> None:
    add(_run())
    fragment = as_viewer.get(path, headers=HTMX).text
    assert "<html" not in fragment
    assert fragment.strip() in as_viewer.get(path).text


def test_runs_are_paged_and_an_error_is_shown_as_text(
    as_viewer: FlaskClient, add: Callable[..., None]
) -> None:
    long_ago = utcnow() - timedelta(hours=5)
    add(
        *(
            _run(requested_at=long_ago + timedelta(seconds=n), n_moved=n)
            for n in range(60)
        ),
        _run(lane="rescue"),
        _run(requested_at=utcnow(), error="<script>alert(1)</script>"),
    )
    page = as_viewer.get("/lanes/executions").text
    assert page.count('id="run-') == 50
    assert "&lt;script&gt;" in page
    older = page.split('rel="next" href="')[1].split('"')[0].replace("&amp;", "&")
    assert as_viewer.get(older).text.count('id="run-') == 11


def test_a_pause_says_what_it_means_and_resuming_offers_a_plan(
    as_operator: Any, sqlite_engine: Engine, add: Callable[..., None]
) -> None:
    with Session(sqlite_engine) as session, session.begin():
        tenant = factories.congregation(session, "a")
        factories.booking(session, tenant)
        rule = factories.rule(session, tenant)
        factories.execution(session, rule)
    add(_run(n_moved=1_240))
    page = as_operator.get("/lanes/executions").text
    assert "It moved 1\u202f240 rows in the last hour." in page
    assert "is dropped if it is of no use any more" in page
    as_operator.post("/lanes/executions/pause")
    assert "1 overdue: choose" in as_operator.get("/lanes/executions").text
    page = as_operator.get("/lanes/executions/resume").text
    assert "Drop the one: nothing is sent for it" in page
    hidden = dict(re.findall(r'name="(high_water|operation)" value="([^"]+)"', page))
    for form, sentence in (
        ({}, "Choose what becomes of what waits."),
        ({"plan": "spread", "minutes": "-1"}, "Give a number of minutes"),
    ):
        refused = as_operator.post("/lanes/executions/resume", data=hidden | form)
        assert (refused.status_code, sentence in refused.text) == (422, True)

    form = hidden | {"plan": "drop"}
    done = as_operator.post(
        "/lanes/executions/resume", data=form, follow_redirects=True
    )

    assert "Drop what waited" in done.text
    again = as_operator.post(
        "/lanes/executions/resume", data=form, follow_redirects=True
    )
    assert "not paused any more" in again.text
    assert "Nothing is overdue" in as_operator.get("/lanes/executions/resume").text
    assert as_operator.get("/lanes/rescue/resume").status_code == 404


def test_runs_of_all_lanes_are_searched_on_one_page(
    as_viewer: FlaskClient,
    sqlite_engine: Engine,
    log_in: Callable[..., FlaskClient],
) -> None:
    with Session(sqlite_engine) as session, session.begin():
        for lane, error in (("feeds", None), ("email", "Boom at 7")):
            ended = {"started_at": utcnow(), "ended_at": utcnow(), "error": error}
            session.add(LaneRun(lane=lane, trigger=LaneTrigger.CLOCK, **ended))
    page = as_viewer.get("/lanes/runs").text
    assert 'href="/lanes/feeds"' in page
    assert "Boom at 7" in page
    failed = as_viewer.get("/lanes/runs?q=state:failed").text
    assert 'href="/lanes/feeds"' not in failed
    assert "No run matches" in as_viewer.get("/lanes/runs?q=lane:janitor").text
    stranger = log_in("viewer", email="new@example.org", sees_all=False)
    assert "Boom at 7" not in stranger.get("/lanes/runs").text
