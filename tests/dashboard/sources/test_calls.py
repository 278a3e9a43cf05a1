"""Calls of services: what is taken, what is refused, and what the page says of it."""

from __future__ import annotations

from flask.testing import FlaskClient
from sqlalchemy import Engine

from tests.dashboard.sources.conftest import (
    add_source,
    call_hook,
    shown_secret,
    source_page,
)


def test_a_bad_signature_is_answered_in_json_and_seen_on_the_page(
    as_admin: FlaskClient, client: FlaskClient, podcast: str, sqlite_engine: Engine
) -> None:
    add_source(as_admin, podcast)
    source = source_page(sqlite_engine)
    answer = call_hook(client, source, "somebody else's")
    assert answer.status_code == 401
    assert answer.get_json()["error"]["code"] == "signature_wrong"
    page = as_admin.get(f"/sources/{source.id}").text
    assert "The signature does not fit" in page
    assert "Refused" in page


def test_an_unknown_event_is_taken_and_shown_as_ignored(
    as_admin: FlaskClient, client: FlaskClient, podcast: str, sqlite_engine: Engine
) -> None:
    secret = shown_secret(add_source(as_admin, podcast))
    source = source_page(sqlite_engine)
    answer = call_hook(client, source, secret, event="MEETING_ENDED")
    assert (answer.status_code, answer.get_json()["outcome"]) == (200, "ignored")
    assert "does not concern bookings" in as_admin.get(f"/sources/{source.id}").text


def test_a_message_that_cannot_be_kept_is_422(
    as_admin: FlaskClient, client: FlaskClient, podcast: str, sqlite_engine: Engine
) -> None:
    secret = shown_secret(add_source(as_admin, podcast))
    source = source_page(sqlite_engine)
    answer = call_hook(client, source, secret, startTime="soon")
    assert answer.status_code == 422
    assert "startTime" in answer.get_json()["error"]["message"]


def test_an_unknown_address_is_404_and_a_get_is_405(client: FlaskClient) -> None:
    answer = client.post("/hooks/nobody", data=b"{}")
    assert (answer.status_code, answer.is_json) == (404, True)
    look = client.get("/hooks/nobody")
    assert (look.status_code, look.headers["Allow"]) == (405, "POST")
    assert client.post("/hooks/" + "x" * 5000, data=b"{}").status_code == 404


def test_more_than_a_megabyte_is_refused_before_it_is_looked_at(
    client: FlaskClient,
) -> None:
    answer = client.post("/hooks/nobody", data=b"x" * 1_048_577)
    assert answer.status_code == 413
    assert "1,048,576 bytes" in answer.get_json()["error"]["message"]
    assert client.post("/hooks/nobody", data=b"x" * 1_048_576).status_code == 404


def test_a_flood_of_bad_calls_is_slowed_down_and_good_ones_are_not(
    as_admin: FlaskClient, client: FlaskClient, podcast: str, sqlite_engine: Engine
) -> None:
    secret = shown_secret(add_source(as_admin, podcast))
    source = source_page(sqlite_engine)
    for _ in range(40):
        assert call_hook(client, source, secret).status_code == 200
    answers = [call_hook(client, source, "not it").status_code for _ in range(40)]
    assert answers[:30] == [401] * 30
    assert set(answers[30:]) == {429}
    last = call_hook(client, source, "not it")
    assert "Too many calls" in last.get_json()["error"]["message"]
