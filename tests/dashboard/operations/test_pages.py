"""The pages of operations: asked with a number, watched, stopped, resumed."""

from __future__ import annotations

import re
from collections.abc import Callable
from uuid import UUID, uuid4

import pytest
from flask.testing import FlaskClient
from sqlalchemy import func, select, update
from sqlalchemy.orm import Session, sessionmaker

from tasks.models import AuditEntry, Execution, Operation, OperationState
from tasks.operations import matching as narrowing
from tasks.operations.pieces import PIECE
from tests.dashboard.operations.conftest import (
    S,
    hidden_of,
    n_rows,
    press_confirm,
    sweep_operations,
)


def test_many_are_retried_as_an_operation_that_is_watched_stopped_and_resumed(
    as_operator: FlaskClient,
    add: Callable[..., list[UUID]],
    make_db: sessionmaker[Session],
) -> None:
    add(405, S.FAILED)
    question = as_operator.get("/executions/retry-all").text
    assert "Retry 405 executions?" in question
    assert "piece by piece" in question
    answer = press_confirm(as_operator, "/executions/retry-all")
    url = answer.location
    assert re.fullmatch(r"/operations/[0-9a-f-]{36}", url)
    assert "Why is it waiting?" in as_operator.get(url).text

    sweep_operations(make_db)
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
        sweep_operations(make_db)
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
    sweep_operations(make_db)
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
    assert (n_rows(make_db, Operation), n_rows(make_db, Execution)) == (1, 6)
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


def test_waiting_executions_that_match_are_cancelled(
    as_operator: FlaskClient,
    add: Callable[..., list[UUID]],
    make_db: sessionmaker[Session],
) -> None:
    add(2, S.PENDING, booking_id="b7")
    add(1, S.PENDING)
    listed = " ".join(as_operator.get("/executions/?state=pending&q=b7").text.split())
    assert "Cancel all 2 that wait and match" in listed
    answer = press_confirm(as_operator, "/executions/cancel-all?state=pending&q=b7")
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
    answer = as_operator.post("/executions/retry-all", data=hidden_of(question))
    for _ in range(2 * (n > PIECE)):
        sweep_operations(make_db)
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
    answer = as_operator.post(path, data=hidden_of(question))
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
    answer = as_operator.post(path, data=hidden_of(question))
    assert "did not match" not in as_operator.get(answer.location).text
    with make_db() as session:
        waiting = select(func.count()).where(Execution.state == S.PENDING)
        assert session.scalar(waiting) == 1


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
    assert n_rows(make_db, Operation) == 0


def test_a_viewer_looks_but_does_not_act(
    as_viewer: FlaskClient,
    as_operator: FlaskClient,
    add: Callable[..., list[UUID]],
) -> None:
    (id_,) = add(1, S.SKIPPED)
    url = press_confirm(as_operator, f"/executions/{id_}/replay").location
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
    url = press_confirm(as_operator, "/executions/retry-all").location
    with make_db.begin() as session:
        row = session.scalars(select(Operation)).one()
        row.state = OperationState.FAILED
        row.error = "The same piece failed 5 times."
    page = as_operator.get(url).text
    assert "The same piece failed 5 times." in page
    assert f'action="{url}/resume"' in page
