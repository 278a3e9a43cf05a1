from __future__ import annotations

from pathlib import Path

from sqlalchemy import Engine, select
from sqlalchemy.orm import Session

from dashboard.app import create_app
from dashboard.extensions import db
from dashboard.operators.accounts import create_operator
from dashboard.operators.models import OperatorSession
from tasks.config import Config
from tests.dashboard.conftest import PASSWORD, Browser


def test_login_change_and_logout_work_on_both_databases(
    engine: Engine, tmp_path: Path
) -> None:
    url = engine.url.render_as_string(hide_password=False)
    app = create_app(
        Config.from_environ({"VAR_DIR": str(tmp_path), "DATABASE_URL": url})
    )
    app.test_client_class = Browser
    browser = app.test_client()
    assert isinstance(browser, Browser)
    with Session(engine) as session, session.begin():
        create_operator(session, "ann@example.org", PASSWORD, "admin")

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
    with app.app_context():
        db.session.remove()
        db.engine.dispose()
