from __future__ import annotations

from collections.abc import Callable
from uuid import UUID

import pytest
from flask import Flask
from sqlalchemy import Engine
from werkzeug.routing import Rule

from dashboard.operators.models import RoleName
from dashboard.security import (
    OWN_AFFAIRS,
    OWN_CREDENTIALS,
    PUBLIC,
    needed_role,
    require,
)
from tests.dashboard.conftest import Browser

LogIn = Callable[..., Browser]
#: A value for each kind of variable in an address.
VALUES = {"UUIDConverter": str(UUID(int=7)), "IntegerConverter": 7}


def address(app: Flask, rule: Rule) -> str:
    """Return some address that the rule matches."""
    values = {}
    for name, converter in rule._converters.items():
        if items := getattr(converter, "items", None):
            values[name] = min(items)
        else:
            values[name] = VALUES.get(type(converter).__name__, "something")
    with app.test_request_context():
        return rule.build(values)[1]  # type: ignore[index]  # it matches


def guarded(app: Flask) -> list[tuple[str, str, str]]:
    """Return method, address and endpoint of everything behind the login."""
    found = []
    for rule in app.url_map.iter_rules():
        blueprint = rule.endpoint.partition(".")[0]
        if rule.endpoint in PUBLIC or blueprint in OWN_CREDENTIALS:
            continue
        methods = sorted((rule.methods or set()) & {"GET", "POST"})
        found += [(method, address(app, rule), rule.endpoint) for method in methods]
    return found


def test_nothing_but_the_public_list_works_without_a_login(app: Flask) -> None:
    client = app.test_client()
    assert isinstance(client, Browser)
    client.learn_token()
    tried = guarded(app)
    assert len(tried) > 15

    for method, path, _endpoint in tried:
        answer = client.open(path, method=method)
        assert answer.status_code in {302, 303}, (method, path, answer.status_code)
        assert answer.location.startswith("/login"), (method, path)


def test_htmx_is_sent_to_the_login_as_a_whole(client: Browser) -> None:
    answer = client.get("/operators/", headers={"HX-Request": "true"})

    assert answer.status_code == 401
    assert answer.headers["HX-Redirect"] == "/login"


def test_the_public_list_names_endpoints_that_exist(app: Flask) -> None:
    assert set(app.view_functions) >= PUBLIC


def test_a_viewer_can_change_nothing_but_their_own_affairs(
    app: Flask, as_viewer: Browser
) -> None:
    own = OWN_AFFAIRS | {"security.verify"}
    for method, path, endpoint in guarded(app):
        if method == "GET" or endpoint in own:
            continue
        answer = as_viewer.open(path, method=method)
        assert answer.status_code == 403, (method, path, answer.status_code)


def test_an_operator_can_do_nothing_that_is_for_admins(
    app: Flask, as_operator: Browser
) -> None:
    with app.app_context():
        for_admins = [
            (method, path)
            for method, path, endpoint in guarded(app)
            if needed_role(endpoint, method) is RoleName.ADMIN
        ]
    assert len(for_admins) >= 6

    for method, path in for_admins:
        answer = as_operator.open(path, method=method)
        assert answer.status_code == 403, (method, path)


def test_looking_never_changes_anything(
    app: Flask, as_admin: Browser, sqlite_engine: Engine
) -> None:
    before = contents(sqlite_engine)
    for method, path, _endpoint in guarded(app):
        if method == "GET":
            as_admin.open(path, method="GET").close()

    assert contents(sqlite_engine) == before


def contents(engine: Engine) -> dict[str, list[object]]:
    from tasks.models import Base

    with engine.connect() as connection:
        return {
            table.name: list(connection.execute(table.select()))
            for table in Base.metadata.sorted_tables
        }


@pytest.mark.parametrize("token", ["", "x", "IjEi.aaaa.bbbb"])
def test_a_change_without_the_right_token_is_refused(
    as_admin: Browser, token: str
) -> None:
    as_admin.token = token or None

    answer = as_admin.post("/operators/", data={"email": "eve@example.org"})

    assert answer.status_code == 400
    assert "Reload the page" in answer.get_data(as_text=True)


def test_another_session_s_token_is_refused(
    as_admin: Browser, as_viewer: Browser
) -> None:
    as_admin.token = as_viewer.token

    assert as_admin.post("/operators/").status_code == 400


def test_a_token_from_before_the_login_is_refused(
    client: Browser, log_in: LogIn
) -> None:
    old = client.learn_token()
    browser = log_in("admin")
    browser.token = old

    assert browser.post("/operators/").status_code == 400


def test_a_role_in_the_form_of_another_page_changes_nothing(
    as_viewer: Browser,
) -> None:
    as_viewer.post("/account/password", data={"role": "admin"})

    assert as_viewer.get("/operators/").status_code == 403


def test_require_marks_the_view_with_its_role() -> None:
    @require("admin")
    def view() -> str:
        return ""

    assert view.minimum_role is RoleName.ADMIN  # type: ignore[attr-defined]
