"""A whole installation: a database, a broker, a worker of its own, two sinks."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from uuid import UUID

import pytest
from flask.testing import FlaskClient
from sqlalchemy import Engine
from sqlalchemy.engine import URL

from dashboard.app import create_app
from dashboard.extensions import db
from tasks import migrations
from tasks.automation import actions
from tasks.config import Config
from tasks.db import make_engine, sessions
from tasks.operations.audit import SYSTEM
from tasks.operations.lane_starts import startable
from tasks.operations.tokens import SCOPES, create_token
from tests.support import factories
from tests.support.hook_sink import HookSink
from tests.support.processes import environment
from tests.support.smtp_sink import SmtpSink


@dataclass(slots=True)
class Installation:
    """What a test of the whole needs to reach."""

    environ: dict[str, str]
    engine: Engine
    client: FlaskClient
    tenant: UUID
    token: str
    mails: SmtpSink
    hooks: HookSink

    def call(self, method: str, path: str, body: object = None) -> dict[str, object]:
        """Call the API and return what it answers; any refusal fails the test."""
        answer = self.client.open(
            f"/api/v1{path}",
            method=method,
            json=body if body is not None else {},
            headers={"Authorization": f"Bearer {self.token}"},
        )
        assert answer.status_code < 300, answer.text
        return dict(answer.get_json())


@pytest.fixture(params=["sqlite", "postgresql"])
def stack(request: pytest.FixtureRequest) -> tuple[URL, str]:
    """Return database and broker: SQLite + SQLite, then PostgreSQL + Redis."""
    if request.param == "sqlite":
        return request.getfixturevalue("sqlite_url"), ""
    return (
        request.getfixturevalue("postgres_url"),
        request.getfixturevalue("redis_url"),
    )


@pytest.fixture
def installation(stack: tuple[URL, str], tmp_path: Path) -> Iterator[Installation]:
    """Return a migrated installation with one congregation and one token."""
    url, redis_url = stack
    with SmtpSink() as mails, HookSink() as hooks:
        environ = environment(
            tmp_path,
            DATABASE_URL=url.render_as_string(hide_password=False),
            REDIS_URL=redis_url,
            SMTP_URL=mails.url,
            WEBHOOK_HTTP="1",
            WEBHOOK_ALLOW="127.0.0.0/8",
        )
        config = Config.from_environ(environ)
        engine = make_engine(config.database_url)
        migrations.upgrade(engine)
        with sessions(engine).begin() as session:
            tenant = factories.congregation(session)
            _, token = create_token(
                session,
                tenant,
                "tests",
                scopes=SCOPES,
                expires_at=None,
                actor=SYSTEM,
            )
        app = create_app(config)
        yield Installation(
            environ, engine, app.test_client(), tenant, token, mails, hooks
        )
        engine.dispose()
        with app.app_context():
            db.session.remove()
            db.engine.dispose()
    # What may be called is said once for a process; others allow less.
    plain = Config.from_environ(environment(tmp_path))
    actions.configure(plain, startable())
