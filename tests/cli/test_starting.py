"""The command line: one sentence for every mistake, and nothing half-started."""

from __future__ import annotations

import pytest
from sqlalchemy.engine import URL

from dashboard.cli import COMMANDS
from tasks.config import EX_CONFIG
from tests.cli.conftest import carillon
from tests.support.servers import free_port


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


@pytest.mark.parametrize("is_on_postgres", [False, True])
@pytest.mark.parametrize(
    "command",
    [
        ("web",),
        ("worker",),
        ("sweep", "janitor"),
        ("emit", "booking.confirmed", "--podcast", "talks"),
        ("hold", "A storm"),
        ("release",),
        ("token", "parish", "website"),
        ("create-operator", "ada@example.org"),
    ],
    ids=lambda command: str(command[0]),
)
def test_nothing_is_begun_where_migrating_was_forgotten(
    environ: dict[str, str],
    command: tuple[str, ...],
    is_on_postgres: bool,
    request: pytest.FixtureRequest,
) -> None:
    if is_on_postgres:
        url: URL = request.getfixturevalue("postgres_url")
        environ["DATABASE_URL"] = url.render_as_string(hide_password=False)
    result = carillon(environ, *command)
    assert result.exit_code == 1
    assert result.stderr == (
        "carillon: The database lacks steps of this version. Run: carillon migrate\n"
    )
