"""The doctor: what is wrong, and what to do."""

from __future__ import annotations

import pytest
from sqlalchemy import Engine, update
from sqlalchemy.orm import Session

from tasks.clock import utcnow
from tasks.db import sessions
from tasks.models import WorkerProcess
from tests.cli.conftest import carillon
from tests.support.sinks import SmtpSink


def _add_worker(session: Session) -> None:
    now = utcnow()
    session.add(
        WorkerProcess(
            id="w", hostname="h", pid=1, lanes={}, started_at=now, heartbeat_at=now
        )
    )


def test_the_doctor_finds_a_healthy_installation_healthy(
    environ: dict[str, str], engine: Engine
) -> None:
    with sessions(engine).begin() as session:
        _add_worker(session)
    with SmtpSink() as mail:
        smtp = f"smtp://user:secret@127.0.0.1:{mail.port}"
        result = carillon({**environ, "SMTP_URL": smtp}, "doctor")
    assert result.exit_code == 0, result.output
    assert "All is well." in result.output
    assert "secret" not in result.output


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({}, "SMTP_URL is not set"),
        ({"SMTP_URL": "smtp://127.0.0.1:1"}, "127.0.0.1:1 does not answer"),
        ({"REDIS_URL": "redis://u:secret@127.0.0.1:1"}, "redis://127.0.0.1:1"),
        ({"DATABASE_URL": "postgresql://u:secret@127.0.0.1:1/d"}, "is it running"),
        ({}, "no worker is alive; none has ever run"),
    ],
)
def test_the_doctor_says_what_is_wrong(
    environ: dict[str, str], engine: Engine, settings: dict[str, str], words: str
) -> None:
    result = carillon({**environ, **settings}, "doctor")
    assert result.exit_code == 1
    assert words.lower() in result.output.lower()
    assert "secret" not in result.output


def test_the_doctor_hears_that_a_worker_fell_silent(
    environ: dict[str, str], engine: Engine
) -> None:
    with sessions(engine).begin() as session:
        _add_worker(session)
        session.flush()
        session.execute(
            update(WorkerProcess).values(heartbeat_at=utcnow().replace(year=2020))
        )
    assert "2020" in carillon(environ, "doctor").output


def test_the_doctor_asks_for_migrations(environ: dict[str, str]) -> None:
    result = carillon(environ, "doctor")
    assert result.exit_code == 1
    assert "Run: carillon migrate" in result.output
