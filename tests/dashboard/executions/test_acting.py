"""Buttons of executions act once, and on what was confirmed."""

from __future__ import annotations

import re
from collections.abc import Callable
from html import unescape
from typing import Any
from uuid import UUID, uuid4

import pytest
from flask.testing import FlaskClient
from sqlalchemy import Engine

from tasks.clock import utcnow
from tests.dashboard.executions.conftest import FAILED, S, ids_of, state_of


def test_one_press_retries_once(
    as_operator: FlaskClient, add: Callable[..., UUID], sqlite_engine: Engine
) -> None:
    id_ = add(**FAILED)
    for sentence in ("Queued for another try.", "It is queued already."):
        answer = as_operator.post(f"/executions/{id_}/retry", follow_redirects=True)
        assert sentence in answer.text
    assert state_of(sqlite_engine, id_) == S.PENDING


def test_a_button_on_the_last_page_leads_back_to_rows_that_are_there(
    as_operator: FlaskClient, add: Callable[..., UUID]
) -> None:
    oldest, *_others = [add(**FAILED) for _ in range(51)]
    first = as_operator.get("/executions/?state=failed").text
    last = re.search(r'href="([^"]*cursor=[^"]*)"', first)
    assert last
    url = f"http://localhost{unescape(last[1])}"
    assert ids_of(as_operator.get(url).text) == [str(oldest)]
    answer = as_operator.post(
        f"/executions/{oldest}/retry", headers={"Referer": url}, follow_redirects=True
    )
    assert "Queued for another try." in answer.text
    assert answer.request.full_path == "/executions/?state=failed"
    assert len(ids_of(answer.text)) == 50


def test_a_button_leads_back_to_the_list_that_it_stood_in(
    as_operator: FlaskClient, add: Callable[..., UUID]
) -> None:
    id_ = add(**FAILED)
    for referrer, target in (
        ("http://localhost/executions/?state=failed", "/executions/?state=failed"),
        ("http://evil.example/executions/", f"/executions/{id_}"),
        ("http://localhost//evil.example/", f"/executions/{id_}"),
        (None, f"/executions/{id_}"),
    ):
        headers = {"Referer": referrer} if referrer else {}
        answer = as_operator.post(f"/executions/{id_}/retry", headers=headers)
        assert (answer.status_code, answer.location) == (303, target)


def test_selected_ones_are_asked_about_then_retried(
    as_operator: FlaskClient, add: Callable[..., UUID], sqlite_engine: Engine
) -> None:
    failed, kept = [add(n, **FAILED) for n in (10, 20)], add(30, **FAILED)
    done = add(40, state=S.SUCCEEDED)
    data: dict[str, Any] = {"id": [str(id_) for id_ in (*failed, done)]}
    question = as_operator.post("/executions/retry?state=failed", data=data)
    assert "Retry 2 executions?" in question.text
    assert "1 of those you selected cannot be retried" in question.text
    assert state_of(sqlite_engine, failed[0]) == S.FAILED
    answer = as_operator.post(
        "/executions/retry?state=failed", data=data | {"confirmed": "yes"}
    )
    assert answer.location == "/executions/?state=failed"
    page = as_operator.get(answer.location).text
    assert "2 queued for another try. 1 skipped" in page
    assert {state_of(sqlite_engine, id_) for id_ in failed} == {S.PENDING}
    assert state_of(sqlite_engine, kept) == S.FAILED


@pytest.mark.parametrize("data", [{}, {"id": []}])
def test_an_empty_selection_is_told_what_to_do(
    as_operator: FlaskClient, data: dict[str, Any]
) -> None:
    answer = as_operator.post("/executions/retry", data=data, follow_redirects=True)
    assert "Tick at least one row first." in answer.text


def test_all_that_match_are_counted_then_retried(
    as_operator: FlaskClient, add: Callable[..., UUID], sqlite_engine: Engine
) -> None:
    ids = [add(n, booking_id="b7", **FAILED) for n in range(3)]
    other = add(9, booking_id="b8", **FAILED)
    page = as_operator.get("/executions/?q=b7").text
    assert "Retry all 3 that failed and match" in " ".join(page.split())
    question = as_operator.get("/executions/retry-all?q=b7").text
    assert "Retry 3 executions?" in question
    found = re.search(r'name="high_water" value="([^"]+)"', question)
    asked = re.search(r'name="operation" value="([^"]+)"', question)
    assert found
    assert asked
    late = add(0, booking_id="b7", **FAILED | {"settled_at": utcnow()})
    data = {"high_water": found[1], "operation": asked[1]}
    as_operator.post("/executions/retry-all?q=b7", data=data)
    assert {state_of(sqlite_engine, id_) for id_ in ids} == {S.PENDING}
    assert state_of(sqlite_engine, other) == S.FAILED
    assert state_of(sqlite_engine, late) == S.FAILED


@pytest.mark.parametrize(
    "high_water", ["", "never", "2026-01-01T00:00", "9999-01-01T00:00:00+00:00"]
)
def test_nothing_is_retried_that_was_not_confirmed(
    as_operator: FlaskClient,
    add: Callable[..., UUID],
    sqlite_engine: Engine,
    high_water: str,
) -> None:
    id_ = add(**FAILED)
    data = {"high_water": high_water, "operation": str(uuid4())}
    answer = as_operator.post("/executions/retry-all", data=data)
    assert answer.status_code == 400
    assert state_of(sqlite_engine, id_) == S.FAILED


def test_cancelling_stops_what_waits_and_nothing_else(
    as_operator: FlaskClient, add: Callable[..., UUID], sqlite_engine: Engine
) -> None:
    waiting, running = add(), add(state=S.RUNNING, attempt=1)
    answer = as_operator.post(f"/executions/{waiting}/cancel", follow_redirects=True)
    assert "Nothing is sent for it" in answer.text
    assert state_of(sqlite_engine, waiting) == S.CANCELLED
    answer = as_operator.post(f"/executions/{running}/cancel", follow_redirects=True)
    assert "cannot be called back" in answer.text
    assert state_of(sqlite_engine, running) == S.RUNNING
