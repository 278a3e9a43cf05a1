from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from flask import Flask
from sqlalchemy import Engine, select, text
from sqlalchemy.orm import Session

from dashboard.extensions import db
from dashboard.operators.accounts import create_operator
from dashboard.operators.models import OperatorSession
from tasks.config import Config
from tests.dashboard.conftest import PASSWORD, Browser
from tests.support import factories, territory_rows

MakeApp = Callable[[Config], Flask]


def test_login_change_and_logout_work_on_both_databases(
    engine: Engine, tmp_path: Path, new_app: MakeApp
) -> None:
    _, browser = _console(engine, tmp_path, new_app)
    assert browser.log_in("ann@example.org").status_code == 302
    made = browser.post(
        "/operators/",
        data={"email": "bob@example.org", "role": "viewer", "sees_all": "y"},
    )
    assert "/setup?token=" in made.get_data(as_text=True)
    listed = browser.get("/operators/").get_data(as_text=True)
    assert "bob@example.org" in listed
    assert browser.post("/logout").status_code == 302

    with Session(engine) as session:
        assert session.scalars(select(OperatorSession.operator_id)).all() == []


def test_postgresql_keeps_the_plans_of_pages_from_visit_to_visit(
    postgres_engine: Engine, tmp_path: Path, new_app: MakeApp
) -> None:
    app, browser = _console(postgres_engine, tmp_path, new_app)
    browser.log_in("ann@example.org")
    for _ in range(20):  # several connections, and what is seldom asked is not kept
        assert browser.get("/executions/").status_code == 200

    prepared = text("SELECT count(*) FROM pg_prepared_statements")
    with app.app_context(), db.engine.connect() as one, db.engine.connect() as other:
        assert sum(each.scalar(prepared) or 0 for each in (one, other)) > 0


STRANGE = (
    "/congregations/a%00b",
    "/addresses/areas/%00",
    "/board/%00/sections",
    "/retention/%00",
    "/outreach/contact-cap/%00",
    "/notifications/settling/%00/document",
    "/board/01a00000-0000-7000-8000-000000000000/versions/99999999999999999999/download",
)
IGNORED = (
    "/?congregation=%00",
    "/members/",  # the session does not keep what stood there
    "/audit/?kind=%00&subject=a%00b",
)


def test_what_no_database_takes_is_not_there(
    engine: Engine, tmp_path: Path, new_app: MakeApp
) -> None:
    """PostgreSQL refuses NUL even in a question, and SQLite very large numbers."""
    _, browser = _console(engine, tmp_path, new_app)
    browser.log_in("ann@example.org")

    assert {path: browser.get(path).status_code for path in STRANGE} == dict.fromkeys(
        STRANGE, 404
    )
    assert {path: browser.get(path).status_code for path in IGNORED} == dict.fromkeys(
        IGNORED, 200
    )


def test_a_consent_with_a_strange_name_is_none(
    engine: Engine, tmp_path: Path, new_app: MakeApp
) -> None:
    _, browser = _console(engine, tmp_path, new_app)
    browser.log_in("ann@example.org")
    with Session(engine) as session, session.begin():
        member_id = territory_rows.member(session, factories.congregation(session))

    for verb in ("consents", "consents/withdraw"):
        path = f"/members/{member_id}/{verb}"
        assert browser.post(path, data={"kind": "\0"}).status_code == 303


def _console(engine: Engine, folder: Path, make: MakeApp) -> tuple[Flask, Browser]:
    """Return a console of its own, and a browser of an admin to be."""
    url = engine.url.render_as_string(hide_password=False)
    app = make(Config.from_environ({"VAR_DIR": str(folder), "DATABASE_URL": url}))
    browser = app.test_client()
    assert isinstance(browser, Browser)
    with Session(engine) as session, session.begin():
        create_operator(session, "ann@example.org", PASSWORD, "admin")
    return app, browser
