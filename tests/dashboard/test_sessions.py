from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta

import pytest
from sqlalchemy import Engine, func, select, update
from sqlalchemy.orm import Session

from dashboard.operators.models import OperatorSession
from dashboard.session_rows import digest_of
from tasks.clock import utcnow
from tests.dashboard.conftest import Browser

AddOperator = Callable[..., str]


def cookie_of(browser: Browser) -> str:
    cookie = browser.get_cookie("session")
    assert cookie is not None
    return str(cookie.value)


def rows(engine: Engine) -> int:
    with Session(engine) as session:
        return session.scalar(select(func.count()).select_from(OperatorSession)) or 0


def test_a_replayed_cookie_is_refused_after_the_logout(as_viewer: Browser) -> None:
    cookie = cookie_of(as_viewer)

    as_viewer.post("/logout")
    as_viewer.set_cookie("session", cookie)

    answer = as_viewer.get("/account/password")
    assert answer.status_code == 302
    assert answer.location.startswith("/login")


def test_a_logout_needs_a_post(as_viewer: Browser) -> None:
    assert as_viewer.get("/logout").status_code == 405
    assert as_viewer.get("/account/password").status_code == 200


def test_a_login_gives_a_new_cookie(client: Browser, add_operator: AddOperator) -> None:
    client.learn_token()
    before, token = cookie_of(client), client.token

    client.log_in(add_operator("viewer"))

    assert cookie_of(client) != before
    assert client.token != token
    stranger = client.application.test_client()
    stranger.set_cookie("session", before)
    assert stranger.get("/account/password").status_code == 302


def test_the_database_keeps_only_digests(
    as_viewer: Browser, sqlite_engine: Engine
) -> None:
    with Session(sqlite_engine) as session:
        digests = set(session.scalars(select(OperatorSession.digest)))

    assert digest_of(cookie_of(as_viewer)) in digests
    assert cookie_of(as_viewer) not in digests


@pytest.mark.parametrize("damage", ["", "x", "\N{BELL}", "y" * 3000])
def test_a_damaged_cookie_is_nobody(as_viewer: Browser, damage: str) -> None:
    cookie = cookie_of(as_viewer)

    as_viewer.set_cookie("session", damage + cookie[:-1] if damage != "" else "")

    assert as_viewer.get("/account/password").status_code == 302


def test_reading_a_page_writes_nothing(
    as_viewer: Browser, sqlite_engine: Engine
) -> None:
    with Session(sqlite_engine) as session:
        before = session.execute(select(OperatorSession.__table__)).all()

    answer = as_viewer.get("/account/password")

    assert "Set-Cookie" not in answer.headers
    with Session(sqlite_engine) as session:
        assert session.execute(select(OperatorSession.__table__)).all() == before


def test_a_visitor_who_needs_no_form_gets_no_session(
    client: Browser, sqlite_engine: Engine
) -> None:
    client.get("/healthz")
    client.get("/operators/")
    client.get("/nowhere")

    assert rows(sqlite_engine) == 0


def test_a_session_that_nobody_used_has_ended(
    as_viewer: Browser, sqlite_engine: Engine
) -> None:
    with Session(sqlite_engine) as session, session.begin():
        session.execute(
            update(OperatorSession).values(expires_at=utcnow() - timedelta(seconds=1))
        )

    assert as_viewer.get("/account/password").status_code == 302


def test_using_a_session_prolongs_it_up_to_the_absolute_limit(
    as_viewer: Browser, sqlite_engine: Engine
) -> None:
    now = utcnow()
    begun = now - timedelta(days=6, hours=20)
    with Session(sqlite_engine) as session, session.begin():
        session.execute(
            update(OperatorSession).values(
                created_at=begun,
                seen_at=now - timedelta(hours=1),
                expires_at=now + timedelta(minutes=1),
            )
        )

    as_viewer.get("/account/password")

    with Session(sqlite_engine) as session:
        row = session.scalars(
            select(OperatorSession).where(
                OperatorSession.digest == digest_of(cookie_of(as_viewer))
            )
        ).one()
    assert row.expires_at == begun + timedelta(days=7)
    assert row.seen_at >= now
