from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest
from flask import Flask

from tasks.config import Config
from tests.dashboard.conftest import Browser

EVERYWHERE = (
    "/login",
    "/nowhere",
    "/operators/",
    "/static/css/main.css",
    "/bootstrap/static/css/bootstrap.min.css",
    "/htmx/htmx.min.js",
    "/api/v1/nowhere",
    "/healthz",
)


@pytest.mark.parametrize("path", EVERYWHERE)
def test_every_answer_has_the_headers(client: Browser, path: str) -> None:
    with client.get(path) as answer:
        headers = answer.headers

    policy = headers["Content-Security-Policy"]
    assert policy.startswith("default-src 'none'")
    assert "unsafe" not in policy
    assert headers["X-Content-Type-Options"] == "nosniff"
    assert headers["X-Frame-Options"] == "DENY"
    assert headers["Referrer-Policy"] == "same-origin"


def test_pages_are_kept_nowhere(as_viewer: Browser) -> None:
    answer = as_viewer.get("/account/password")

    assert answer.headers["Cache-Control"] == "no-store"
    assert "Cookie" in answer.headers["Vary"]


def test_files_with_a_version_are_kept_for_ever(app: Flask, client: Browser) -> None:
    with app.test_request_context():
        address = app.url_for("static", filename="css/base.css")

    with client.get(address) as answer:
        assert "v=" in address
        assert "immutable" in answer.headers["Cache-Control"]


def test_pages_have_nothing_that_the_policy_forbids(as_admin: Browser) -> None:
    for path in ("/login", "/operators/", "/operators/new", "/account/password"):
        page = as_admin.get(path, follow_redirects=True).get_data(as_text=True)
        assert " style=" not in page
        assert " onclick=" not in page
        assert "<style" not in page
        assert "<script>" not in page


@pytest.mark.parametrize("host", ["evil.example", "localhost.evil.example", ""])
def test_a_foreign_host_is_refused(client: Browser, host: str) -> None:
    answer = client.get("/login", headers={"Host": host})

    assert answer.status_code == 400
    assert "evil" not in answer.get_data(as_text=True)
    assert answer.headers["X-Frame-Options"] == "DENY"


@pytest.mark.parametrize(
    "headers",
    [
        {"Origin": "null"},
        {"Origin": "http://localhost.evil.example"},
        {"Origin": "http://evil.example"},
        {"Sec-Fetch-Site": "cross-site"},
        {"Sec-Fetch-Site": "same-site"},
    ],
)
def test_a_change_asked_for_by_another_site_is_refused(
    as_admin: Browser, headers: dict[str, str]
) -> None:
    answer = as_admin.post("/logout", headers=headers)

    assert answer.status_code == 403
    assert as_admin.get("/account/password").status_code == 200


def test_over_https_the_cookie_is_bound_to_the_host(
    config: Config, make_app: Callable[[Config], Flask]
) -> None:
    app = make_app(replace(config, base_url="https://bells.example.org"))

    answer = app.test_client().get("/login", base_url="https://bells.example.org")

    cookie = answer.headers["Set-Cookie"]
    assert cookie.startswith("__Host-session=")
    assert {"Secure", "HttpOnly", "Path=/", "SameSite=Lax"} <= set(cookie.split("; "))
    assert "Domain" not in cookie
    assert "max-age" in answer.headers["Strict-Transport-Security"]
