"""The page of API tokens."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import timedelta
from typing import Any
from uuid import UUID

import pytest
from flask.testing import FlaskClient
from sqlalchemy import Engine, func, select
from sqlalchemy.orm import Session
from werkzeug.test import TestResponse

from dashboard.office import CHOICES_MAX
from tasks.clock import utcnow
from tasks.models import ApiToken, AuditEntry, Congregation
from tasks.operations.audit import SYSTEM
from tasks.operations.tokens import authenticate, create_token
from tests.support import factories


@pytest.fixture
def make(sqlite_engine: Engine) -> Callable[..., ApiToken]:
    def add(of: Congregation, name: str = "Website", **values: Any) -> ApiToken:
        with Session(sqlite_engine, expire_on_commit=False) as session, session.begin():
            token, _ = create_token(
                session, of.id, name, ["events:write"], None, SYSTEM
            )
            for key, value in values.items():
                setattr(token, key, value)
        return token

    return add


def _post(browser: FlaskClient, of: UUID, **changes: Any) -> TestResponse:
    values = {
        "name": "Website",
        "congregation_id": str(of),
        "scopes": ["events:write", "records:read"],
        "days": "90",
    }
    return browser.post("/tokens/", data=values | changes)


def test_a_new_token_is_shown_once_and_works(
    as_admin: FlaskClient, congregation: Congregation, sqlite_engine: Engine
) -> None:
    page = _post(as_admin, congregation.id)
    assert page.status_code == 201
    assert page.headers["Cache-Control"] == "no-store"
    shown = re.search(r"crl_\w+", page.text)
    assert shown
    with Session(sqlite_engine) as session:
        token = authenticate(session, shown[0], utcnow())
        assert isinstance(token, ApiToken)
        assert token.scopes == "events:write records:read"
        assert token.created_by == "admin@example.org"
        assert token.expires_at is not None
        assert timedelta(days=89) < token.expires_at - utcnow() < timedelta(days=91)
    assert shown[0] not in as_admin.get("/tokens/").text


def test_the_list_says_what_is_to_know(
    as_admin: FlaskClient,
    congregation: Congregation,
    make: Callable[..., ApiToken],
) -> None:
    token = make(congregation)
    old = make(congregation, "Old", expires_at=utcnow() - timedelta(days=1))
    page = as_admin.get("/tokens/").text
    for piece in ("Website", "St Mary", f"…{token.last4}", "events:write", "never"):
        assert piece in page
    assert f"/tokens/{token.id}/revoke" in page
    assert f"/tokens/{old.id}/revoke" not in page


def test_an_empty_list_says_how_to_begin(as_admin: FlaskClient) -> None:
    assert "Make the first token" in as_admin.get("/tokens/").text
    page = as_admin.get("/tokens/new").text
    assert "There is no congregation yet" in page
    assert 'href="/congregations/new">New congregation' in page


def test_revoking_is_for_good_and_audited(
    as_admin: FlaskClient,
    congregation: Congregation,
    make: Callable[..., ApiToken],
    sqlite_engine: Engine,
) -> None:
    token = make(congregation)
    answer = as_admin.post(f"/tokens/{token.id}/revoke", follow_redirects=True)
    assert "is revoked and refused from now on" in answer.text
    with Session(sqlite_engine) as session:
        row = session.get(ApiToken, token.id)
        assert row is not None
        assert row.revoked_at is not None
        actions = session.scalars(select(AuditEntry.action)).all()
    assert "token.revoked" in actions


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"name": " "}, "Give the token a name"),
        ({"name": "x" * 121}, "at most 120"),
        ({"scopes": []}, "Choose at least one thing"),
        ({"scopes": ["admin:all"]}, "valid choice"),
        ({"days": "9999"}, "alid choice"),
        ({"congregation_id": "00000000-0000-7000-8000-000000000000"}, "alid choice"),
        ({"congregation_id": "x"}, "alid"),
    ],
)
def test_a_wrong_form_comes_back_with_a_sentence(
    as_admin: FlaskClient,
    congregation: Congregation,
    sqlite_engine: Engine,
    changes: dict[str, Any],
    sentence: str,
) -> None:
    page = _post(as_admin, congregation.id, **changes)
    assert page.status_code == 422
    assert sentence in page.text
    with Session(sqlite_engine) as session:
        assert session.scalar(select(func.count()).select_from(ApiToken)) == 0


def test_only_admins_see_and_make_tokens(
    as_operator: FlaskClient,
    congregation: Congregation,
    make: Callable[..., ApiToken],
) -> None:
    token = make(congregation)
    assert as_operator.get("/tokens/").status_code == 403
    assert as_operator.get("/tokens/new").status_code == 403
    assert _post(as_operator, congregation.id).status_code == 403
    assert as_operator.post(f"/tokens/{token.id}/revoke").status_code == 403


def test_an_admin_of_one_congregation_sees_no_token_of_another(
    log_in: Callable[..., FlaskClient],
    congregation: Congregation,
    make: Callable[..., ApiToken],
    sqlite_engine: Engine,
) -> None:
    with Session(sqlite_engine, expire_on_commit=False) as session, session.begin():
        twin = Congregation(slug="twin", name="St Mary")
        session.add(twin)
    mine, theirs = make(congregation, "Mine"), make(twin, "Theirs")
    browser = log_in("admin", sees_all=False, congregations=[congregation.id])
    page = browser.get("/tokens/").text
    assert f"token-{mine.id}" in page
    assert f"token-{theirs.id}" not in page
    assert browser.post(f"/tokens/{theirs.id}/revoke").status_code == 404
    assert _post(browser, twin.id).status_code == 422


def test_names_are_shown_as_text(
    as_admin: FlaskClient,
    congregation: Congregation,
    make: Callable[..., ApiToken],
) -> None:
    make(congregation, "<script>alert(1)</script>")
    page = as_admin.get("/tokens/").text
    assert "<script>alert(1)" not in page
    assert "&lt;script&gt;alert(1)" in page


def test_the_form_stays_small_with_many_congregations(
    as_admin: FlaskClient, congregation: Congregation, sqlite_engine: Engine
) -> None:
    with Session(sqlite_engine) as session, session.begin():
        for number in range(CHOICES_MAX + 20):
            factories.congregation(session, f"house-{number}", name=f"House {number}")
    page = as_admin.get("/tokens/new").get_data()
    choice = page.partition(b'id="congregation_id"')[2].partition(b"</select>")[0]
    assert choice.count(b">House ") == CHOICES_MAX
    assert len(page) < 150_000
