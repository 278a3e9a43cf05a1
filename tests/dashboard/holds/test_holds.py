"""The pages of holds: set, told on every page, lifted with a plan, each by whom may."""

from __future__ import annotations

import re
from collections.abc import Callable
from uuid import UUID

import pytest
from sqlalchemy import Engine, select
from sqlalchemy.orm import Session

from dashboard.holds import views
from tasks.db import sessions
from tasks.holds.setting import What, hold
from tasks.models import (
    Execution,
    ExecutionState,
    Hold,
    HoldKind,
    Operation,
    Reason,
    Rule,
)
from tasks.operations.audit import Actor
from tests.dashboard.conftest import Browser
from tests.support import factories
from tests.support.factories import NOW

ANNA = Actor("anna@example.org")
#: What the form sends when nothing but the reason is filled in.
ALL = {"congregation_id": "", "channel": "", "why": "Mail server moves", "end": ""}


@pytest.fixture(autouse=True)
def _at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(views, "FRESH_SECONDS", 0)


@pytest.fixture
def rule_id(sqlite_engine: Engine) -> UUID:
    """Return a rule with two executions that are held."""
    with sessions(sqlite_engine).begin() as session:
        tenant = factories.congregation(session, "a")
        factories.booking(session, tenant)
        rule = factories.rule(session, tenant)
        for _ in range(2):
            factories.execution(session, rule, reason=Reason.HELD)
        return rule.id


def _text(browser: Browser, path: str) -> str:
    return browser.get(path).get_data(as_text=True)


def _only(engine: Engine) -> Hold:
    with Session(engine) as session:
        return session.scalars(select(Hold).where(Hold.lifted_at.is_(None))).one()


def _lift(browser: Browser, id_: UUID, **form: str) -> tuple[int, str]:
    page = _text(browser, f"/holds/{id_}")
    hidden = dict(re.findall(r'name="(high_water|operation)" value="([^"]+)"', page))
    answer = browser.post(f"/holds/{id_}/lift", data=hidden | form)
    return answer.status_code, answer.get_data(as_text=True)


def test_everything_is_held_and_every_page_says_so(
    as_operator: Browser, sqlite_engine: Engine, rule_id: UUID
) -> None:
    answer = as_operator.post("/holds/", data=ALL | {"end": "4h"})

    assert answer.status_code == 303
    row = _only(sqlite_engine)
    assert (row.congregation_id, row.channel, row.why) == (
        None,
        None,
        "Mail server moves",
    )
    for path in ("/", "/rules/", "/members/", f"/rules/{rule_id}"):
        page = _text(as_operator, path)
        assert "Held: everything that leaves, of all congregations." in page, path
        assert "operator@example.org says: “Mail server moves”" in page
        assert f'href="/holds/{row.id}"' in page


def test_a_rule_is_held_from_its_own_page(
    as_operator: Browser, sqlite_engine: Engine, rule_id: UUID
) -> None:
    assert f'href="/holds/new?rule={rule_id}"' in _text(
        as_operator, f"/rules/{rule_id}"
    )
    assert "Hold the rule “Welcome”" in _text(as_operator, f"/holds/new?rule={rule_id}")
    form = {"rule_id": str(rule_id), "congregation_id": "", "why": "Wrong text"}

    answer = as_operator.post("/holds/", data=form | {"channel": "email", "end": ""})

    assert answer.status_code == 303
    assert "Mails of the rule “Welcome”" in _text(as_operator, answer.location)
    again = as_operator.post("/holds/", data=form | {"channel": "email", "end": ""})
    assert again.status_code == 422
    assert "This is held already: " in again.get_data(as_text=True)


@pytest.mark.parametrize(
    ("form", "sentence"),
    [
        ({"why": ""}, "Say why"),
        ({"why": "x" * 301}, "at most 300 are kept"),
        ({"why": "x", "channel": "pigeon"}, "Choose what is held"),
        ({"why": "x", "congregation_id": "7"}, "Choose a congregation"),
        ({"why": "x", "end": "9y"}, "Choose an end"),
    ],
)
def test_a_form_that_says_too_little_is_told_what_is_missing(
    as_operator: Browser, form: dict[str, str], sentence: str
) -> None:
    answer = as_operator.post("/holds/", data=ALL | form)
    assert answer.status_code == 422
    assert sentence in answer.get_data(as_text=True)


@pytest.mark.parametrize("rule", ["seven", str(UUID(int=7))])
def test_a_rule_that_is_not_there_cannot_be_held(
    as_operator: Browser, rule: str
) -> None:
    answer = as_operator.get(f"/holds/new?rule={rule}")
    assert answer.status_code in {400, 404, 422}
    assert "rule" in answer.get_data(as_text=True)


def test_lifting_shows_samples_and_begins_the_plan(
    as_operator: Browser, sqlite_engine: Engine, rule_id: UUID
) -> None:
    as_operator.post("/holds/", data=ALL)
    id_ = _only(sqlite_engine).id
    page = _text(as_operator, f"/holds/{id_}")
    assert "Samples of what would go out" in page
    assert "Drop all 2" in page

    for form, sentence in (
        ({}, "Choose what becomes of what waits."),
        ({"plan": "spread", "minutes": "many"}, "Give a number of minutes"),
        ({"plan": "spread", "minutes": "9999"}, "Give a number of minutes"),
    ):
        status, told = _lift(as_operator, id_, **form)
        assert (status, sentence in told) == (422, True), form

    status, _ = _lift(as_operator, id_, plan="drop")

    assert status == 303
    with Session(sqlite_engine) as session:
        operation = session.scalars(select(Operation)).one()
        states = set(session.scalars(select(Execution.state)))
    assert states == {ExecutionState.CANCELLED}
    assert "Drop what waited" in _text(as_operator, f"/operations/{operation.id}")
    told = _text(as_operator, "/holds/")
    assert "Nothing is held" in told
    assert "hold-banner" not in told
    assert "operator@example.org" in told


def test_only_who_sees_all_lifts_what_holds_all(
    log_in: Callable[..., Browser], sqlite_engine: Engine, rule_id: UUID
) -> None:
    with sessions(sqlite_engine).begin() as session:
        tenant = session.scalars(select(Execution.congregation_id)).first()
        assert tenant
        everything = hold(session, What(), "All", ANNA, now=NOW).id
        own = hold(session, What(tenant), "Own", ANNA, now=NOW).id
    one = log_in("operator", sees_all=False, congregations=[tenant])

    assert "of all congregations may lift it" in _text(one, f"/holds/{everything}")
    assert one.post(f"/holds/{everything}/lift", data={}).status_code == 403
    status, _ = _lift(one, own, plan="send")
    assert status == 303
    assert one.post("/holds/", data=ALL).status_code == 422


def test_the_volume_of_a_rule_is_limited_and_given_back_to_its_history(
    as_operator: Browser, sqlite_engine: Engine, rule_id: UUID
) -> None:
    path = f"/holds/volume/{rule_id}"
    assert "it is not known yet what is usual" in _text(as_operator, path)
    for form, sentence in (
        ({}, "Choose one of the three."),
        ({"mode": "number", "hold_above": "²"}, "Give a number of executions an hour"),
        ({"mode": "number", "hold_above": "0"}, "Give a number of executions an hour"),
    ):
        answer = as_operator.post(path, data=form)
        assert (answer.status_code, sentence in answer.text) == (422, True)
    for form, sentence in (
        ({"mode": "number", "hold_above": "50"}, "it is held above"),
        ({"mode": "never"}, "it is never held"),
        ({"mode": "usual"}, "it is not known yet"),
    ):
        assert as_operator.post(path, data=form).status_code == 303
        assert sentence in _text(as_operator, path)
    assert as_operator.post(f"/holds/volume/{UUID(int=7)}").status_code in {404, 422}


def test_a_rule_that_does_too_much_is_told_of_and_approved(
    as_operator: Browser, sqlite_engine: Engine, rule_id: UUID
) -> None:
    with sessions(sqlite_engine).begin() as session:
        rule = session.get_one(Rule, rule_id)
        row = Hold(
            kind=HoldKind.VOLUME,
            congregation_id=rule.congregation_id,
            rule_id=rule_id,
            why="900 executions within an hour; the busiest hour before had 10.",
            held_by="Carillon",
            n_seen=900,
            n_usual=10,
        )
        session.add(row)
        session.flush()
        id_ = row.id
    banner = _text(as_operator, "/")
    assert "Unusual volume: everything of the rule “Welcome”." in banner
    page = _text(as_operator, f"/holds/{id_}")
    assert "the busiest hour before had 10" in page
    assert "Approve, or drop" in page

    status, _ = _lift(as_operator, id_, plan="send")

    assert status == 303
    with Session(sqlite_engine) as session:
        assert session.scalars(select(Execution.reason)).all() == [None, None]
