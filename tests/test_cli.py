"""The command line: one sentence for every mistake, and nothing half-started."""

from __future__ import annotations

import logging
import os
import signal
import subprocess
import sys
import urllib.request
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result
from sqlalchemy import Engine, select, update
from sqlalchemy.orm import Session

from dashboard.cli import COMMANDS, cli
from dashboard.operators.models import Operator, SetupToken
from tasks import migrations
from tasks.clock import utcnow
from tasks.config import EX_CONFIG
from tasks.db import make_engine, sessions
from tasks.models import (
    ApiToken,
    Congregation,
    Execution,
    Hold,
    LaneSetting,
    Podcast,
    Rule,
    WorkerProcess,
)
from tasks.operations.tokens import authenticate
from tests.support.processes import ROOT, environment, readiness, until
from tests.support.servers import free_port
from tests.support.sinks import SmtpSink


@pytest.fixture(autouse=True)
def _as_logging_was() -> Iterator[None]:
    """Take back what commands do to logging; their standard error is closed now."""
    root = logging.getLogger()
    level, handlers = root.level, list(root.handlers)
    yield
    root.setLevel(level)
    root.handlers[:] = handlers


@pytest.fixture
def environ(tmp_path: Path) -> dict[str, str]:
    return environment(tmp_path, PORT=str(free_port()), WEB_WORKERS="1")


@pytest.fixture
def engine(environ: dict[str, str]) -> Iterator[Engine]:
    """Return an engine on the migrated database that the commands use."""
    from tasks.config import Config

    made = make_engine(Config.from_environ(environ).database_url)
    migrations.upgrade(made)
    yield made
    made.dispose()


@pytest.fixture
def parish(engine: Engine) -> Congregation:
    with sessions(engine).begin() as session:
        row = Congregation(slug="parish", name="Parish")
        session.add(row)
        session.flush()
        session.add(Podcast(congregation_id=row.id, id="talks", title="Talks"))
    return row


def carillon(environ: Mapping[str, str], *arguments: str, **more: Any) -> Result:
    return CliRunner().invoke(cli, arguments, env=dict(environ), **more)


def test_help_lists_every_command_with_its_sentence() -> None:
    result = carillon({}, "--help")
    assert result.exit_code == 0
    for name in COMMANDS:
        assert f"  {name} " in result.output


def test_an_unknown_command_is_told_the_known_ones() -> None:
    result = carillon({}, "start")
    assert result.exit_code == 2
    assert "create-operator" in result.stderr


@pytest.mark.parametrize("command", ["run", "web", "worker", "migrate", "doctor"])
def test_a_wrong_setting_stops_the_start_in_one_sentence(
    environ: dict[str, str], command: str
) -> None:
    result = carillon({**environ, "LEASE_SECONDS": "soon"}, command)
    assert result.exit_code == EX_CONFIG
    assert result.stderr.startswith("carillon: LEASE_SECONDS must be")
    assert result.stderr.count("\n") == 1


@pytest.mark.parametrize(
    ("command", "setting"),
    [
        ("run", "PORT"),
        ("run", "HEALTH_PORT"),
        ("web", "PORT"),
        ("worker", "HEALTH_PORT"),
    ],
)
def test_a_taken_port_is_named(
    environ: dict[str, str], command: str, setting: str
) -> None:
    import socket

    with socket.socket() as other:
        other.bind(("127.0.0.1", int(environ[setting])))
        other.listen()
        result = carillon(environ, command)
    assert result.exit_code == EX_CONFIG
    assert result.stderr.startswith(f"carillon: {setting} is {environ[setting]}, but")


def test_migrate_brings_an_empty_database_up_to_date_once(
    environ: dict[str, str],
) -> None:
    assert "up to date now" in carillon(environ, "migrate").output
    assert carillon(environ, "migrate").output == "The database is up to date.\n"


def test_a_database_that_does_not_answer_is_a_sentence(environ: dict[str, str]) -> None:
    away = f"postgresql://u@127.0.0.1:{free_port()}/d"
    result = carillon({**environ, "DATABASE_URL": away}, "migrate")
    assert result.exit_code == 1
    assert result.stderr.startswith("carillon: The database at postgresql")
    assert "carillon doctor" in result.stderr


def test_an_operator_gets_a_link_to_set_a_password(
    environ: dict[str, str], engine: Engine
) -> None:
    result = carillon(environ, "create-operator", "Ruth@Parish.example", "--role=admin")
    assert result.exit_code == 0
    assert "ruth@parish.example is admin now." in result.output
    assert f"http://127.0.0.1:{environ['PORT']}/setup?token=" in result.output
    with sessions(engine)() as session:
        assert session.scalars(select(Operator.password)).one() is None
        assert session.scalars(select(SetupToken.operator_id)).one() is not None


def test_an_operators_password_can_be_piped_in(
    environ: dict[str, str], engine: Engine
) -> None:
    arguments = ("create-operator", "r@parish.example", "--password-stdin")
    result = carillon(environ, *arguments, input="three bells and a half\n")
    assert result.output == "r@parish.example is operator now.\n"
    with sessions(engine)() as session:
        stored = session.scalars(select(Operator.password)).one()
    assert stored is not None
    assert "bells" not in stored


@pytest.mark.parametrize("password", ["short", ""])
def test_a_bad_password_is_refused(
    environ: dict[str, str], engine: Engine, password: str
) -> None:
    arguments = ("create-operator", "r@parish.example", "--password-stdin")
    result = carillon(environ, *arguments, input=f"{password}\n")
    assert result.exit_code == 1
    assert "12 characters" in result.stderr
    with sessions(engine)() as session:
        assert session.scalars(select(Operator)).all() == []


def test_the_same_operator_twice_is_refused(
    environ: dict[str, str], engine: Engine
) -> None:
    carillon(environ, "create-operator", "r@parish.example")
    result = carillon(environ, "create-operator", "r@parish.example")
    assert result.exit_code == 1
    assert result.stderr == "carillon: r@parish.example is an operator already.\n"


def test_a_token_stands_alone_on_standard_output_and_opens_the_door(
    environ: dict[str, str], engine: Engine, parish: Congregation
) -> None:
    arguments = ("--scope", "events:write", "--days", "30")
    result = carillon(environ, "token", "parish", "Website", *arguments)
    assert result.exit_code == 0
    with sessions(engine)() as session:
        token = authenticate(session, result.stdout.strip(), utcnow())
    assert isinstance(token, ApiToken)
    assert token.scopes == "events:write"
    assert token.congregation_id == parish.id


def test_an_unknown_congregation_is_told_the_known_ones(
    environ: dict[str, str], parish: Congregation
) -> None:
    result = carillon(environ, "token", "church", "Website")
    assert result.exit_code == 1
    assert "parish" in result.stderr


def _add_rule(engine: Engine, parish: Congregation) -> None:
    with sessions(engine).begin() as session:
        session.add(
            Rule(
                congregation_id=parish.id,
                name="Tell the host",
                trigger_type="booking.confirmed",
                action="email",
                settings={
                    "recipient": "fixed",
                    "address": "host@parish.example",
                    "subject": "Yes",
                    "text": "Yes.",
                    "html": "",
                },
            )
        )


def test_an_event_is_reported_once(
    environ: dict[str, str], engine: Engine, parish: Congregation
) -> None:
    _add_rule(engine, parish)
    arguments = ("booking.confirmed", "--podcast=talks", "--event-id=e1")
    first = carillon(environ, "emit", *arguments)
    again = carillon(environ, "emit", *arguments, '--context={"note": "x"}')
    assert first.output == "Executions created: 1.\n"
    assert again.output == "Executions created: 0. It was known already.\n"


@pytest.mark.parametrize(
    ("arguments", "status", "words"),
    [
        (("booking.confirmd", "--podcast=talks"), 1, "booking.confirmd"),
        (("booking.confirmed", "--podcast=walks"), 1, "walks"),
        (("booking.confirmed",), 2, "--podcast"),
        (("booking.confirmed", "--podcast=talks", "--context={"), 2, "not JSON"),
        (("booking.confirmed", "--podcast=talks", "--context=[]"), 2, "object"),
    ],
)
def test_a_wrong_event_is_a_sentence(
    environ: dict[str, str],
    parish: Congregation,
    arguments: tuple[str, ...],
    status: int,
    words: str,
) -> None:
    result = carillon(environ, "emit", *arguments)
    assert result.exit_code == status
    assert words in result.stderr


def test_a_lane_can_be_swept_without_a_worker(
    environ: dict[str, str], engine: Engine, parish: Congregation
) -> None:
    _add_rule(engine, parish)
    carillon(environ, "emit", "booking.confirmed", "--podcast=talks")
    with SmtpSink() as mail:
        result = carillon(
            {**environ, "SMTP_URL": f"smtp://127.0.0.1:{mail.port}"},
            "sweep",
            "executions",
        )
        assert [each.subject for each in mail.mails] == ["Yes"]
    assert result.stdout == "Executions: 1 succeeded.\n"
    with sessions(engine)() as session:
        assert session.scalars(select(Execution.state)).one() == "succeeded"


def test_a_paused_or_unknown_lane_is_not_swept(
    environ: dict[str, str], engine: Engine
) -> None:
    with sessions(engine).begin() as session:
        session.add(LaneSetting(lane="janitor", is_paused=True))
    assert "paused" in carillon(environ, "sweep", "janitor").stderr
    assert "janitor" in carillon(environ, "sweep", "gardener").stderr


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


@contextmanager
def running(environ: Mapping[str, str]) -> Iterator[subprocess.Popen[str]]:
    """Run ``carillon run`` for the length of the block; it must end by itself."""
    process = subprocess.Popen(
        [sys.executable, "-m", "dashboard.cli", "run"],
        env=dict(environ),
        cwd=ROOT,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    try:
        yield process
    finally:
        process.kill()
        process.communicate()


def told(process: subprocess.Popen[str], words: str) -> str:
    """Read the output up to the line that holds ``words``, and return that line."""
    assert process.stdout is not None
    seen = []
    for line in process.stdout:
        seen.append(line)
        if words in line:
            return line
    raise AssertionError("".join(seen))


def children(process: subprocess.Popen[str]) -> list[int]:
    listed = subprocess.run(
        ["ps", "-A", "-o", "pid=,ppid="], capture_output=True, text=True, check=True
    )
    pairs = [map(int, line.split()) for line in listed.stdout.splitlines()]
    return [pid for pid, parent in pairs if parent == process.pid]


def is_gone(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return True
    # Without an init, an orphan stays as a zombie; it does nothing any more.
    state = subprocess.run(
        ["ps", "-o", "stat=", "-p", str(pid)], capture_output=True, text=True
    )
    return state.stdout.strip().startswith("Z")


def test_run_starts_console_and_worker_and_stops_both(environ: dict[str, str]) -> None:
    environ["PYTHONWARNINGS"] = "always::ResourceWarning"  # who leaves something open
    for _ in range(2):  # a second start loses nothing and works as well
        with running(environ) as process:
            address = told(process, "Carillon is at").split()[-1]
            link = told(process, "Make the first operator").split()[-1]
            with urllib.request.urlopen(link, timeout=20) as page:
                assert page.status == 200
            assert link.startswith(address)
            assert readiness(int(environ["HEALTH_PORT"]))[0] == 200
            pids = children(process)
            assert len(pids) == 2
            process.send_signal(signal.SIGINT)
            assert process.wait(40) == 0
            assert all(is_gone(pid) for pid in pids)
            assert process.stdout is not None
            assert "ResourceWarning" not in process.stdout.read()


def test_a_child_that_dies_ends_the_whole_with_its_status(
    environ: dict[str, str],
) -> None:
    with running(environ) as process:
        told(process, "Carillon is at")
        pids = children(process)
        os.kill(pids[1], signal.SIGKILL)
        assert "worker ended with SIGKILL" in told(process, "worker ended")
        assert process.wait(40) == 128 + signal.SIGKILL
        until(lambda: is_gone(pids[0]), 10)


def test_children_do_not_outlive_a_run_that_was_killed(environ: dict[str, str]) -> None:
    with running(environ) as process:
        told(process, "Carillon is at")
        pids = children(process)
        process.kill()
        process.wait()
        until(lambda: all(is_gone(pid) for pid in pids), 40)


@pytest.mark.skipif(not Path("/proc/self/task").is_dir(), reason="only Linux has it")
def test_the_process_that_forks_the_console_has_no_threads(
    environ: dict[str, str],
) -> None:
    with running(environ) as process:
        told(process, "Carillon is at")
        web = children(process)[0]
        assert len(list(Path(f"/proc/{web}/task").iterdir())) == 1


def test_everything_is_held_and_released_from_the_command_line(
    environ: dict[str, str], engine: Engine, parish: Congregation
) -> None:
    assert "Nothing is held" in carillon(environ, "release").stderr
    result = carillon(environ, "hold", "Mail server moves", "--hours", "2")
    assert result.exit_code == 0, result.stderr
    with sessions(engine)() as session:
        [row] = session.scalars(select(Hold))
    assert str(row.id) == result.stdout.strip()
    assert "held already" in carillon(environ, "hold", "Again").stderr
    own = carillon(environ, "hold", "Text", "--congregation", "parish")
    assert own.exit_code == 0, own.stderr
    assert "Say which hold is meant" in carillon(environ, "release").stderr

    result = carillon(environ, "release", str(row.id))

    assert result.stdout.strip() == "Released. Nothing waited."
    assert carillon(environ, "release", "--plan", "drop").exit_code == 0
