from __future__ import annotations

import pytest
from flask import Flask, abort
from sqlalchemy import Engine, text

from tasks.errors import Conflict, InvalidInput, NotFound
from tests.dashboard.conftest import Browser


@pytest.mark.parametrize("path", ["/nowhere", "/static/nowhere.css"])
def test_an_unknown_address_is_a_page_with_a_reference(
    client: Browser, path: str
) -> None:
    answer = client.get(path)

    assert answer.status_code == 404
    page = answer.get_data(as_text=True)
    assert "Nothing here" in page
    assert answer.headers["X-Request-ID"] in page


@pytest.mark.parametrize(
    ("referrer", "is_offered"),
    [
        ("http://localhost/rules/?q=a&amp;b", True),
        ("http://localhost/nowhere", False),  # it is what did not work
        ("http://elsewhere.example/rules/", False),
        ("http://localhost//elsewhere.example/", False),
        ("http://[localhost", False),
        ("", False),
    ],
)
def test_an_error_leads_back_to_the_page_of_ours_before_it(
    client: Browser, referrer: str, is_offered: bool
) -> None:
    page = client.get("/nowhere", headers={"Referer": referrer}).text

    assert (">Back</a>" in page) == is_offered
    assert "elsewhere" not in page
    assert "To the overview" in page


@pytest.mark.parametrize(("status", "is_offered"), [(503, True), (404, False)])
def test_what_may_be_over_in_a_moment_is_tried_again_by_a_link(
    app: Flask, as_operator: Browser, status: int, is_offered: bool
) -> None:
    for view in ("failures.index", "failures.acknowledge_selected"):
        app.view_functions[view] = lambda: abort(status)
    shown, sent = (
        as_operator.get("/failures/"),
        as_operator.post("/failures/acknowledge"),
    )

    assert (shown.status_code, sent.status_code) == (status, status)
    assert ('href="">Try again</a>' in shown.text) == is_offered
    # A link would not send again what was written.
    assert ">Try again</a>" not in sent.text


def test_under_api_errors_are_json(client: Browser) -> None:
    answer = client.get("/api/v1/nowhere")

    assert answer.status_code == 404
    assert answer.get_json()["error"]["code"] == "not_found"


@pytest.mark.parametrize(
    ("error", "status"),
    [
        (InvalidInput("bad", "That is not a number."), 400),
        (NotFound("gone", "That rule does not exist."), 404),
        (Conflict("busy", "That execution is running."), 409),
    ],
)
def test_a_refusal_of_the_engine_is_a_page_with_its_sentence(
    app: Flask, client: Browser, error: InvalidInput, status: int
) -> None:
    def refuse() -> str:
        raise error

    app.view_functions["healthz"] = refuse

    answer = client.get("/healthz")

    assert answer.status_code == status
    assert error.message in answer.get_data(as_text=True)


@pytest.mark.parametrize("status", [400, 401, 403, 405, 413, 429, 418])
def test_every_status_has_a_page(app: Flask, client: Browser, status: int) -> None:
    app.view_functions["healthz"] = lambda: abort(status)

    answer = client.get("/healthz")

    assert answer.status_code == status
    assert "<h1>" in answer.get_data(as_text=True)


def test_a_bug_is_a_page_that_tells_nothing_of_the_code(
    app: Flask, client: Browser
) -> None:
    def fail() -> str:
        raise RuntimeError("the secret inside")

    app.view_functions["healthz"] = fail
    app.testing = False

    answer = client.get("/healthz")

    assert answer.status_code == 500
    assert "Something broke" in answer.get_data(as_text=True)
    assert "secret inside" not in answer.get_data(as_text=True)


def test_without_the_database_there_is_still_a_page(
    sqlite_engine: Engine, app: Flask, as_viewer: Browser
) -> None:
    app.testing = False
    with sqlite_engine.begin() as connection:
        connection.execute(text("DROP TABLE operator_sessions"))

    answer = as_viewer.get("/operators/")

    assert answer.status_code == 503
    assert "database does not answer" in answer.get_data(as_text=True)


def test_without_the_database_a_page_that_begins_a_session_says_so_as_well(
    sqlite_engine: Engine, app: Flask, client: Browser
) -> None:
    app.testing = False
    with sqlite_engine.begin() as connection:
        connection.execute(text("DROP TABLE operator_sessions"))

    answer = client.get("/login")

    assert answer.status_code == 503
    assert "database does not answer" in answer.get_data(as_text=True)
    assert answer.headers["Retry-After"] == "10"
    assert "X-Request-ID" in answer.headers


def test_the_health_check_asks_the_database(client: Browser) -> None:
    answer = client.get("/healthz")

    assert answer.get_json() == {"status": "ok"}


def test_a_body_of_more_than_a_megabyte_is_refused(as_operator: Browser) -> None:
    answer = as_operator.post("/logout", data={"filler": "x" * 1_100_000})

    assert answer.status_code == 413
    assert "1 MB" in answer.get_data(as_text=True)
