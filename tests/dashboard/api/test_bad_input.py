"""Whatever is wrong with a request is said in words, at once, and changes nothing."""

from __future__ import annotations

import io
import json
from collections.abc import Iterator
from typing import Any

import pytest
from sqlalchemy import func, make_url, select
from sqlalchemy.orm import Session, sessionmaker

from dashboard.app import create_app
from dashboard.extensions import db
from tasks.config import Config
from tasks.db import make_engine, sessions
from tasks.models import (
    Base,
    Booking,
    Event,
    Execution,
    IdempotencyRecord,
    ScheduledJob,
)
from tests.dashboard.api.caller import Api, error_of
from tests.dashboard.api.world import new_producer, settle

JSON = {"Content-Type": "application/json"}
GOOD = {"trigger_type": "booking.confirmed", "podcast_id": "p", "booking_id": "b"}


def _codes(error: dict[str, Any]) -> set[tuple[str, str]]:
    return {(each["field"], each["code"]) for each in error.get("problems", [])}


# Nothing here changes a row, so that one console serves the whole file.
@pytest.fixture(scope="module")
def make_db(
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[sessionmaker[Session]]:
    path = tmp_path_factory.mktemp("bad_input") / "carillon.db"
    engine = make_engine(make_url(f"sqlite:///{path}"))
    Base.metadata.create_all(engine)
    yield sessions(engine)
    engine.dispose()


@pytest.fixture(scope="module")
def api(
    tmp_path_factory: pytest.TempPathFactory, make_db: sessionmaker[Session]
) -> Iterator[Api]:
    url = make_db.kw["bind"].url.render_as_string(hide_password=False)
    var = str(tmp_path_factory.mktemp("var"))
    app = create_app(Config.from_environ({"VAR_DIR": var, "DATABASE_URL": url}))
    app.testing = True
    with make_db.begin() as session:
        of = settle(session, "mary")
    yield new_producer(app, make_db, of)
    with app.app_context():
        db.session.remove()
        db.engine.dispose()


@pytest.fixture(autouse=True)
def nothing_changes(make_db: sessionmaker[Session]) -> Any:
    yield
    with make_db() as session:
        for table in (Event, Execution, ScheduledJob, IdempotencyRecord):
            assert session.scalar(select(func.count()).select_from(table)) == 0


@pytest.mark.parametrize("path", ["/events", "/bookings/b/reschedule"])
@pytest.mark.parametrize(
    ("body", "status", "code"),
    [
        (b"", 400, "json_invalid"),
        (b"{", 400, "json_invalid"),
        (b'{"a" 1}', 400, "json_invalid"),
        (b"\xff", 400, "json_encoding"),
        (b'{"a": 1, "a": 2}', 400, "json_duplicate_key"),
        (b'{"a": NaN}', 400, "json_number"),
        (b"[" * 30, 400, "json_too_deep"),
        (b'{"a": "\\u0000"}', 400, "json_text"),
        (b'"x"', 422, "object_expected"),
        (b"null", 422, "object_expected"),
        (b"7", 422, "object_expected"),
    ],
)
def test_what_is_no_good_json_is_refused(
    api: Api, path: str, body: bytes, status: int, code: str
) -> None:
    error = error_of(api.call("POST", path, data=body, headers=JSON), status)
    assert error["code"] == code


def test_malformed_json_is_told_with_its_place(api: Api) -> None:
    answer = api.call("POST", "/events", data=b'{\n  "a": tru\n}', headers=JSON)
    error = error_of(answer, 400)
    assert (error["line"], error["column"]) == (2, 8)
    assert "line 2, column 8" in error["message"]


def test_an_empty_list_is_no_event(api: Api) -> None:
    assert _codes(error_of(api.post("/events", []), 422)) == {("events", "batch_size")}
    assert error_of(api.put("/podcasts/q", []), 422)["code"] == "object_expected"


@pytest.mark.parametrize(
    "kind",
    [
        "text/plain",
        "application/xml",
        "application/x-www-form-urlencoded",
        "multipart/form-data; boundary=x",
        "application/json; charset=latin-1",
        "application/cloudevents+xml",
        "",
    ],
)
def test_another_content_type_is_refused(api: Api, kind: str) -> None:
    for method, path in (("POST", "/events"), ("PUT", "/podcasts/p")):
        answer = api.call(
            method, path, data=json.dumps(GOOD), headers={"Content-Type": kind}
        )
        assert error_of(answer, 415)["code"] == "unsupported_media_type"


def test_a_body_that_is_too_big_is_refused(api: Api) -> None:
    big = json.dumps({**GOOD, "context": {"x": "y" * 262_144}})
    error = error_of(api.call("POST", "/events", data=big, headers=JSON), 413)
    assert (error["code"], error["limit"]) == ("body_too_large", 262_144)


def test_a_body_sent_in_chunks_that_is_too_big_is_refused(api: Api) -> None:
    answer = api.call(
        "POST",
        "/events",
        input_stream=io.BytesIO(b" " * 400_000),
        headers={**JSON, "Transfer-Encoding": "chunked"},
        environ_overrides={"wsgi.input_terminated": True, "CONTENT_LENGTH": ""},
    )
    assert error_of(answer, 413)["code"] == "body_too_large"


@pytest.mark.parametrize(
    ("changes", "problem"),
    [
        ({"trigger_type": None}, ("trigger_type", "wrong_type")),
        ({"trigger_type": "booking.confirmd"}, ("trigger_type", "unknown_trigger")),
        (
            {"trigger_type": "time.before_recording"},
            ("trigger_type", "unknown_trigger"),
        ),
        ({"podcast_id": 7}, ("podcast_id", "wrong_type")),
        ({"podcast_id": ""}, ("podcast_id", "id_invalid")),
        ({"podcast_id": "a b"}, ("podcast_id", "id_invalid")),
        ({"podcast_id": "x" * 65}, ("podcast_id", "too_long")),
        ({"booking_id": "a/b"}, ("booking_id", "id_invalid")),
        ({"event_id": ""}, ("event_id", "id_invalid")),
        ({"event_id": "x" * 256}, ("event_id", "too_long")),
        ({"event_id": "a\nb"}, ("event_id", "control_chars")),
        ({"occurred_at": "yesterday"}, ("occurred_at", "date_invalid")),
        ({"occurred_at": 1_700_000_000}, ("occurred_at", "date_invalid")),
        ({"occurred_at": "2026-03-10T14:00"}, ("occurred_at", "date_without_offset")),
        ({"occurred_at": "0001-01-01T00:00Z"}, ("occurred_at", "date_out_of_range")),
        (
            {"occurred_at": "9999-12-31T23:59:59-14:00"},
            ("occurred_at", "date_out_of_range"),
        ),
        ({"context": []}, ("context", "wrong_type")),
        ({"contxt": {}}, ("contxt", "unknown_field")),
        ({"source": "python"}, ("source", "unknown_field")),
        ({"depth": 0}, ("depth", "unknown_field")),
    ],
)
def test_a_wrong_field_of_an_event_is_named(
    api: Api, changes: dict[str, Any], problem: tuple[str, str]
) -> None:
    error = error_of(api.post("/events", GOOD | changes), 422)
    assert error["code"] == "invalid"
    assert _codes(error) == {problem}


def test_an_unknown_trigger_lists_the_known_ones(api: Api) -> None:
    answer = api.post("/events", GOOD | {"trigger_type": "booking.confirmd"})
    message = error_of(answer, 422)["message"]
    assert "did you mean booking.confirmed?" in message
    assert "guest.reminder_sent" in message
    assert "time." not in message


def test_a_bad_date_shows_a_good_one(api: Api) -> None:
    answer = api.post("/events", GOOD | {"occurred_at": "10.03.2026"})
    assert "2026-03-10T14:00:00+01:00" in error_of(answer, 422)["message"]


def test_every_problem_is_told_at_once(api: Api) -> None:
    answer = api.put(
        "/bookings/a%20b",
        {
            "podcast_id": 7,
            "guest_email": "nobody",
            "guest_nmae": "Ann",
            "start_time": "2026-03-10T14:00:00",
            "timezone": "Europe/Pari",
            "meeting_url": "javascript:alert(1)",
        },
    )
    error = error_of(answer, 422)
    assert _codes(error) == {
        ("id", "id_invalid"),
        ("podcast_id", "wrong_type"),
        ("guest_email", "email_invalid"),
        ("guest_nmae", "unknown_field"),
        ("start_time", "date_without_offset"),
        ("timezone", "unknown_timezone"),
        ("meeting_url", "url_invalid"),
    }
    messages = " ".join(each["message"] for each in error["problems"])
    assert "did you mean guest_name?" in messages
    assert "did you mean Europe/Paris?" in messages


@pytest.mark.parametrize(
    "address",
    ["@", "a@b..c", "a@b@c", "a b@c.de", "a@b.de, c@d.de", "a@b.de\r\nBcc: e@f.de"],
)
def test_what_is_no_single_address_is_refused(api: Api, address: str) -> None:
    error = error_of(api.put("/guests/g", {"email": address}), 422)
    assert {field for field, _ in _codes(error)} == {"email"}


def test_all_events_of_a_batch_are_checked_before_any_is_taken(api: Api) -> None:
    batch = [GOOD, GOOD | {"trigger_type": "x"}, GOOD | {"podcast_id": None}, 7]
    for body in (batch, {"events": batch}):
        found = _codes(error_of(api.post("/events", body), 422))
        assert found == {
            ("events[1].trigger_type", "unknown_trigger"),
            ("events[2].podcast_id", "wrong_type"),
            ("events[3]", "wrong_type"),
        }


@pytest.mark.parametrize(
    ("body", "problem"),
    [
        ({"events": {}}, ("events", "wrong_type")),
        ({"events": [GOOD], "x": 1}, ("x", "unknown_field")),
        ([GOOD] * 501, ("events", "batch_size")),
    ],
)
def test_a_wrong_batch_is_refused(
    api: Api, body: Any, problem: tuple[str, str]
) -> None:
    assert _codes(error_of(api.post("/events", body), 422)) == {problem}


@pytest.mark.parametrize(
    ("field", "code"),
    [
        ("podcast_id", "unknown_podcast"),
        ("booking_id", "unknown_booking"),
        ("episode_id", "unknown_episode"),
        ("guest_id", "unknown_guest"),
    ],
)
def test_an_event_about_nothing_is_refused(api: Api, field: str, code: str) -> None:
    error = error_of(api.post("/events", GOOD | {field: "nobody"}), 422)
    assert _codes(error) == {(field, code)}


@pytest.mark.parametrize(
    ("path", "missing"),
    [
        ("/podcasts/n", {"title"}),
        ("/booking-links/n", {"podcast_id", "name"}),
        ("/bookings/n", {"podcast_id", "start_time"}),
        ("/episodes/n", {"podcast_id", "title"}),
        ("/guests/n", {"podcast_id", "name"}),
    ],
)
def test_a_new_record_needs_some_fields(api: Api, path: str, missing: set[str]) -> None:
    error = error_of(api.put(path, {}), 422)
    assert _codes(error) == {(name, "missing") for name in missing}


def test_what_a_record_needs_cannot_be_cleared(api: Api) -> None:
    error = error_of(api.put("/episodes/e", {"title": None}), 422)
    assert _codes(error) == {("title", "needed")}


@pytest.mark.parametrize(
    ("path", "body"),
    [
        ("/bookings/b/reschedule", {}),
        ("/bookings/b/reschedule", {"start_time": None}),
        ("/episodes/e/schedule", {}),
    ],
)
def test_a_verb_without_its_date_is_refused(
    api: Api, path: str, body: dict[str, Any]
) -> None:
    error_of(api.post(path, body), 422)


def test_a_verb_that_takes_nothing_refuses_something(api: Api) -> None:
    error = error_of(api.post("/bookings/b/confirm", {"force": True}), 422)
    assert _codes(error) == {("force", "unknown_field")}
    assert error_of(api.post("/bookings/b/confirm", [1]), 422)


@pytest.mark.parametrize(
    ("query", "status", "code"),
    [
        ("limit=100000", 422, "range"),
        ("limit=-1", 422, "range"),
        ("limit=0", 422, "range"),
        ("limit=abc", 422, "range"),
        ("limit=%D9%A1", 422, "range"),
        ("state=faild", 422, "unknown_value"),
        ("sort=name%3Bdrop", 422, "unknown_field"),
        ("state=pending&state=cancelled", 422, "given_twice"),
        ("booking_id=1'%20or%20'1'='1", 422, "id_invalid"),
        ("cursor=x", 400, None),
        ("cursor=bm90anNvbg", 400, None),
    ],
)
@pytest.mark.parametrize("path", ["/executions", "/scheduled-jobs"])
def test_a_wrong_query_is_refused(
    api: Api, path: str, query: str, status: int, code: str | None
) -> None:
    error = error_of(api.get(f"{path}?{query}"), status)
    if code is None:
        assert error["code"] == "cursor_invalid"
    else:
        assert {found for _, found in _codes(error)} == {code}


@pytest.mark.parametrize("record_id", ["a%20b", "%00", "x" * 65, "%2e%2e%2f", "é"])
def test_an_id_that_cannot_be_is_not_found(api: Api, record_id: str) -> None:
    for path in ("/podcasts", "/bookings", "/episodes", "/guests", "/booking-links"):
        assert error_of(api.get(f"{path}/{record_id}"), 404)


def test_an_unknown_record_is_not_found(api: Api) -> None:
    assert error_of(api.get("/bookings/x"), 404)["code"] == "unknown_booking"
    assert error_of(api.get("/events/x"), 404)["code"] == "unknown_event"
    for verb in ("confirm", "decline", "cancel"):
        assert error_of(api.post(f"/bookings/x/{verb}"), 404)


def test_a_refused_change_is_not_half_done(
    api: Api, make_db: sessionmaker[Session]
) -> None:
    answer = api.put("/bookings/b", {"guest_name": "New", "podcast_id": "nobody"})
    assert error_of(answer, 409)["code"] == "podcast_fixed"
    with make_db() as session:
        assert session.scalars(select(Booking.guest_name)).all() == ["Guest of mary"]
