from __future__ import annotations

import re
import threading
from collections.abc import Callable
from uuid import UUID

import pytest
from flask import Flask
from sqlalchemy import Engine, select
from sqlalchemy.orm import Session

from dashboard.operators import queries
from dashboard.operators.accounts import create_operator
from dashboard.operators.models import Operator, RoleName, operator_congregations
from tasks.errors import Conflict
from tasks.models import AuditEntry, Congregation
from tests.dashboard.conftest import PASSWORD, Browser
from tests.support import factories
from tests.support.locks import waits_for_a_lock
from tests.support.processes import until

AddOperator = Callable[..., str]
NEW_PASSWORD = "seven bells in a row"


def operator(engine: Engine, email: str) -> Operator:
    with Session(engine) as session:
        return session.scalars(select(Operator).where(Operator.email == email)).one()


def audit(engine: Engine) -> list[str]:
    with Session(engine) as session:
        return list(session.scalars(select(AuditEntry.action)))


def test_a_new_operator_sets_a_password_with_a_link(
    app: Flask, as_admin: Browser, sqlite_engine: Engine, congregation: Congregation
) -> None:
    answer = as_admin.post(
        "/operators/",
        data={
            "email": "bob@example.org",
            "name": "Bob",
            "role": "operator",
            "congregations": str(congregation.id),
        },
    )

    page = answer.get_data(as_text=True)
    found = re.search(r"http://localhost(/setup\?token=[\w-]+)", page)
    assert found, page
    bob = operator(sqlite_engine, "bob@example.org")
    assert (bob.role, bob.sees_all, bob.password) == (RoleName.OPERATOR, False, None)

    browser = app.test_client()
    assert isinstance(browser, Browser)
    assert browser.log_in(bob.email, "anything at all").status_code == 401
    browser.learn_token(found[1])
    token = found[1].partition("=")[2]
    fields = {"token": token, "password": NEW_PASSWORD, "again": NEW_PASSWORD}
    assert browser.post("/setup", data=fields).location == "/login"
    assert browser.log_in(bob.email, NEW_PASSWORD).status_code == 302
    assert {"operator.created", "operator.link_made", "operator.password_set"} <= set(
        audit(sqlite_engine)
    )


def test_the_same_address_twice_is_refused(
    as_admin: Browser, add_operator: AddOperator
) -> None:
    email = add_operator("viewer")

    answer = as_admin.post(
        "/operators/", data={"email": email.upper(), "role": "viewer", "sees_all": "y"}
    )

    assert answer.status_code == 422
    assert "is an operator already" in answer.get_data(as_text=True)


def test_the_same_address_at_once_is_refused(postgres_engine: Engine) -> None:
    refused: list[Conflict] = []
    with Session(postgres_engine) as session, session.begin():
        create_operator(session, "anna@example.org", None, RoleName.ADMIN)

    def add_too() -> None:
        try:
            with Session(postgres_engine) as session, session.begin():
                create_operator(session, "bob@example.org", None, RoleName.ADMIN)
        except Conflict as error:
            refused.append(error)

    other = threading.Thread(target=add_too)
    with Session(postgres_engine) as session, session.begin():
        create_operator(session, "bob@example.org", None, RoleName.ADMIN)
        other.start()
        until(lambda: waits_for_a_lock(postgres_engine))
    other.join(30)

    assert [error.code for error in refused] == ["operator_exists"]


def test_a_role_and_its_congregations_can_be_changed(
    as_admin: Browser,
    add_operator: AddOperator,
    sqlite_engine: Engine,
    congregation: Congregation,
) -> None:
    bob = operator(sqlite_engine, add_operator("viewer"))

    answer = as_admin.post(
        f"/operators/{bob.id}",
        data={"role": "operator", "congregations": str(congregation.id)},
    )

    assert answer.status_code == 303
    changed = operator(sqlite_engine, bob.email)
    assert (changed.role, changed.sees_all) == (RoleName.OPERATOR, False)
    page = as_admin.get(f"/operators/{bob.id}").get_data(as_text=True)
    assert f'<option selected value="{congregation.id}">' in page
    assert "operator.access_changed" in audit(sqlite_engine)


def _given(engine: Engine, email: str) -> set[str]:
    given = operator_congregations.c
    with Session(engine) as session:
        return set(
            session.scalars(
                select(Congregation.slug)
                .join(operator_congregations, given.congregation_id == Congregation.id)
                .join(Operator, Operator.id == given.operator_id)
                .where(Operator.email == email)
            )
        )


def test_what_somebody_may_see_stays_theirs_while_one_congregation_is_looked_at(
    as_admin: Browser,
    add_operator: AddOperator,
    sqlite_engine: Engine,
    congregation: Congregation,
) -> None:
    """The pages hide the others then; a saved form must not take them away."""
    with Session(sqlite_engine) as session, session.begin():
        john = factories.congregation(session, "st-john")
    given = [congregation.id, john]
    email = add_operator("viewer", sees_all=False, congregations=given)
    bob = operator(sqlite_engine, email)
    as_admin.get("/?congregation=st-mary")

    page = as_admin.get(f"/operators/{bob.id}").get_data(as_text=True)
    assert page.count("<option selected") == 2
    data = {"role": "operator", "congregations": [*map(str, given)]}
    assert as_admin.post(f"/operators/{bob.id}", data=data).status_code == 303
    assert _given(sqlite_engine, email) == {"st-john", "st-mary"}


def test_what_the_form_has_no_room_for_stays_theirs(
    as_admin: Browser,
    add_operator: AddOperator,
    sqlite_engine: Engine,
    congregation: Congregation,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with Session(sqlite_engine) as session, session.begin():
        john = factories.congregation(session, "st-john", name="St John")
    given = [congregation.id, john]
    email = add_operator("viewer", sees_all=False, congregations=given)
    bob = operator(sqlite_engine, email)
    monkeypatch.setattr(queries, "CHOICES_MAX", 1)

    data = {"role": "viewer"}  # St John is offered, and not chosen any more
    assert as_admin.post(f"/operators/{bob.id}", data=data).status_code == 303
    assert _given(sqlite_engine, email) == {"st-mary"}


@pytest.fixture
def john(sqlite_engine: Engine) -> UUID:
    """Add a congregation beside that of Mary."""
    with Session(sqlite_engine) as session, session.begin():
        return factories.congregation(session, "st-john")


@pytest.fixture
def as_mary(
    as_admin: Browser, log_in: Callable[..., Browser], congregation: Congregation
) -> Browser:
    """Log in an admin of one congregation; another one sees all of them."""
    del as_admin
    own = {"sees_all": False, "congregations": [congregation.id]}
    return log_in("admin", email="mary@example.org", **own)


def test_an_admin_of_some_congregations_manages_nobody_who_sees_more(
    as_mary: Browser,
    john: UUID,
    add_operator: AddOperator,
    sqlite_engine: Engine,
    congregation: Congregation,
) -> None:
    """A link for somebody who sees everything would be everything."""
    own = {"sees_all": False, "congregations": [congregation.id]}
    all_seeing = operator(sqlite_engine, "admin@example.org")
    more = {"sees_all": False, "congregations": [congregation.id, john]}
    add_operator("viewer", email="more@example.org", **more)
    add_operator("viewer", email="ours@example.org", **own)

    page = as_mary.get("/operators/").get_data(as_text=True)
    assert "ours@example.org" in page
    assert "mary@example.org" in page
    for email in ("admin@example.org", "more@example.org"):
        assert email not in page
        path = f"/operators/{operator(sqlite_engine, email).id}"
        assert as_mary.get(path).status_code == 404
        for verb in ("", "/link", "/disable"):
            assert as_mary.post(path + verb, data={"role": "viewer"}).status_code == 404
    assert operator(sqlite_engine, all_seeing.email).active


def test_an_admin_of_some_congregations_gives_nobody_more_than_they_have(
    as_mary: Browser,
    john: UUID,
    sqlite_engine: Engine,
    congregation: Congregation,
) -> None:
    me = operator(sqlite_engine, "mary@example.org")
    data = {"role": "admin", "sees_all": "y", "congregations": str(congregation.id)}

    assert 'name="sees_all"' not in as_mary.get("/operators/new").text
    assert as_mary.post(f"/operators/{me.id}", data=data).status_code == 303
    refused = as_mary.post(
        f"/operators/{me.id}", data={"role": "admin", "congregations": str(john)}
    )

    assert refused.status_code == 422
    assert not operator(sqlite_engine, me.email).sees_all
    assert _given(sqlite_engine, me.email) == {"st-mary"}


def test_somebody_sees_and_manages_everything(
    as_admin: Browser,
    add_operator: AddOperator,
    sqlite_engine: Engine,
    congregation: Congregation,
) -> None:
    """Admins of some congregations could not undo that."""
    add_operator(
        "admin", email="b@example.org", sees_all=False, congregations=[congregation.id]
    )
    me = operator(sqlite_engine, "admin@example.org")

    answer = as_admin.post(
        f"/operators/{me.id}",
        data={"role": "admin", "congregations": str(congregation.id)},
        follow_redirects=True,
    )

    assert "is the last admin of all congregations" in answer.get_data(as_text=True)
    assert operator(sqlite_engine, me.email).sees_all


def test_the_last_admin_stays_one(as_admin: Browser, sqlite_engine: Engine) -> None:
    me = operator(sqlite_engine, "admin@example.org")

    demoted = as_admin.post(
        f"/operators/{me.id}",
        data={"role": "viewer", "sees_all": "y"},
        follow_redirects=True,
    )
    disabled = as_admin.post(f"/operators/{me.id}/disable", follow_redirects=True)

    for answer in (demoted, disabled):
        assert "is the last admin" in answer.get_data(as_text=True)
    me = operator(sqlite_engine, me.email)
    assert (me.role, me.active) == (RoleName.ADMIN, True)


def test_one_of_two_admins_may_go(
    as_admin: Browser, add_operator: AddOperator, sqlite_engine: Engine
) -> None:
    other = operator(sqlite_engine, add_operator("admin", email="zoe@example.org"))

    as_admin.post(f"/operators/{other.id}/disable")

    assert not operator(sqlite_engine, other.email).active


def test_whoever_is_disabled_is_out_at_once(
    as_admin: Browser, as_viewer: Browser, sqlite_engine: Engine
) -> None:
    viewer = operator(sqlite_engine, "viewer@example.org")

    as_admin.post(f"/operators/{viewer.id}/disable")
    assert as_viewer.get("/account/password").status_code == 302
    assert as_viewer.log_in(viewer.email).status_code == 401

    as_admin.post(f"/operators/{viewer.id}/enable")
    assert as_viewer.log_in(viewer.email).status_code == 302


def test_a_new_password_by_link_ends_the_sessions(
    client: Browser, as_admin: Browser, as_viewer: Browser, sqlite_engine: Engine
) -> None:
    viewer = operator(sqlite_engine, "viewer@example.org")
    page = as_admin.post(f"/operators/{viewer.id}/link").get_data(as_text=True)
    token = re.findall(r"token=([\w-]+)", page)[0]
    client.learn_token(f"/setup?token={token}")

    client.post(
        "/setup",
        data={"token": token, "password": NEW_PASSWORD, "again": NEW_PASSWORD},
    )

    assert as_viewer.get("/account/password").status_code == 302


def _change_password(_admin: Browser, viewer: Browser, _path: str) -> None:
    new = {"new_password": NEW_PASSWORD, "new_password_confirm": NEW_PASSWORD}
    viewer.post("/account/password", data={"password": PASSWORD} | new)


def _disable(admin: Browser, _viewer: Browser, path: str) -> None:
    admin.post(f"{path}/disable")


@pytest.mark.parametrize("change", [_change_password, _disable])
def test_a_link_that_is_out_is_worth_nothing_after_a_change(
    as_admin: Browser,
    as_viewer: Browser,
    sqlite_engine: Engine,
    change: Callable[[Browser, Browser, str], None],
) -> None:
    path = f"/operators/{operator(sqlite_engine, 'viewer@example.org').id}"
    page = as_admin.post(f"{path}/link").get_data(as_text=True)
    [link] = set(re.findall(r"/setup\?token=[\w-]+", page))
    assert as_viewer.get(link).status_code == 200

    change(as_admin, as_viewer, path)

    assert as_viewer.get(link).status_code == 404


def test_an_operator_that_does_not_exist_is_not_found(as_admin: Browser) -> None:
    nobody = "00000000-0000-0000-0000-000000000007"

    assert as_admin.get(f"/operators/{nobody}").status_code == 404
    assert as_admin.post(f"/operators/{nobody}/disable").status_code == 404
