"""The same Idempotency-Key twice: once done, twice answered.  On both databases."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import Engine, func, select
from sqlalchemy.orm import Session, sessionmaker

from dashboard.api import events as events_view
from tasks.config import Config
from tasks.models import Event, Execution, IdempotencyRecord
from tests.dashboard.api.caller import Api, error_of

GOOD = {"trigger_type": "booking.confirmed", "podcast_id": "p", "booking_id": "b"}
KEY = {"Idempotency-Key": "k-1"}


@pytest.fixture
def config(engine: Engine, tmp_path: Path) -> Config:
    return Config.from_environ(
        {
            "VAR_DIR": str(tmp_path / "var"),
            "DATABASE_URL": engine.url.render_as_string(hide_password=False),
            "BASE_URL": "http://localhost",
        }
    )


def _count(make_db: sessionmaker[Session], table: type[Any]) -> int:
    with make_db() as session:
        return session.scalar(select(func.count()).select_from(table)) or 0


def test_the_second_time_gives_the_first_answer(
    api: Api, make_db: sessionmaker[Session]
) -> None:
    first = api.post("/events", GOOD, headers=KEY)
    second = api.post("/events", GOOD, headers=KEY)
    assert "Idempotency-Replayed" not in first.headers
    assert second.headers["Idempotency-Replayed"] == "true"
    assert (first.status_code, first.json) == (second.status_code, second.json)
    assert first.json["executions_created"] == 1
    assert _count(make_db, Event) == 1


def test_a_created_record_is_created_again_in_the_answer_only(api: Api) -> None:
    body = {"title": "New"}
    answers = [api.put("/podcasts/new", body, headers=KEY) for _ in range(2)]
    assert [answer.status_code for answer in answers] == [201, 201]
    assert answers[0].json == answers[1].json


def test_the_version_is_told_again_so_that_the_next_change_can_name_it(
    api: Api,
) -> None:
    path = "/contacts/zoe@example.org"
    first, again = (api.put(path, {}, headers=KEY) for _ in range(2))
    assert again.headers["Idempotency-Replayed"] == "true"
    assert first.headers["ETag"] == again.headers["ETag"] == '"1"'


@pytest.mark.parametrize(
    ("method", "path", "body"),
    [
        ("POST", "/events", GOOD | {"event_id": "x"}),
        ("PUT", "/podcasts/p", GOOD),
        ("POST", "/events?x=1", GOOD),
        ("POST", "/bookings/b/confirm", None),
    ],
)
def test_another_request_with_the_same_key_is_refused(
    api: Api, method: str, path: str, body: Any
) -> None:
    assert api.post("/events", GOOD, headers=KEY).status_code == 202
    extra = {} if body is None else {"json": body}
    if method == "PUT":
        extra = {"json": {"title": "x"}}
    answer = api.call(method, path, headers=KEY, **extra)
    assert error_of(answer, 422)["code"] == "idempotency_mismatch"


def test_cloudevents_in_headers_are_told_apart(api: Api) -> None:
    def send(number: int) -> Any:
        headers = {
            **KEY,
            "ce-specversion": "1.0",
            "ce-id": str(number),
            "ce-source": "s",
            "ce-type": "booking.confirmed",
        }
        body = {"podcast_id": "p", "booking_id": "b"}
        return api.post("/events", body, headers=headers)

    assert send(1).status_code == 202
    assert error_of(send(2), 422)["code"] == "idempotency_mismatch"


def test_a_refused_request_may_be_mended_and_sent_with_its_key(
    api: Api, make_db: sessionmaker[Session]
) -> None:
    wrong = GOOD | {"booking_id": "nobody"}
    assert api.post("/events", wrong, headers=KEY).status_code == 422
    assert _count(make_db, IdempotencyRecord) == 0
    assert api.post("/events", GOOD, headers=KEY).status_code == 202


def test_each_congregation_has_its_own_keys(api: Api, twin: Api) -> None:
    for one in (api, twin):
        answer = one.post("/events", GOOD, headers=KEY)
        assert answer.json["executions_created"] == 1
        assert "Idempotency-Replayed" not in answer.headers


@pytest.mark.parametrize("key", ["", "x" * 256, "schlüssel", "a\tb", "\x7f"])
def test_a_bad_key_is_refused(api: Api, key: str) -> None:
    answer = api.post("/events", GOOD, headers={"Idempotency-Key": key})
    (problem,) = error_of(answer, 422)["problems"]
    assert problem["code"] == "idempotency_key_invalid"


def test_of_many_at_once_one_does_the_work(
    api: Api, make_db: sessionmaker[Session]
) -> None:
    start = threading.Barrier(8)

    def send(_: int) -> Any:
        start.wait()
        return api.post("/events", GOOD | {"event_id": "once"}, headers=KEY)

    with ThreadPoolExecutor(8) as pool:
        answers = list(pool.map(send, range(8)))
    done = [answer for answer in answers if answer.status_code == 202]
    waiting = [answer for answer in answers if answer.status_code == 409]
    assert len(done) + len(waiting) == 8
    original = [a for a in done if "Idempotency-Replayed" not in a.headers]
    assert len(original) == 1
    assert all(answer.json == original[0].json for answer in done)
    assert {error_of(a, 409)["code"] for a in waiting} <= {"idempotency_in_progress"}
    assert (_count(make_db, Event), _count(make_db, Execution)) == (1, 1)


def test_while_the_first_is_under_way_the_second_is_told_so_or_waits(
    api: Api, engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    entered, leave = threading.Event(), threading.Event()
    real = events_view.emit_events

    def slow(*args: Any, **kwargs: Any) -> Any:
        entered.set()
        assert leave.wait(10)
        return real(*args, **kwargs)

    monkeypatch.setattr(events_view, "emit_events", slow)
    with ThreadPoolExecutor(2) as pool:
        first = pool.submit(api.post, "/events", GOOD, headers=KEY)
        assert entered.wait(10)
        if engine.dialect.name == "postgresql":
            answer = api.post("/events", GOOD, headers=KEY)
            assert error_of(answer, 409)["code"] == "idempotency_in_progress"
            assert answer.headers["Retry-After"] == "1"
            leave.set()
        else:  # one writer at a time: it waits, and then hears the first answer
            second = pool.submit(api.post, "/events", GOOD, headers=KEY)
            leave.set()
            assert second.result().headers["Idempotency-Replayed"] == "true"
        assert first.result().status_code == 202


def test_a_crash_in_the_middle_leaves_the_key_free(
    api: Api, make_db: sessionmaker[Session], monkeypatch: pytest.MonkeyPatch
) -> None:
    def crash(*_args: Any, **_kwargs: Any) -> Any:
        raise RuntimeError("power cut")

    with monkeypatch.context() as patch:
        patch.setattr(events_view, "emit_events", crash)
        api.app.testing = False
        assert api.post("/events", GOOD, headers=KEY).status_code == 500
    assert _count(make_db, IdempotencyRecord) == 0
    answer = api.post("/events", GOOD, headers=KEY)
    assert answer.json["executions_created"] == 1
