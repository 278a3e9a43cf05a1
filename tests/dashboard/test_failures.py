"""Failures by cause: what an operator sees, and what each button does."""

from __future__ import annotations

import html
import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import timedelta
from uuid import UUID

import pytest
from bs4 import BeautifulSoup
from flask import Flask
from sqlalchemy import Engine, select
from sqlalchemy.orm import Session

from dashboard.failures.queries import line, page
from tasks.clock import utcnow
from tasks.db import Begin
from tasks.failures.noting import note_retried
from tasks.models import (
    Congregation,
    Delivery,
    DeliveryState,
    Endpoint,
    Event,
    Execution,
    ExecutionState,
    FailedExecution,
    FailureGroup,
    Reason,
    Rule,
    new_id,
)
from tests.dashboard.conftest import Browser
from tests.support import factories
from tests.support.confirming import confirm
from tests.support.factories import NOW
from tests.support.failures import note, note_delivery
from tests.support.statements import statements
from tests.support.webhooks import webhooks

_FRESH = {"populate_existing": True}
LATER = NOW + timedelta(hours=1)


@pytest.fixture
def session(sqlite_engine: Engine) -> Iterator[Session]:
    """Return a session; whoever has looked gives its transaction back."""
    with Session(sqlite_engine, expire_on_commit=False) as opened:
        yield opened


@pytest.fixture
def rule(session: Session, congregation: Congregation) -> Rule:
    made = factories.rule(session, congregation.id)
    session.commit()
    return made


@pytest.fixture
def fail(session: Session, rule: Rule) -> Callable[..., Execution]:
    """Return a function that adds a failed execution, a minute ago."""

    def add(error: str = "550 no such box", **values: object) -> Execution:
        at = utcnow() - timedelta(minutes=1)
        row = factories.execution(
            session,
            rule,
            state=ExecutionState.FAILED,
            error=error,
            reason=Reason.REFUSED,
            settled_at=at,
            created_at=at,
            **values,
        )
        note(session, row, at)
        session.commit()
        return row

    return add


def _group(session: Session) -> FailureGroup:
    row = session.scalars(select(FailureGroup).execution_options(**_FRESH)).one()
    session.commit()
    return row


def _ids(session: Session) -> list[UUID]:
    """Return the groups' ids in the order of their causes."""
    ids = session.scalars(select(FailureGroup.id).order_by(FailureGroup.cause)).all()
    session.commit()
    return list(ids)


def _address(pattern: str, page: str) -> str:
    found = re.search(pattern, page)
    assert found is not None, pattern
    return html.unescape(found[1])


def _states(session: Session) -> dict[UUID, ExecutionState]:
    rows = session.execute(select(Execution.id, Execution.state)).all()
    session.commit()
    return {row.id: row.state for row in rows}


def _text(browser: Browser, path: str, status: int = 200) -> str:
    answer = browser.get(path)
    assert answer.status_code == status, answer.get_data(as_text=True)
    return answer.get_data(as_text=True)


def test_what_failed_alike_is_one_line_with_its_number(
    as_viewer: Browser, fail: Callable[..., Execution], session: Session
) -> None:
    for n in range(3):
        fail(f"550 no such box ({n + 10})", recipient=f"g{n}@example.org")
    shown = _text(as_viewer, "/failures/")
    assert shown.count('id="failure-') == 1
    assert "550 no such box (…)" in BeautifulSoup(shown, "html.parser").get_text()
    assert "3 failures in the last 48 hours" in shown
    assert "Acknowledge selected" not in shown, "a viewer only looks"
    detail = _text(as_viewer, f"/failures/{_group(session).id}")
    assert [f"g{n}@example.org" in detail for n in range(3)] == [True] * 3


def test_one_failure_leads_to_those_like_it(
    as_viewer: Browser, fail: Callable[..., Execution], session: Session
) -> None:
    row = fail()
    alone = _text(as_viewer, f"/executions/{row.id}")
    assert "Nothing else failed for this reason." in alone
    fail()
    shown = _text(as_viewer, f"/executions/{row.id}")
    assert "1 other failure for this reason" in shown
    assert f"/failures/{_group(session).id}" in shown


def test_a_group_is_retried_as_one(
    as_operator: Browser, fail: Callable[..., Execution], session: Session
) -> None:
    rows = [fail(), fail()]
    other = fail("421 too busy")
    _, id_ = _ids(session)
    asked = _text(as_operator, f"/failures/{id_}/retry")
    assert "Retry 2 executions" in asked
    fields = {
        "high_water": utcnow().isoformat(),
        "operation": str(new_id()),
        "why": "the box is back",
    }
    answer = as_operator.post(f"/failures/{id_}/retry", data=fields)
    assert answer.status_code == 303
    states = _states(session)
    assert [states[r.id] for r in rows] == [ExecutionState.PENDING] * 2
    assert states[other.id] is ExecutionState.FAILED
    detail = _text(as_operator, f"/failures/{id_}")
    assert "All of it was queued again" in detail
    assert str(id_) not in _text(as_operator, "/failures/")


def test_taking_note_makes_it_quiet_until_it_fails_again(
    as_operator: Browser, fail: Callable[..., Execution], session: Session
) -> None:
    fail()
    id_ = _group(session).id
    path = f"/failures/{id_}"
    answer = as_operator.post(f"{path}/acknowledge", data={"note": "The host moves"})
    assert answer.status_code == 303
    assert "No failure asks for anybody" in _text(as_operator, "/failures/")
    assert "The host moves" in _text(as_operator, "/failures/?show=acknowledged")
    row = session.scalars(select(Execution)).one()
    note(session, row, utcnow() + timedelta(minutes=1))
    session.commit()
    assert str(id_) in _text(as_operator, "/failures/")
    as_operator.post(f"{path}/acknowledge", data={})
    assert _group(session).note == ""
    as_operator.post(f"{path}/reopen")
    assert _group(session).acknowledged_at is None


def test_ticked_groups_are_acknowledged_together(
    as_operator: Browser, fail: Callable[..., Execution], session: Session
) -> None:
    for cause in ("a", "b", "c"):
        fail(cause)
    ids = _ids(session)
    data = {"id": [str(each) for each in ids[:2]], "note": "seen"}
    shown = as_operator.post(
        "/failures/acknowledge", data=data, follow_redirects=True
    ).get_data(as_text=True)
    assert "2 groups acknowledged." in shown
    assert [f'id="failure-{each}"' in shown for each in ids] == [False, False, True]


def test_what_was_ticked_stays_ticked_when_it_is_refused(
    app: Flask,
    as_operator: Browser,
    fail: Callable[..., Execution],
    session: Session,
) -> None:
    app.config["CARILLON"] = replace(app.config["CARILLON"], page_size=1)
    for cause in ("one cause", "another cause"):
        fail(cause)
    first = _text(as_operator, "/failures/?show=all&q=cause")
    second = _text(as_operator, _address(r'rel="next" href="([^"]+)', first))
    (only,) = re.findall(r'id="failure-([^"]+)"', second)
    said = {"id": only, "until": "2020-01-01T00:00", "note": "seen"}
    target = _address(r'id="selection" method="post" action="([^"]+)', second)
    answer = as_operator.post(target, data=said)
    assert answer.status_code == 422
    shown = answer.get_data(as_text=True)
    assert f'value="{only}" form="selection" checked' in shown
    assert 'value="seen"' in shown
    del said["until"]
    target = _address(r'id="selection" method="post" action="([^"]+)', shown)
    assert as_operator.post(target, data=said).status_code == 303
    session.expire_all()
    assert session.get_one(FailureGroup, UUID(only)).note == "seen"


def test_what_cannot_be_taken_note_of_is_answered_with_a_sentence(
    as_operator: Browser, fail: Callable[..., Execution], session: Session
) -> None:
    fail()
    id_ = _group(session).id
    for data, says in (
        ({"until": "yesterday"}, "must look like 2026-03-10T12:00"),
        ({"until": "2020-01-01T00:00"}, "That is past already"),
        ({"until": "2999-01-01T00:00"}, "at most 90 days"),
        ({"note": "x" * 501}, "at most 500"),
    ):
        for path in (f"/failures/{id_}/acknowledge", "/failures/acknowledge"):
            answer = as_operator.post(path, data={**data, "id": str(id_)})
            assert answer.status_code == 422, (path, data)
            assert says in answer.get_data(as_text=True)
    assert as_operator.post("/failures/acknowledge", data={}).status_code == 303
    bad = as_operator.post("/failures/acknowledge", data={"id": "x"})
    assert bad.status_code == 400
    for path in ("acknowledge", "reopen", "retry"):
        assert as_operator.post(f"/failures/{new_id()}/{path}").status_code == 404
    assert as_operator.get(f"/failures/{new_id()}").status_code == 404
    assert as_operator.get("/failures/?cursor=x").status_code == 400


def test_deliveries_of_an_endpoint_are_sent_again_as_one(
    as_operator: Browser, session: Session, congregation: Congregation
) -> None:
    event = Event(
        congregation_id=congregation.id,
        id=new_id(),
        type="booking.confirmed",
        source="api",
        occurred_at=utcnow(),
    )
    session.add(event)
    session.flush()
    ids = webhooks(session, event, "mark")
    row = session.get_one(Delivery, UUID(ids["delivery_id"]))
    note_delivery(session, row, utcnow() - timedelta(minutes=1))
    session.commit()
    id_ = _group(session).id
    assert "Website mark" in _text(as_operator, f"/failures/{id_}")
    endpoint = session.get_one(Endpoint, UUID(ids["endpoint_id"]))
    endpoint.enabled = False
    session.commit()
    refused = _text(as_operator, f"/failures/{id_}/retry")
    assert "1 cannot, and stays as it is: the endpoint is off" in refused
    endpoint.enabled = True
    session.commit()
    told = confirm(as_operator, f"/failures/{id_}/retry")
    assert "1 queued again" in told
    session.refresh(row)
    session.commit()
    assert row.state is DeliveryState.PENDING
    assert "Nobody yet" in _text(as_operator, f"/failures/{id_}")


def test_it_has_recovered_when_later_ones_succeed(
    session: Session, fail: Callable[..., Execution], rule: Rule
) -> None:
    fail()
    id_ = _group(session).id
    assert line(session, id_, now=utcnow()).state == "failed"
    factories.execution(
        session, rule, state=ExecutionState.SUCCEEDED, created_at=utcnow()
    )
    assert line(session, id_, now=utcnow()).state == "recovered"


def test_what_was_retried_is_not_told_to_stay_failed(
    as_viewer: Browser, session: Session, fail: Callable[..., Execution], rule: Rule
) -> None:
    row, stays = fail(), "What failed before stays failed until it is retried."
    factories.execution(
        session, rule, state=ExecutionState.SUCCEEDED, created_at=utcnow()
    )
    session.commit()
    path = f"/failures/{_group(session).id}"
    assert stays in _text(as_viewer, path)
    note_retried(session, FailedExecution, [row.id], utcnow())
    session.commit()
    shown = _text(as_viewer, path)
    assert "Later executions of the rule succeeded." in shown
    assert stays not in shown


def test_one_step_of_a_rule_does_not_speak_for_another(begin: Begin) -> None:
    with begin() as session:
        rule = factories.rule(session, factories.congregation(session))
        values = {"state": ExecutionState.FAILED, "action": "webhook"}
        note(session, factories.execution(session, rule, **values), NOW)
        later = {"state": ExecutionState.SUCCEEDED, "created_at": LATER}
        factories.execution(session, rule, **later)
    with begin() as session:
        (found,) = page(session, [], None, 2, now=LATER).rows
        assert (found.group.action, found.state) == ("webhook", "failed")
        factories.execution(session, rule, action="webhook", **later)
        assert line(session, found.group.id, now=LATER).state == "recovered"


def test_a_success_is_found_behind_much_that_came_after_it(begin: Begin) -> None:
    with begin() as session:
        rule = factories.rule(session, factories.congregation(session))
        row = factories.execution(session, rule, state=ExecutionState.FAILED)
        note(session, row, NOW)
        done = {"state": ExecutionState.SUCCEEDED}
        factories.execution(session, rule, created_at=NOW - timedelta(hours=1), **done)
        for n in range(25):
            at = LATER + timedelta(minutes=n + 1)
            factories.execution(session, rule, created_at=at)
            factories.execution(session, rule, created_at=at, action="webhook", **done)
    with begin() as session:
        (found,) = page(session, [], None, 2, now=LATER).rows
        assert found.state == "failed"
        factories.execution(session, rule, created_at=LATER, **done)
        assert line(session, found.group.id, now=LATER).state == "recovered"


def test_a_page_of_groups_takes_four_queries(
    session: Session, fail: Callable[..., Execution]
) -> None:
    for letters in ("a", "b", "c", "d"):
        fail(letters)
    with statements() as seen:
        first = page(session, [], None, 2, now=utcnow())
    assert len([each for each in seen if each.startswith("SELECT")]) == 4
    second = page(session, [], first.next_cursor, 2, now=utcnow())
    assert {each.group.cause for each in (*first.rows, *second.rows)} == set("abcd")
    assert second.next_cursor is None


def test_what_differs_between_failures_is_a_gap_that_is_read_aloud(
    as_operator: Browser, fail: Callable[..., Execution]
) -> None:
    fail("The mail server at mx.example:25 cannot be reached (no answer within 30 s).")
    told = "The mail server at mx.example:25 cannot be reached (no answer within … s)."
    address = _address(r"(/failures/[0-9a-f-]{36})", _text(as_operator, "/failures/"))
    for path in ("/", "/failures/", address):
        page = BeautifulSoup(_text(as_operator, path), "html.parser")
        shown = page.find(string="…")
        assert shown is not None, path
        gap = shown.parent
        assert gap is not None
        assert (gap["role"], gap["aria-label"]) == ("img", "so many")
        assert gap.parent is not None
        assert gap.parent.get_text() == told
