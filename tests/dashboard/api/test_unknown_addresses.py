"""What is not of the API, or not so: always its own answer, never a page."""

from __future__ import annotations

import pytest
from flask.testing import FlaskClient

from tests.dashboard.api.caller import Api, error_of

FRENCH = {"Accept-Language": "fr"}


@pytest.mark.parametrize("method", ["GET", "POST", "PUT", "DELETE", "OPTIONS"])
@pytest.mark.parametrize(
    "path",
    [
        "/api",
        "/api/",
        "/api/v1",
        "/api/v2/events",
        "/api/v1/nowhere",
        "/api/v1/events/",
        "/api/v1//events",
        "/api/v1/events//x",
        "/api//v1/events",
        "/api/v1/podcasts//",
        "/api/v1/bookings/b-1//confirm",
    ],
)
def test_an_unknown_address_is_told_as_the_api_tells(
    client: FlaskClient, method: str, path: str
) -> None:
    answer = client.open(path, method=method, headers=FRENCH)

    assert error_of(answer, 404) == {
        "code": "not_found",
        "message": "There is nothing at this address.",
    }


@pytest.mark.parametrize(
    ("method", "path", "allowed"),
    [
        ("GET", "/api/v1/events", {"POST", "OPTIONS"}),
        ("BREW", "/api/v1/events", {"POST", "OPTIONS"}),
        ("DELETE", "/api/v1/podcasts/p", {"GET", "HEAD", "PUT", "OPTIONS"}),
        ("POST", "/api/v1/openapi.json", {"GET", "HEAD", "OPTIONS"}),
    ],
)
def test_a_wrong_method_is_told_with_those_that_fit(
    client: FlaskClient, method: str, path: str, allowed: set[str]
) -> None:
    answer = client.open(path, method=method, headers=FRENCH)

    assert error_of(answer, 405) == {
        "code": "method_not_allowed",
        "message": "This address does not know this method.",
    }
    assert set(answer.headers["Allow"].split(", ")) == allowed


def test_head_has_the_same_headers_and_no_body(client: FlaskClient) -> None:
    answer = client.head("/api/v1/nowhere")

    assert (answer.status_code, answer.data) == (404, b"")
    assert answer.mimetype == "application/json"


def test_options_tells_methods_and_is_no_page(client: FlaskClient) -> None:
    answer = client.options("/api/v1/events")

    assert (answer.status_code, answer.data) == (204, b"")
    assert set(answer.headers["Allow"].split(", ")) == {"POST", "OPTIONS"}
    assert "Content-Type" not in answer.headers


def test_a_foreign_host_is_told_in_json(client: FlaskClient) -> None:
    answer = client.get("/api/v1/events/x", headers={"Host": "evil.example"})

    error = error_of(answer, 400)
    assert error["code"] == "bad_request"
    assert "BASE_URL" in error["message"]


def test_a_packed_body_is_told(api: Api) -> None:
    answer = api.post("/events", {}, headers={"Content-Encoding": "gzip"})

    error = error_of(answer, 415)
    assert error["code"] == "unsupported_media_type"
    assert "Content-Encoding" in error["message"]
