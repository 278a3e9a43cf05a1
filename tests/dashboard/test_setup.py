from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta

import pytest
from sqlalchemy import Engine, select, update
from sqlalchemy.orm import Session

from dashboard.operators.models import Operator, RoleName, SetupToken
from dashboard.operators.setup import new_setup_link
from tasks.clock import utcnow
from tasks.models import AuditEntry
from tests.dashboard.conftest import PASSWORD, Browser

BASE_URL = "http://localhost"


@pytest.fixture
def link(sqlite_engine: Engine) -> str:
    """Return the path of a fresh link for the first admin."""
    with Session(sqlite_engine) as session, session.begin():
        made = new_setup_link(session, BASE_URL)
    assert made is not None
    return made.removeprefix(BASE_URL)


def answers(link: str, **changes: str) -> dict[str, str]:
    return {
        "token": link.partition("token=")[2],
        "email": "Ann@Example.org",
        "name": "Ann",
        "password": PASSWORD,
        "again": PASSWORD,
        **changes,
    }


def operators(engine: Engine) -> list[Operator]:
    with Session(engine) as session:
        return list(session.scalars(select(Operator)))


def test_the_link_makes_the_first_admin_once(
    client: Browser, sqlite_engine: Engine, link: str
) -> None:
    client.learn_token(link)

    first = client.post("/setup", data=answers(link))
    again = client.post("/setup", data=answers(link, email="eve@example.org"))

    assert first.location == "/login"
    assert again.status_code == 404
    (ann,) = operators(sqlite_engine)
    assert (ann.email, ann.role, ann.sees_all) == (
        "ann@example.org",
        RoleName.ADMIN,
        True,
    )
    assert client.get(link).status_code == 404
    assert client.log_in("ann@example.org").status_code == 302
    with Session(sqlite_engine) as session:
        assert "operator.created" in session.scalars(select(AuditEntry.action)).all()


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"password": "short", "again": "short"}, "at least 12 characters"),
        ({"again": "another password"}, "The two passwords differ."),
        ({"email": "no address"}, "@"),
        ({"email": ""}, "Enter your e-mail address."),
        (
            {"password": "Carillon2026!!", "again": "Carillon2026!!"},
            "among the first",
        ),
    ],
)
def test_a_wrong_form_says_why_and_keeps_the_link_good(
    client: Browser,
    sqlite_engine: Engine,
    link: str,
    changes: dict[str, str],
    sentence: str,
) -> None:
    client.learn_token(link)

    answer = client.post("/setup", data=answers(link, **changes))

    assert answer.status_code == 422
    assert sentence in answer.get_data(as_text=True)
    assert operators(sqlite_engine) == []
    assert client.get(link).status_code == 200


def test_the_link_expires_after_an_hour(
    client: Browser, sqlite_engine: Engine, link: str
) -> None:
    with Session(sqlite_engine) as session, session.begin():
        row = session.scalars(select(SetupToken)).one()
        assert row.expires_at - row.created_at == timedelta(hours=1)
        session.execute(update(SetupToken).values(expires_at=utcnow()))

    assert client.get(link).status_code == 404


def test_a_second_link_replaces_the_first(
    client: Browser, sqlite_engine: Engine, link: str
) -> None:
    with Session(sqlite_engine) as session, session.begin():
        new_setup_link(session, BASE_URL)

    assert client.get(link).status_code == 404


def test_with_an_operator_there_is_no_link_and_an_old_one_is_spent(
    client: Browser,
    sqlite_engine: Engine,
    link: str,
    add_operator: Callable[..., str],
) -> None:
    add_operator("viewer")

    with Session(sqlite_engine) as session:
        assert new_setup_link(session, BASE_URL) is None
    assert client.get(link).status_code == 404


@pytest.mark.parametrize("token", ["", "x", "a" * 5000, "%00"])
def test_a_made_up_link_is_no_link(client: Browser, token: str) -> None:
    assert client.get(f"/setup?token={token}").status_code == 404


def test_only_the_digest_of_a_link_is_kept(sqlite_engine: Engine, link: str) -> None:
    with Session(sqlite_engine) as session:
        row = session.scalars(select(SetupToken)).one()

    assert row.digest not in link
    assert link.partition("token=")[2] not in row.digest
