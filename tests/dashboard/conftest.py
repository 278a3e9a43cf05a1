"""A console on an empty database, and browsers that are logged in to it."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from flask import Flask
from flask.testing import FlaskClient
from jinja2 import FileSystemBytecodeCache
from sqlalchemy import Engine
from sqlalchemy.orm import Session
from werkzeug.test import TestResponse

from dashboard.app import create_app
from dashboard.config import flask_settings
from dashboard.operators.accounts import create_operator
from dashboard.operators.models import RoleName
from tasks.automation import actions
from tasks.config import Config
from tasks.models import Congregation
from tasks.operations.lane_starts import startable
from tests.support.routes import SharedRule

Flask.url_rule_class = SharedRule
PASSWORD = "three bells at noon"


class Browser(FlaskClient):
    """A client that sends the session's CSRF token along, as forms and htmx do."""

    token: str | None = None

    def open(self, *args: Any, **kwargs: Any) -> TestResponse:
        if kwargs.get("method") == "POST" and self.token:
            headers = dict(kwargs.pop("headers", None) or {})
            headers.setdefault("X-CSRFToken", self.token)
            kwargs["headers"] = headers
        return super().open(*args, **kwargs)

    def learn_token(self, path: str = "/login") -> str:
        """Read the CSRF token from a page."""
        page = self.get(path).get_data(as_text=True)
        found = re.search(r'name="csrf_token" value="([^"]+)"', page)
        assert found, page
        self.token = found[1]
        return self.token

    def log_in(self, email: str, password: str = PASSWORD) -> TestResponse:
        """Log in through the page and learn the new session's token."""
        self.learn_token()
        answer = self.post("/login", data={"email": email, "password": password})
        if answer.status_code == 302:
            self.learn_token("/account/password")
        return answer


@pytest.fixture
def config(sqlite_engine: Engine, tmp_path: Path) -> Config:
    """Return the settings of a console on the test's database."""
    return Config.from_environ(
        {
            "VAR_DIR": str(tmp_path / "var"),
            "DATABASE_URL": sqlite_engine.url.render_as_string(hide_password=False),
            "BASE_URL": "http://localhost",
        }
    )


@pytest.fixture(scope="session")
def compiled_templates(
    tmp_path_factory: pytest.TempPathFactory,
) -> FileSystemBytecodeCache:
    """Return what all consoles of the tests share, instead of compiling it each."""
    return FileSystemBytecodeCache(str(tmp_path_factory.mktemp("templates")))


@pytest.fixture(scope="session")
def consoles() -> dict[tuple[object, ...], tuple[Flask, object]]:
    """Return the consoles made so far, by what for, and where each counts logins."""
    return {}


@pytest.fixture
def new_app(
    compiled_templates: FileSystemBytecodeCache,
) -> Iterator[Callable[[Config], Flask]]:
    """Return a function that makes a console, which is closed however the test ends."""
    from dashboard.extensions import db

    apps = []

    def make(config: Config) -> Flask:
        made = create_app(config)
        made.testing = True
        made.jinja_env.bytecode_cache = compiled_templates
        made.test_client_class = Browser
        apps.append(made)
        return made

    yield make
    for each in apps:
        with each.app_context():
            db.engine.dispose()


@pytest.fixture
def make_app(
    new_app: Callable[[Config], Flask],
) -> Iterator[Callable[[Config], Flask]]:
    """Return a function that makes a console, for tests that change it."""
    from dashboard.extensions import limiter

    yield new_app
    limiter.reset()


@pytest.fixture
def app(
    config: Config,
    make_app: Callable[[Config], Flask],
    consoles: dict[tuple[object, ...], tuple[Flask, object]],
) -> Iterator[Flask]:
    """Return the console: one for all tests, with the settings of this one.

    Making one takes longer than most tests.
    """
    from dashboard.extensions import db, limiter
    from dashboard.storage import KEY

    made_for = (config.database_url, config.redis_url, config.loop_rate)
    made, counts_in = consoles.get(made_for, (None, None))
    # The limiter counts where the console that was made last wants it to.
    if made is None or counts_in is not limiter.storage:
        made = make_app(config)
        consoles[made_for] = made, limiter.storage
    views = dict(made.view_functions)
    made.testing = True
    made.config.from_mapping(flask_settings(config))
    made.extensions.pop(KEY, None)  # the storage of the test before
    actions.configure(config, startable())
    yield made
    made.view_functions.update(views)  # some tests let one fail
    with made.app_context():
        db.session.remove()
        db.engine.dispose()


@pytest.fixture
def client(app: Flask) -> Browser:
    """Return a browser in which nobody is logged in."""
    browser = app.test_client()
    assert isinstance(browser, Browser)
    return browser


@pytest.fixture
def congregation(sqlite_engine: Engine) -> Congregation:
    """Return one congregation; its attributes can be read, it has no session."""
    row = Congregation(slug="st-mary", name="St Mary", timezone="Europe/Paris")
    with Session(sqlite_engine, expire_on_commit=False) as session, session.begin():
        session.add(row)
    return row


@pytest.fixture
def add_operator(sqlite_engine: Engine) -> Callable[..., str]:
    """Return a function that adds an operator and returns the e-mail address."""

    def add(role: RoleName | str, **values: Any) -> str:
        email = values.pop("email", f"{role}@example.org")
        with Session(sqlite_engine) as session, session.begin():
            create_operator(session, email, PASSWORD, role, **values)
        return str(email)

    return add


@pytest.fixture
def log_in(app: Flask, add_operator: Callable[..., str]) -> Callable[..., Browser]:
    """Return a function that adds an operator and gives their logged-in browser."""

    def make(role: RoleName | str, **values: Any) -> Browser:
        browser = app.test_client()
        assert isinstance(browser, Browser)
        answer = browser.log_in(add_operator(role, **values))
        assert answer.status_code == 302, answer.get_data(as_text=True)
        return browser

    return make


@pytest.fixture
def as_viewer(log_in: Callable[..., Browser]) -> Browser:
    """Return the browser of a viewer who sees every congregation."""
    return log_in(RoleName.VIEWER)


@pytest.fixture
def as_operator(log_in: Callable[..., Browser]) -> Browser:
    """Return the browser of an operator who sees every congregation."""
    return log_in(RoleName.OPERATOR)


@pytest.fixture
def as_admin(log_in: Callable[..., Browser]) -> Browser:
    """Return the browser of an admin."""
    return log_in(RoleName.ADMIN)
