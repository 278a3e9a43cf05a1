"""The addresses for schedulers outside: who may call, and what they do."""

from __future__ import annotations

from dataclasses import replace
from datetime import date, timedelta
from typing import Any

import pytest
from flask import Flask
from sqlalchemy import Engine, func, select
from sqlalchemy.orm import Session

from tasks.clock import utcnow
from tasks.models import Congregation, LaneRun, LaneSetting, LaneTrigger, Member
from tests.dashboard.conftest import Browser
from tests.support import people_rows

SECRET = "a secret of enough characters"
PATHS = ("/cron/retention", "/cron/process-notifications")


@pytest.fixture
def caller(app: Flask) -> Browser:
    """Return a client of a console whose secret is set; it has no session."""
    app.config["CARILLON"] = replace(app.config["CARILLON"], cron_secret=SECRET)
    made = app.test_client()
    assert isinstance(made, Browser)
    return made


def bearer(token: str = SECRET) -> dict[str, str]:
    return {"Authorization": f"Bearer {token}"}


def left(engine: Engine, congregation: Congregation) -> None:
    with Session(engine) as session, session.begin():
        people_rows.left(session, congregation.id, date(2020, 1, 31))


def n_erased(engine: Engine) -> int:
    gone = select(func.count()).where(Member.anonymised_at.is_not(None))
    with Session(engine) as session:
        return session.scalar(gone) or 0


@pytest.mark.parametrize("method", ["get", "post"])
def test_who_knows_the_secret_has_members_forgotten_at_once(
    caller: Browser, congregation: Congregation, sqlite_engine: Engine, method: str
) -> None:
    for _ in range(2):  # the second one on the same day as well
        left(sqlite_engine, congregation)
        answer = caller.open("/cron/retention", method=method, headers=bearer())
        assert answer.status_code == 200
        told = answer.get_json()
        assert told["ok"] is True
        assert told["anonymised"] == 1
        assert (told["tokens"], told["consents"], told["notifications"]) == (0, 0, 0)
        assert (told["more"], told["paused"], told["failed"]) == (False, [], [])
    assert n_erased(sqlite_engine) == 2
    with Session(sqlite_engine) as session:
        run = session.scalars(select(LaneRun).filter_by(lane="retention")).first()
        assert run is not None
        assert run.trigger is LaneTrigger.CRON


def test_notifications_that_settled_become_mails(
    caller: Browser, congregation: Congregation, sqlite_engine: Engine
) -> None:
    with Session(sqlite_engine) as session, session.begin():
        soon = utcnow().date() - timedelta(days=175)
        people_rows.whole(session, congregation.id, soon)
    assert caller.post("/cron/retention", headers=bearer()).get_json()["noticed"] == 1
    answer = caller.get("/cron/process-notifications", headers=bearer())
    assert (answer.status_code, answer.get_json()) == (200, {"ok": True, "mails": 1})


@pytest.mark.parametrize("path", PATHS)
def test_everybody_else_is_refused_in_one_way(
    caller: Browser, congregation: Congregation, sqlite_engine: Engine, path: str
) -> None:
    left(sqlite_engine, congregation)
    other = "x" * len(SECRET)
    for headers in (
        {},
        bearer(""),
        bearer(SECRET[:-1]),
        bearer(SECRET + "x"),
        bearer(other),
        bearer("é" * len(SECRET)),
        bearer("\x80\xff"),
        {"Authorization": SECRET},
        {"Authorization": f"Basic {SECRET}"},
        {"Authorization": f"Bearer{SECRET}"},
        {"Authorization": "Bearer"},
    ):
        refused(caller.get(path, headers=headers))
    assert n_erased(sqlite_engine) == 0


def refused(answer: Any) -> None:
    assert answer.status_code == 401
    assert answer.get_json()["error"]["code"] == "unauthorized"
    assert answer.headers["WWW-Authenticate"] == 'Bearer realm="cron"'


@pytest.mark.parametrize("path", PATHS)
def test_without_the_setting_nobody_may(client: Browser, path: str) -> None:
    for token in ("", "None", SECRET):
        refused(client.post(path, headers=bearer(token)))


@pytest.mark.parametrize("path", PATHS)
def test_other_methods_do_nothing(
    caller: Browser, congregation: Congregation, sqlite_engine: Engine, path: str
) -> None:
    left(sqlite_engine, congregation)
    for method in ("HEAD", "PUT", "PATCH", "DELETE", "OPTIONS"):
        answer = caller.open(path, method=method, headers=bearer())
        assert answer.status_code == 405, method
        assert answer.headers["Allow"] == "GET, POST"
        assert answer.is_json
    assert n_erased(sqlite_engine) == 0


def test_a_paused_lane_stays_paused_and_says_so(
    caller: Browser, congregation: Congregation, sqlite_engine: Engine
) -> None:
    left(sqlite_engine, congregation)
    with Session(sqlite_engine) as session, session.begin():
        session.add(LaneSetting(lane="retention", is_paused=True))
    told = caller.get("/cron/retention", headers=bearer()).get_json()
    assert (told["ok"], told["paused"]) == (True, ["retention"])
    assert n_erased(sqlite_engine) == 0


def test_many_calls_are_slowed_down(caller: Browser) -> None:
    answers = [caller.get(PATHS[1], headers=bearer("wrong")) for _ in range(31)]
    assert answers[-1].status_code == 429
    assert answers[-1].get_json()["error"]["code"] == "too_many_requests"
