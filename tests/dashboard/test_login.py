from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest
from flask import Flask
from sqlalchemy import Engine, select, update
from sqlalchemy.orm import Session

from dashboard.extensions import limiter
from dashboard.operators.models import Operator, OperatorSession
from tasks.config import Config
from tasks.models import AuditEntry
from tests.dashboard.conftest import PASSWORD, Browser

AddOperator = Callable[..., str]


def test_a_right_password_opens_the_console(
    client: Browser, add_operator: AddOperator
) -> None:
    answer = client.log_in(add_operator("viewer"))

    assert answer.status_code == 302
    assert client.get("/account/password").status_code == 200


def test_a_login_is_in_the_audit_log(as_viewer: Browser, sqlite_engine: Engine) -> None:
    with Session(sqlite_engine) as session:
        actions = session.scalars(select(AuditEntry.action)).all()
    assert "operator.logged_in" in actions


@pytest.mark.parametrize(
    ("email", "password"),
    [
        ("viewer@example.org", "wrong password here"),
        ("nobody@example.org", PASSWORD),
        ("viewer@example.org", ""),
        ("", ""),
        ("admin'--", PASSWORD),
        ("viewer@example.org", "x" * 10_000),
        ("disabled@example.org", PASSWORD),
    ],
)
def test_every_refused_login_says_the_same(
    client: Browser,
    add_operator: AddOperator,
    sqlite_engine: Engine,
    email: str,
    password: str,
) -> None:
    add_operator("viewer")
    add_operator("viewer", email="disabled@example.org")
    with Session(sqlite_engine) as session, session.begin():
        session.execute(
            update(Operator)
            .where(Operator.email == "disabled@example.org")
            .values(active=False)
        )

    answer = client.log_in(email, password)

    assert answer.status_code == 401
    page = answer.get_data(as_text=True)
    assert page.count("Wrong e-mail address or password.") == 1
    assert "does not exist" not in page


def test_capitals_in_the_address_do_not_matter(
    client: Browser, add_operator: AddOperator
) -> None:
    add_operator("viewer")

    assert client.log_in("Viewer@Example.org").status_code == 302


def test_after_ten_wrong_passwords_even_the_right_one_waits(
    client: Browser, add_operator: AddOperator
) -> None:
    email = add_operator("viewer")
    for _ in range(10):
        assert client.log_in(email, "wrong password here").status_code == 401

    answer = client.log_in(email)

    assert answer.status_code == 429
    assert "Wait a quarter of an hour" in answer.get_data(as_text=True)
    assert int(answer.headers["Retry-After"]) > 0


@pytest.mark.parametrize("spelled", ["ｅxample.org", "example。org", "EXAMPLE.ORG"])
def test_another_spelling_of_the_address_tries_no_more_passwords(
    client: Browser, add_operator: AddOperator, spelled: str
) -> None:
    name, _, domain = add_operator("viewer").partition("@")
    assert client.log_in(f"{name}@{spelled}").status_code == 302
    client.post("/logout")
    for _ in range(10):
        client.log_in(f"{name}@{domain}", "wrong password here")
    assert client.log_in(f"{name}@{spelled}").status_code == 429


def test_an_unknown_account_is_throttled_as_well(client: Browser) -> None:
    answers = [client.log_in("nobody@example.org").status_code for _ in range(11)]

    assert answers == [401] * 10 + [429]


def test_one_address_cannot_try_many_accounts(client: Browser) -> None:
    answers = [client.log_in(f"n{n}@example.org").status_code for n in range(51)]

    assert answers == [401] * 50 + [429]


def test_successful_logins_are_not_counted(
    app: Flask, add_operator: AddOperator
) -> None:
    email = add_operator("viewer")
    for _ in range(12):
        browser = app.test_client()
        assert isinstance(browser, Browser)
        assert browser.log_in(email).status_code == 302


@pytest.mark.parametrize(
    "target", ["https://evil.example/", "//evil.example", "/\\evil.example", "////x"]
)
def test_a_login_never_leads_to_another_site(
    client: Browser, add_operator: AddOperator, target: str
) -> None:
    client.learn_token()

    answer = client.post(
        "/login",
        data={"email": add_operator("viewer"), "password": PASSWORD, "next": target},
    )

    assert answer.location in {"/", "/%5Cevil.example"}  # a path of this console


def test_a_login_leads_to_the_page_that_was_asked_for(
    client: Browser, add_operator: AddOperator
) -> None:
    asked = client.get("/account/password?x=1")
    client.learn_token()

    answer = client.post(
        "/login",
        data={
            "email": add_operator("viewer"),
            "password": PASSWORD,
            "next": "/account/password?x=1",
        },
    )

    assert asked.location == "/login?next=/account/password?x%3D1"
    assert answer.location == "/account/password?x=1"


def test_nobody_stays_logged_in_beyond_the_session(
    client: Browser, add_operator: AddOperator
) -> None:
    client.learn_token()

    answer = client.post(
        "/login",
        data={
            "email": add_operator("viewer"),
            "password": PASSWORD,
            "remember": "y",
        },
    )

    cookies = answer.headers.getlist("Set-Cookie")
    assert [cookie.partition("=")[0] for cookie in cookies] == ["session"]


@pytest.mark.parametrize(
    "body", ["{}", "5", '{"email": 5}', '{"email": "a@b.c", "password": "\\ud800"}']
)
def test_nobody_logs_in_with_json(client: Browser, body: str) -> None:
    client.learn_token()
    kind = "application/json"
    assert client.post("/login", data=body, content_type=kind).status_code == 400
    page = client.get("/login", headers={"Accept": kind})
    assert page.mimetype == "text/html"


def test_nobody_changes_a_password_with_json(as_viewer: Browser) -> None:
    changed = as_viewer.post("/account/password", json={"password": 5})
    assert changed.status_code == 400
    wrong = as_viewer.post("/account/password", headers={"Accept": "application/json"})
    assert wrong.mimetype == "text/html"


def test_a_changed_password_ends_the_other_sessions(
    app: Flask, client: Browser, add_operator: AddOperator, sqlite_engine: Engine
) -> None:
    email = add_operator("viewer")
    other = app.test_client()
    assert isinstance(other, Browser)
    client.log_in(email)
    other.log_in(email)

    answer = client.post(
        "/account/password",
        data={
            "password": PASSWORD,
            "new_password": "four bells in the fog",
            "new_password_confirm": "four bells in the fog",
        },
    )

    assert answer.status_code == 302
    assert client.get("/account/password").status_code == 200
    assert other.get("/account/password").status_code == 302
    with Session(sqlite_engine) as session:
        rows = session.scalars(
            select(OperatorSession).where(OperatorSession.operator_id.is_not(None))
        ).all()
    assert len(rows) == 1


@pytest.mark.parametrize(
    "password", ["short", "Password123456", "Carillon2026!!", "aaaaaaaaaaaaa"]
)
def test_a_weak_new_password_is_refused(as_viewer: Browser, password: str) -> None:
    answer = as_viewer.post(
        "/account/password",
        data={
            "password": PASSWORD,
            "new_password": password,
            "new_password_confirm": password,
        },
    )

    page = answer.get_data(as_text=True)
    assert answer.status_code == 200
    assert "at least 12 characters" in page or "among the first" in page


def test_logins_work_and_are_throttled_while_redis_is_away(
    config: Config,
    new_app: Callable[[Config], Flask],
    add_operator: AddOperator,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    # All apps of a process share the limiter; it must forget the dead Redis again.
    monkeypatch.setattr(limiter, "_storage_dead", False)
    app = new_app(replace(config, redis_url="redis://127.0.0.1:1/0"))
    browser = app.test_client()
    assert isinstance(browser, Browser)
    email = add_operator("viewer")

    answers = [
        browser.log_in(email, "wrong password here").status_code for _ in range(11)
    ]

    assert answers == [401] * 10 + [429]
