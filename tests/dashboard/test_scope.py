from __future__ import annotations

from collections.abc import Callable

import pytest
from flask import Flask
from sqlalchemy import Engine, select
from sqlalchemy.orm import Session

from dashboard.extensions import db
from dashboard.scope import current_congregations
from tasks.config import Config
from tasks.models import Congregation
from tests.dashboard.conftest import Browser

LogIn = Callable[..., Browser]


@pytest.fixture
def other(sqlite_engine: Engine) -> Congregation:
    row = Congregation(slug="st-john", name="St John")
    with Session(sqlite_engine, expire_on_commit=False) as session, session.begin():
        session.add(row)
    return row


@pytest.fixture
def app(config: Config, make_app: Callable[[Config], Flask]) -> Flask:
    """Return a console of its own, since it gets one page more."""
    return make_app(config)


@pytest.fixture
def probe(app: Flask, congregation: Congregation, other: Congregation) -> None:
    """Put a page into the console that tells what a request sees."""

    def seen() -> dict[str, list[str]]:
        statement = select(Congregation.slug).order_by(Congregation.slug)
        return {
            "sees": list(db.session().scalars(statement)),
            "may_choose": [one.slug for one in current_congregations()],
        }

    app.add_url_rule("/probe", "probe", seen)


@pytest.mark.usefixtures("probe")
def test_whoever_sees_all_sees_all_and_may_choose(log_in: LogIn) -> None:
    browser = log_in("viewer")

    assert browser.get("/probe").get_json()["sees"] == ["st-john", "st-mary"]

    chosen = browser.get("/probe?congregation=st-john").get_json()
    assert chosen == {"sees": ["st-john"], "may_choose": ["st-john", "st-mary"]}
    assert browser.get("/probe").get_json()["sees"] == ["st-john"]  # it is kept

    assert len(browser.get("/probe?congregation=").get_json()["sees"]) == 2


@pytest.mark.usefixtures("probe")
def test_whoever_was_given_one_sees_that_one(
    log_in: LogIn, congregation: Congregation
) -> None:
    browser = log_in("operator", sees_all=False, congregations=[congregation.id])

    seen = {"sees": ["st-mary"], "may_choose": ["st-mary"]}
    assert browser.get("/probe").get_json() == seen
    assert browser.get("/probe?congregation=st-john").get_json() == seen


@pytest.mark.usefixtures("probe")
def test_whoever_was_given_none_sees_none(log_in: LogIn) -> None:
    browser = log_in("viewer", sees_all=False)

    assert browser.get("/probe").get_json() == {"sees": [], "may_choose": []}


def test_without_a_request_the_session_sees_nothing(
    app: Flask, congregation: Congregation
) -> None:
    with app.app_context():
        assert db.session().scalars(select(Congregation)).all() == []
