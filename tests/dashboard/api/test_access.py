"""Tokens open the API, and only for what they may do."""

from __future__ import annotations

import logging
from collections.abc import Callable
from datetime import timedelta

import pytest
from limits import parse
from sqlalchemy import select
from sqlalchemy.orm import Session, sessionmaker

from dashboard.api import access
from tasks.clock import utcnow
from tasks.models import ApiToken
from tasks.operations.audit import SYSTEM
from tasks.operations.tokens import revoke_token
from tests.dashboard.api.caller import Api, error_of


@pytest.mark.parametrize(
    ("header", "code"),
    [
        (None, "token_missing"),
        ("", "token_missing"),
        ("Bearer", "token_missing"),
        ("Bearer  ", "token_missing"),
        ("Basic YTpi", "token_missing"),
        ("{token}", "token_missing"),
        ("Bearer Bearer {token}", "token_invalid"),
        ("Bearer {token}, Bearer {token}", "token_invalid"),
        ("Bearer crl_x", "token_invalid"),
        ("Bearer {token}x", "token_invalid"),
        ("Bearer " + "crl_" + "x" * 10_000, "token_invalid"),
        ("Bearer crl_äöü", "token_invalid"),
    ],
)
def test_without_a_valid_token_nothing_opens(
    api: Api, header: str | None, code: str
) -> None:
    headers = {}
    if header is not None:
        headers["Authorization"] = header.replace("{token}", api.token)
    answer = api.app.test_client().get("/api/v1/podcasts/p", headers=headers)
    assert error_of(answer, 401)["code"] == code
    assert answer.headers["WWW-Authenticate"].startswith('Bearer realm="carillon"')


@pytest.mark.parametrize("scheme", ["Bearer", "bearer", "BEARER"])
def test_the_scheme_may_be_written_in_any_case(api: Api, scheme: str) -> None:
    headers = {"Authorization": f"{scheme} {api.token}"}
    assert api.get("/podcasts/p", headers=headers).status_code == 200


@pytest.mark.parametrize("name", ["token", "access_token"])
def test_a_token_in_the_address_is_refused_and_not_logged(
    api: Api, caplog: pytest.LogCaptureFixture, name: str
) -> None:
    with caplog.at_level(logging.DEBUG):
        answer = api.get(f"/podcasts/p?{name}={api.token}")
    assert error_of(answer, 400)["code"] == "token_in_query"
    written = "".join(str(vars(record)) for record in caplog.records)
    assert api.token.split("_")[2] not in written


def test_a_revoked_token_is_refused(api: Api, make_db: sessionmaker[Session]) -> None:
    assert api.get("/podcasts/p").status_code == 200
    with make_db.begin() as session:
        token = session.scalars(select(ApiToken)).one()
        revoke_token(session, token.id, SYSTEM)
    assert error_of(api.get("/podcasts/p"), 401)["code"] == "token_revoked"


def test_an_expired_token_is_refused(api: Api, producer: Callable[..., Api]) -> None:
    past = utcnow() - timedelta(days=2)
    late = producer(api.congregation_id, expires_at=past + timedelta(days=1), now=past)
    assert error_of(late.get("/podcasts/p"), 401)["code"] == "token_expired"


@pytest.mark.parametrize(
    ("scope", "method", "path"),
    [
        ("events:write", "POST", "/events"),
        ("records:write", "PUT", "/podcasts/p"),
        ("records:write", "POST", "/bookings/b/confirm"),
        ("records:read", "GET", "/podcasts/p"),
        ("records:read", "GET", "/executions"),
        ("records:read", "GET", "/events/x"),
    ],
)
def test_a_scope_that_is_missing_is_named(
    api: Api, producer: Callable[..., Api], scope: str, method: str, path: str
) -> None:
    others = {"events:write", "records:write", "records:read"} - {scope}
    answer = producer(api.congregation_id, *others).call(method, path, json={})
    error = error_of(answer, 403)
    assert (error["code"], error["scope"]) == ("scope_missing", scope)
    assert scope in error["message"]


def test_a_use_is_noted(api: Api, make_db: sessionmaker[Session]) -> None:
    api.get("/podcasts/p")
    with make_db.begin() as session:
        used_at = session.scalars(select(ApiToken.last_used_at)).one()
    assert used_at is not None
    assert used_at.second == 0
    assert utcnow() - used_at < timedelta(minutes=2)


def test_a_token_that_calls_too_often_is_told_to_wait(
    api: Api, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(access, "PACE", parse("2/minute"))
    assert api.get("/podcasts/p").status_code == 200
    assert api.get("/podcasts/p").status_code == 200
    answer = api.get("/podcasts/p")
    assert error_of(answer, 429)["code"] == "too_many_requests"
    assert 1 <= int(answer.headers["Retry-After"]) <= 60


def test_the_description_needs_no_token_and_names_every_endpoint(api: Api) -> None:
    answer = api.app.test_client().get("/api/v1/openapi.json")
    assert answer.status_code == 200
    document = answer.json
    rules = [r for r in api.app.url_map.iter_rules() if r.endpoint.startswith("api.")]
    for rule in rules:
        path = rule.rule.replace("path:", "").replace("<", "{").replace(">", "}")
        if path != "/api/v1/openapi.json":
            assert path in document["paths"], path
    assert document["components"]["securitySchemes"]["token"]["scheme"] == "bearer"


def test_unknown_addresses_and_methods_answer_in_json(api: Api) -> None:
    assert error_of(api.get("/nothing"), 404)
    assert error_of(api.call("DELETE", "/podcasts/p"), 405)
