"""Events, sweeps and holds from the command line."""

from __future__ import annotations

import pytest
from sqlalchemy import Engine, select

from tasks.db import sessions
from tasks.models import Congregation, Execution, Hold, LaneSetting, Rule
from tests.cli.conftest import carillon
from tests.support.sinks import SmtpSink


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
