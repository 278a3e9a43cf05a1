"""The pages of operations: asked with a number, watched, stopped, resumed."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import timedelta
from typing import Any
from uuid import UUID, uuid4

import pytest
from flask.testing import FlaskClient
from sqlalchemy import Engine, func, insert, select, update
from sqlalchemy.orm import Session, sessionmaker
from werkzeug.test import TestResponse

from tasks.automation.events import AutomationEvent, emit_automation_event
from tasks.clock import utcnow
from tasks.db import sessions
from tasks.lanes import operations
from tasks.models import (
    AuditEntry,
    Event,
    Execution,
    ExecutionState,
    Operation,
    OperationState,
    Rule,
    new_id,
)
from tasks.operations import matching as narrowing
from tasks.operations.pieces import PIECE
from tests.support import factories
from tests.support.fakes import FakePost, bench

S = ExecutionState
AN_HOUR_AGO = utcnow() - timedelta(hours=1)


@pytest.fixture
def make_db(sqlite_engine: Engine) -> sessionmaker[Session]:
    """Return sessions on the console's database."""
    return sessions(sqlite_engine)


@pytest.fixture
def rule(make_db: sessionmaker[Session]) -> Rule:
    """Return a rule of a congregation with a booking."""
    with make_db.begin() as session:
        house = factories.congregation(session)
        factories.booking(session, house, start_time=utcnow() + timedelta(days=2))
        return factories.rule(session, house)


@pytest.fixture
def add(make_db: sessionmaker[Session], rule: Rule) -> Callable[..., list[UUID]]:
    """Return a function that adds executions that ended an hour ago."""

    def made(n: int, state: ExecutionState, **values: Any) -> list[UUID]:
        with make_db.begin() as session:
            return [
                factories.execution(
                    session, rule, state=state, settled_at=AN_HOUR_AGO, **values
                ).id
                for _ in range(n)
            ]

    return made


def _confirm(client: FlaskClient, url: str, **data: str) -> TestResponse:
    """Open the question and press its button."""
    page = client.get(url)
    assert page.status_code == 200
    return client.post(url, data=_hidden(page.text) | data)


def _hidden(question: str) -> dict[str, str]:
    """Return what a question carries."""
    names = "high_water|operation|shown"
    return dict(re.findall(rf'name="({names})" value="([^"]+)"', question))


def _sweep(make_db: sessionmaker[Session]) -> None:
    operations.sweep(bench(make_db, utcnow, FakePost()), 200)


def _n(make_db: sessionmaker[Session], model: type) -> int:
    with make_db() as session:
        return session.scalar(select(func.count()).select_from(model)) or 0


def test_many_are_retried_as_an_operation_that_is_watched_stopped_and_resumed(
    as_operator: FlaskClient,
    add: Callable[..., list[UUID]],
    make_db: sessionmaker[Session],
) -> None:
    add(405, S.FAILED)
    question = as_operator.get("/executions/retry-all").text
    assert "Retry 405 executions?" in question
    assert "piece by piece" in question
    answer = _confirm(as_operator, "/executions/retry-all")
    url = answer.location
    assert re.fullmatch(r"/operations/[0-9a-f-]{36}", url)
    assert "Why is it waiting?" in as_operator.get(url).text

    _sweep(make_db)
    fragment = as_operator.get(url, headers={"HX-Request": "true"}).text
    assert fragment.startswith('<div id="operation-progress" hx-get=')
    assert "of <span" in fragment
    assert re.search(r'<progress [^>]*max="405" value="200"', fragment)
    assert "Stopped." in as_operator.post(f"{url}/stop", follow_redirects=True).text
    again = as_operator.post(f"{url}/stop", follow_redirects=True).text
    assert "It was stopped already." in again
    assert "hx-trigger" not in as_operator.get(url).text.split('id="main"')[1]

    assert "Resumed" in as_operator.post(f"{url}/resume", follow_redirects=True).text
    for _ in range(3):
        _sweep(make_db)
    done = as_operator.get(url).text
    assert ">405</strong> of" in done
    refused = as_operator.post(f"{url}/stop", follow_redirects=True).text
    assert "It has ended already" in refused
    listed = as_operator.get("/operations/").text
    assert "Retry executions" in listed
    assert url in listed


def test_a_second_press_does_not_do_at_once_what_an_operation_has_left(
    as_operator: FlaskClient,
    add: Callable[..., list[UUID]],
    make_db: sessionmaker[Session],
) -> None:
    add(202, S.FAILED)
    page = as_operator.get("/executions/retry-all").text
    data = dict(re.findall(r'name="(high_water|operation)" value="([^"]+)"', page))
    first = as_operator.post("/executions/retry-all", data=data)
    _sweep(make_db)
    second = as_operator.post("/executions/retry-all", data=data)
    assert first.location == second.location
    assert re.search(r'max="202" value="200"', as_operator.get(first.location).text)


def test_what_was_pressed_twice_is_begun_once(
    as_operator: FlaskClient,
    add: Callable[..., list[UUID]],
    make_db: sessionmaker[Session],
) -> None:
    add(3, S.SUCCEEDED)
    page = as_operator.get("/executions/replay-all?state=succeeded").text
    assert "Send 3 executions again?" in page
    data = dict(re.findall(r'name="(high_water|operation)" value="([^"]+)"', page))
    data |= {"again": "yes", "number": "3", "why": "The server lost them."}
    first = as_operator.post("/executions/replay-all?state=succeeded", data=data)
    second = as_operator.post("/executions/replay-all?state=succeeded", data=data)
    assert first.location == second.location
    assert (_n(make_db, Operation), _n(make_db, Execution)) == (1, 6)
    told = as_operator.get(first.location).text
    assert "The server lost them." in told
    assert "3 executions came of it" in told
    with make_db() as session:
        told_of = AuditEntry.subject_kind == "operation"
        entries = session.scalars(select(AuditEntry).where(told_of)).all()
    assert {entry.actor for entry in entries} == {"operator@example.org"}
    assert {entry.action for entry in entries} == {
        "operation.started",
        "operation.ended",
    }


@pytest.mark.parametrize(
    ("data", "sentence"),
    [
        ({}, "Tick this if it is meant to be sent a second time."),
        ({"again": "yes", "why": "Lost."}, "Type 3, the number of executions"),
        ({"again": "yes", "number": "4", "why": "Lost."}, "Type 3, the number"),
        ({"again": "yes", "number": "3"}, "Say why it is to be sent again"),
        ({"again": "yes", "number": "3", "why": "x" * 301}, "at most 300 are kept"),
    ],
)
def test_a_second_sending_of_many_is_confirmed_in_full(
    as_operator: FlaskClient,
    add: Callable[..., list[UUID]],
    make_db: sessionmaker[Session],
    data: dict[str, str],
    sentence: str,
) -> None:
    add(3, S.SUCCEEDED)
    answer = _confirm(as_operator, "/executions/replay-all?state=succeeded", **data)
    assert answer.status_code == 422
    assert sentence in answer.text
    assert (_n(make_db, Operation), _n(make_db, Execution)) == (0, 3)


def test_one_execution_is_sent_again_and_both_know_of_each_other(
    as_operator: FlaskClient,
    add: Callable[..., list[UUID]],
    make_db: sessionmaker[Session],
) -> None:
    (id_,) = add(1, S.SUCCEEDED)
    page = as_operator.get(f"/executions/{id_}").text
    assert f'href="/executions/{id_}/replay"' in page
    data = {"again": "yes", "why": "The guest deleted it."}
    answer = _confirm(as_operator, f"/executions/{id_}/replay", **data)
    assert answer.status_code == 303
    with make_db() as session:
        new = session.scalars(select(Execution.id).where(Execution.id != id_)).one()
    assert f'href="/executions/{new}"' in as_operator.get(f"/executions/{id_}").text
    assert f'href="/executions/{id_}"' in as_operator.get(f"/executions/{new}").text


def test_one_that_was_skipped_is_replayed_and_a_second_time_says_why_not(
    as_operator: FlaskClient, add: Callable[..., list[UUID]]
) -> None:
    (id_,) = add(1, S.SKIPPED)
    for sentence in ("1 execution came of it", "It was replayed before."):
        answer = _confirm(as_operator, f"/executions/{id_}/replay")
        told = " ".join(as_operator.get(answer.location).text.split())
        assert sentence in told
    assert f'href="/executions/{id_}"' in told


def test_a_waiting_execution_has_nothing_to_replay(
    as_operator: FlaskClient, add: Callable[..., list[UUID]]
) -> None:
    (id_,) = add(1, S.RUNNING)
    assert "Nothing to replay" in as_operator.get(f"/executions/{id_}/replay").text


def test_waiting_executions_that_match_are_cancelled(
    as_operator: FlaskClient,
    add: Callable[..., list[UUID]],
    make_db: sessionmaker[Session],
) -> None:
    add(2, S.PENDING, booking_id="b7")
    add(1, S.PENDING)
    listed = " ".join(as_operator.get("/executions/?state=pending&q=b7").text.split())
    assert "Cancel all 2 that wait and match" in listed
    answer = _confirm(as_operator, "/executions/cancel-all?state=pending&q=b7")
    page = as_operator.get(answer.location).text
    assert "2 cancelled; nothing is sent for them." in page
    with make_db() as session:
        states = session.scalars(select(Execution.state)).all()
    assert sorted(states) == [S.CANCELLED, S.CANCELLED, S.PENDING]


CHANGED = "did not match any more when their turn came: they had changed meanwhile."


@pytest.mark.parametrize("n", [14, 205], ids=["at once", "piece by piece"])
def test_what_changed_after_it_was_counted_is_told(
    as_operator: FlaskClient,
    add: Callable[..., list[UUID]],
    make_db: sessionmaker[Session],
    n: int,
) -> None:
    ids = add(n, S.FAILED)
    question = as_operator.get("/executions/retry-all").text
    assert f"Retry {n} executions?" in question
    with make_db.begin() as session:
        taken = update(Execution).where(Execution.id.in_(ids[:2]))
        session.execute(taken.values(state=S.SUCCEEDED))
    answer = as_operator.post("/executions/retry-all", data=_hidden(question))
    for _ in range(2 * (n > PIECE)):
        _sweep(make_db)
    told = as_operator.get(answer.location).text
    assert f"2 of the {n} that were counted {CHANGED}" in told
    with make_db() as session:
        waiting = select(func.count()).where(Execution.state == S.PENDING)
        assert session.scalar(waiting) == n - 2


@pytest.mark.parametrize(
    "verb", ["retry-all", "replay-all"], ids=["at once", "as an operation"]
)
def test_no_more_is_done_than_was_shown_and_what_left_the_search_is_told(
    as_operator: FlaskClient,
    add: Callable[..., list[UUID]],
    make_db: sessionmaker[Session],
    monkeypatch: pytest.MonkeyPatch,
    verb: str,
) -> None:
    monkeypatch.setattr(narrowing, "SEARCH_WINDOW", 3)
    add(3, S.FAILED, recipient="j@b.example")
    path = f"/executions/{verb}?q=j@b&state=failed"
    question = as_operator.get(path).text
    assert "3 executions?" in question
    add(2, S.FAILED, recipient="new@b.example")
    answer = as_operator.post(path, data=_hidden(question))
    told = as_operator.get(answer.location).text
    assert "2 of the 3 that were counted did not match any more" in told
    assert "or newer ones took their place among the newest" in told
    # What was done left the window, so others come in.
    question = as_operator.get(path).text
    assert "1 execution?" in question
    with make_db.begin() as session:
        session.execute(update(Execution).values(state=S.FAILED))
        old = Execution.recipient == "new@b.example"
        session.execute(update(Execution).where(old).values(state=S.SUCCEEDED))
    answer = as_operator.post(path, data=_hidden(question))
    assert "did not match" not in as_operator.get(answer.location).text
    with make_db() as session:
        waiting = select(func.count()).where(Execution.state == S.PENDING)
        assert session.scalar(waiting) == 1


def test_an_event_is_replayed_for_rules_that_did_not_know_it(
    as_operator: FlaskClient, make_db: sessionmaker[Session], rule: Rule
) -> None:
    with make_db.begin() as session:
        session.get_one(Rule, rule.id).enabled = False
        event = AutomationEvent(
            "booking.confirmed",
            "show",
            booking_id="b1",
            congregation_id=rule.congregation_id,
        )
        emit_automation_event(session, event, now=AN_HOUR_AGO)
        id_ = session.scalars(select(Event.id)).one()
        session.get_one(Rule, rule.id).enabled = True
    assert f'href="/events/{id_}/replay"' in as_operator.get(f"/events/{id_}").text
    for sentence in ("1 execution came of it", "has acted on it already"):
        answer = _confirm(as_operator, f"/events/{id_}/replay")
        told = " ".join(as_operator.get(answer.location).text.split())
        assert sentence in told
    assert _n(make_db, Execution) == 1
    page = as_operator.get(f"/events/{id_}").text
    assert "at a replay" in page
    assert "The same thing was already asked for." in page


def test_events_that_match_are_counted_and_replayed(
    as_operator: FlaskClient, make_db: sessionmaker[Session], rule: Rule
) -> None:
    with make_db.begin() as session:
        rows = [
            {
                "id": new_id(),
                "congregation_id": rule.congregation_id,
                "type": kind,
                "external_id": f"{kind}:{number}",
                "podcast_id": "show",
                "booking_id": "b1",
                "source": "api",
                "depth": 0,
                "occurred_at": AN_HOUR_AGO,
                "created_at": AN_HOUR_AGO,
            }
            for kind in ("booking.confirmed", "booking.cancelled")
            for number in range(3)
        ]
        session.execute(insert(Event), rows)
    url = "/events/replay-all?type=booking.confirmed"
    listed = as_operator.get("/events/?type=booking.confirmed").text
    assert f'href="{url}"' in listed
    assert "Replay 3 events?" in as_operator.get(url).text
    answer = _confirm(as_operator, url, why="The rule was written too late.")
    told = " ".join(as_operator.get(answer.location).text.split())
    assert "3 executions came of it" in told
    assert "Booking confirmed" in told
    later = (utcnow() + timedelta(days=1)).strftime("%Y-%m-%dT%H:%M")
    empty = as_operator.get(f"/events/replay-all?since={later}").text
    assert "Nothing to replay" in empty


@pytest.mark.parametrize(
    "query",
    ["podcast=nonsense", "since=yesterday", "type=" + "x" * 99, "text=heard:soon"],
)
def test_a_filter_of_events_that_cannot_be_read_replays_nothing(
    as_operator: FlaskClient, query: str
) -> None:
    answer = as_operator.get(f"/events/replay-all?{query}")
    assert answer.status_code == 400
    assert "cannot be read" in answer.text


@pytest.mark.parametrize(
    "data",
    [
        {},
        {"operation": str(uuid4())},
        {"operation": "1", "high_water": "2026-01-01T00:00:00+00:00"},
        {"operation": str(uuid4()), "high_water": "soon"},
        *(
            {
                "operation": str(uuid4()),
                "high_water": "2026-01-01T00:00:00+00:00",
                "shown": shown,
            }
            for shown in ("many", "-1", "²", "9" * 6)
        ),
    ],
)
def test_nothing_is_begun_that_was_not_asked_about(
    as_operator: FlaskClient,
    add: Callable[..., list[UUID]],
    make_db: sessionmaker[Session],
    data: dict[str, str],
) -> None:
    (id_,) = add(1, S.SKIPPED)
    for path in (f"/executions/{id_}/replay", "/executions/retry-all"):
        assert as_operator.post(path, data=data).status_code == 400
    assert _n(make_db, Operation) == 0


def test_a_viewer_looks_but_does_not_act(
    as_viewer: FlaskClient,
    as_operator: FlaskClient,
    add: Callable[..., list[UUID]],
) -> None:
    (id_,) = add(1, S.SKIPPED)
    url = _confirm(as_operator, f"/executions/{id_}/replay").location
    assert as_viewer.get(url).status_code == 200
    assert as_viewer.get("/operations/").status_code == 200
    for path in (f"{url}/stop", f"{url}/resume", "/executions/cancel-all"):
        assert as_viewer.post(path).status_code == 403
    for path in ("/executions/replay-all", "/events/replay-all"):
        assert as_viewer.get(path).status_code == 403
    assert "/replay" not in as_viewer.get(f"/executions/{id_}").text


def test_an_empty_list_says_what_comes_here(as_viewer: FlaskClient) -> None:
    assert "No operations yet" in as_viewer.get("/operations/").text


def test_a_failed_one_says_so_and_can_be_resumed(
    as_operator: FlaskClient,
    add: Callable[..., list[UUID]],
    make_db: sessionmaker[Session],
) -> None:
    add(201, S.FAILED)
    url = _confirm(as_operator, "/executions/retry-all").location
    with make_db.begin() as session:
        row = session.scalars(select(Operation)).one()
        row.state = OperationState.FAILED
        row.error = "The same piece failed 5 times."
    page = as_operator.get(url).text
    assert "The same piece failed 5 times." in page
    assert f'action="{url}/resume"' in page


def test_a_replay_that_finds_nothing_new_leaves_the_answer_to_why(
    as_operator: FlaskClient, make_db: sessionmaker[Session], rule: Rule
) -> None:
    with make_db.begin() as session:
        event = AutomationEvent(
            "booking.confirmed",
            "show",
            booking_id="b1",
            congregation_id=rule.congregation_id,
        )
        emit_automation_event(session, event, now=AN_HOUR_AGO)
        id_ = session.scalars(select(Event.id)).one()
    url = "/why/bonifatius/bookings/b1"
    assert "already asked for" not in as_operator.get(url).text
    _confirm(as_operator, f"/events/{id_}/replay")
    assert "already asked for" not in as_operator.get(url).text
    assert "already asked for" in as_operator.get(f"/events/{id_}").text
