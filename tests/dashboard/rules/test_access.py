"""Who may do what to a rule, and that its name is never markup."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any
from uuid import UUID

from flask.testing import FlaskClient
from sqlalchemy import Engine
from sqlalchemy.orm import Session

from tasks.models import Rule
from tests.dashboard.rules.conftest import HTMX, XSS, mail, soup, words
from tests.support import factories


def test_only_an_admin_replaces_a_secret(
    as_operator: FlaskClient,
    as_admin: FlaskClient,
    add: Callable[..., UUID],
    read: Callable[..., list[Any]],
) -> None:
    rule_id = add(action="webhook", settings={"url": "https://example.org/"})

    assert as_operator.post(f"/rules/{rule_id}/secret").status_code == 403
    assert "New secret" not in words(as_operator.get(f"/rules/{rule_id}"))
    assert "New secret" in words(as_admin.get(f"/rules/{rule_id}"))
    answer = as_admin.post(f"/rules/{rule_id}/secret")
    assert "whsec_" in words(answer)
    assert read(Rule)[0].secret is not None


def test_a_viewer_looks_and_changes_nothing(
    as_viewer: FlaskClient,
    house: UUID,
    add: Callable[..., UUID],
    read: Callable[..., list[Any]],
) -> None:
    rule_id = add()
    page = as_viewer.get(f"/rules/{rule_id}")
    assert page.status_code == 200
    assert not soup(page).select("form[action^='/rules/']")
    for path in ("/rules/new", f"/rules/{rule_id}/edit"):
        assert as_viewer.get(path).status_code == 403
    for path in (
        "/rules/",
        "/rules/fields",
        "/rules/preview",
        "/rules/preview/mail",
        f"/rules/{rule_id}",
        f"/rules/{rule_id}/enable",
        f"/rules/{rule_id}/disable",
        f"/rules/{rule_id}/delete",
        f"/rules/{rule_id}/secret",
    ):
        assert as_viewer.post(path, data=mail(house)).status_code == 403
    assert [(rule.name, rule.enabled) for rule in read(Rule)] == [("Welcome", True)]


def test_a_change_needs_the_sessions_token(
    as_operator: FlaskClient, house: UUID, read: Callable[..., list[Any]]
) -> None:
    answer = as_operator.post(
        "/rules/", data=mail(house), headers={"X-CSRFToken": "wrong"}
    )
    assert answer.status_code == 400
    assert read(Rule) == []


def test_a_stranger_finds_nothing_and_changes_nothing(
    log_in: Callable[..., FlaskClient],
    sqlite_engine: Engine,
    house: UUID,
    add: Callable[..., UUID],
    read: Callable[..., list[Any]],
) -> None:
    with Session(sqlite_engine) as session, session.begin():
        theirs = factories.congregation(session, "twin")
        factories.booking(session, theirs, guest_name="Twin")
    rule_id = add()
    other = log_in(
        "admin", email="twin@example.org", sees_all=False, congregations=[theirs]
    )

    assert str(rule_id) not in other.get("/rules/").get_data(as_text=True)
    for path in (f"/rules/{rule_id}", f"/rules/{rule_id}/edit"):
        assert other.get(path).status_code == 404
    assert other.get(f"/rules/new?copy={rule_id}").status_code == 404
    for verb in ("", "/enable", "/disable", "/delete", "/secret"):
        answer = other.post(f"/rules/{rule_id}{verb}", data=mail(theirs))
        assert answer.status_code == 404
    for verb in ("fields", "preview"):
        answer = other.post(f"/rules/{verb}?rule={rule_id}", data=mail(theirs))
        assert answer.status_code == 404
    assert other.post("/rules/", data=mail(house)).status_code in {404, 422}
    shown = other.post("/rules/preview", data=mail(house), headers=HTMX)
    assert "Jörg" not in words(shown)
    (rule,) = read(Rule)
    assert (rule.name, rule.enabled, rule.deleted_at) == ("Welcome", True, None)


def test_a_name_is_never_markup(as_operator: FlaskClient, house: UUID) -> None:
    answer = as_operator.post("/rules/", data=mail(house, name=XSS))

    for path in ("/rules/", answer.location, f"{answer.location}/edit"):
        page = as_operator.get(path).get_data(as_text=True)
        assert XSS not in page
        assert "&lt;script&gt;alert(1)" in page
