"""The demo: a past that the engine has played, and nothing that leaves the machine."""

from __future__ import annotations

import random
import smtplib
import urllib.error
import urllib.request
from collections.abc import Iterator
from datetime import datetime, timedelta
from email.message import EmailMessage
from pathlib import Path

import pytest
from sqlalchemy import Engine, func, select
from sqlalchemy.exc import OperationalError
from sqlalchemy.orm import Session

from dashboard.demo import load, settings
from dashboard.demo.people import LOGIN, PASSWORD, REFUSED_ADDRESS
from dashboard.demo.settings import DemoPorts, demo_environ
from dashboard.demo.sinks import KEPT_MAILS, MailSink, sinks
from dashboard.demo.trickle import Trickle
from dashboard.operators.models import Operator
from tasks import migrations
from tasks.automation import actions
from tasks.clock import utcnow
from tasks.config import Config
from tasks.db import make_engine, sessions
from tasks.errors import ConfigError
from tasks.models import (
    AuditEntry,
    Base,
    BookingStatus,
    Congregation,
    Event,
    Execution,
    ExecutionState,
    JobState,
    Rule,
    ScheduledJob,
)
from tasks.operations.lane_starts import startable
from tests.support.servers import free_port


class Always(random.Random):
    """A chance that always says the same."""

    def __init__(self, value: float) -> None:
        super().__init__()
        self._value = value

    def random(self) -> float:
        return self._value

    def uniform(self, a: float, b: float) -> float:
        return 0.0  # tests do not wait


@pytest.fixture(scope="module")
def environ(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    return demo_environ({"VAR_DIR": str(tmp_path_factory.mktemp("demo"))})


@pytest.fixture(scope="module")
def demo(environ: dict[str, str]) -> Iterator[Engine]:
    """Load the demo once for all tests of this module."""
    config = Config.from_environ(environ)
    engine = make_engine(config.database_url)
    migrations.upgrade(engine)
    told = load(engine, config, environ)
    assert any(LOGIN in line and PASSWORD in line for line in told)
    yield engine
    engine.dispose()
    plain = Config.from_environ({"VAR_DIR": environ["VAR_DIR"]})
    actions.configure(plain, startable())


@pytest.fixture
def session(demo: Engine) -> Iterator[Session]:
    with sessions(demo)() as opened:
        yield opened


def counts(session: Session, column: object) -> dict[str, int]:
    rows = session.execute(select(column, func.count()).group_by(column)).all()
    return {str(word): n for word, n in rows}


def test_the_history_has_everything_that_operators_meet(session: Session) -> None:
    executions = counts(session, Execution.state)
    settled = set(ExecutionState) - {
        ExecutionState.PENDING,
        ExecutionState.RUNNING,
        ExecutionState.CANCELLED,
    }
    assert settled <= set(executions)
    assert executions["succeeded"] > executions["failed"] > 5
    assert set(JobState) <= set(counts(session, ScheduledJob.state))
    retried = session.scalar(
        select(func.count())
        .select_from(Execution)
        .where(Execution.attempt > 1, Execution.state == ExecutionState.SUCCEEDED)
    )
    assert retried
    assert {"rule.disabled", "lane.paused", "execution.retried"} <= set(
        counts(session, AuditEntry.action)
    )


def test_bookings_are_past_and_coming_and_some_wait(session: Session) -> None:
    from tasks.models import Booking

    assert set(BookingStatus) <= set(counts(session, Booking.status))
    starts = session.scalars(select(Booking.start_time)).all()
    assert min(starts) < utcnow() < max(starts)


def test_something_failed_within_the_last_day(session: Session) -> None:
    lately = utcnow() - timedelta(days=1)
    assert session.scalar(
        select(func.count())
        .select_from(Execution)
        .where(Execution.settled_at > lately, Execution.state == ExecutionState.FAILED)
    )


def test_nothing_that_happened_happened_in_the_future(session: Session) -> None:
    now = utcnow()
    for table in Base.metadata.sorted_tables:
        if "created_at" in table.c:
            newest: datetime | None = session.scalar(
                select(func.max(table.c.created_at))
            )
            assert newest is None or newest <= now, table.name
    assert session.scalars(select(func.min(Event.created_at))).one() < now - timedelta(
        days=14
    )


def test_there_are_a_dozen_rules_and_the_podcasts_are_two(session: Session) -> None:
    from tasks.models import Podcast

    assert len(session.scalars(select(Rule)).all()) >= 12
    assert len(session.scalars(select(Podcast)).all()) == 2


def test_a_second_start_adds_nothing_and_points_the_hooks_to_the_new_port(
    demo: Engine, environ: dict[str, str]
) -> None:
    def sizes() -> list[int | None]:
        with sessions(demo)() as session:
            return [
                session.scalar(select(func.count()).select_from(table))
                for table in Base.metadata.sorted_tables
            ]

    before = sizes()
    moved = {**environ, "DEMO_HOOK_PORT": "45678"}
    load(demo, Config.from_environ(environ), moved)
    assert sizes() == before
    with sessions(demo)() as session:
        rules = session.scalars(select(Rule).where(Rule.action == "webhook")).all()
        assert {rule.settings["url"].split("/")[2] for rule in rules} == {
            "127.0.0.1:45678"
        }


def test_the_trickle_does_one_thing_after_the_other(demo: Engine) -> None:
    trickle = Trickle(sessions(demo).begin, random.Random(7))
    start = utcnow() - timedelta(minutes=16)
    done = [trickle.tick(start + timedelta(seconds=15 * n)) for n in range(60)]
    words = " ".join(filter(None, done))
    for deed in ("asks", "confirmed", "moves", "calls off", "responds", "published"):
        assert deed in words
    assert sum(each is not None for each in done) > 50


def test_the_trickle_waits_for_a_database_that_is_away() -> None:
    import threading

    stopping = threading.Event()

    def away() -> object:
        stopping.set()
        raise OperationalError("SELECT 1", {}, Exception("away"))

    Trickle(away, Always(0)).run(stopping)  # type: ignore[arg-type]
    assert stopping.is_set()


def test_a_database_with_real_congregations_is_left_alone(tmp_path: Path) -> None:
    environ = demo_environ({"VAR_DIR": str(tmp_path)})
    config = Config.from_environ(environ)
    engine = make_engine(config.database_url)
    migrations.upgrade(engine)
    with sessions(engine).begin() as session:
        session.add(Congregation(slug="real", name="Real"))
    with pytest.raises(ConfigError, match="one for itself"):
        load(engine, config, environ)
    with sessions(engine)() as session:
        assert session.scalars(select(Congregation.slug)).all() == ["real"]
        assert session.scalars(select(Operator)).all() == []
    engine.dispose()


def test_half_a_demo_is_not_gone_on_with(tmp_path: Path) -> None:
    environ = demo_environ({"VAR_DIR": str(tmp_path)})
    config = Config.from_environ(environ)
    engine = make_engine(config.database_url)
    migrations.upgrade(engine)
    with sessions(engine).begin() as session:
        session.add(Congregation(slug="st-bonifatius", name="Half"))
    with pytest.raises(ConfigError, match="interrupted"):
        load(engine, config, environ)
    engine.dispose()


def test_production_gets_no_demo() -> None:
    with pytest.raises(ConfigError, match="CARILLON_ENV"):
        demo_environ({"CARILLON_ENV": "production"})


def test_mail_goes_to_this_machine_whatever_was_set(environ: dict[str, str]) -> None:
    made = demo_environ({"SMTP_URL": "smtp://mail.example.org", "VAR_DIR": "x"})
    assert made["SMTP_URL"].startswith("smtp://127.0.0.1:")
    assert demo_environ({})["VAR_DIR"] == "var/demo"


def test_ports_that_were_chosen_already_are_kept() -> None:
    chosen = {"DEMO_MAIL_PORT": str(free_port()), "DEMO_HOOK_PORT": str(free_port())}
    made = demo_environ(chosen)
    assert {name: made[name] for name in chosen} == chosen
    assert made["SMTP_URL"].endswith(f":{chosen['DEMO_MAIL_PORT']}")


def test_another_port_is_taken_when_the_usual_one_is_not_free() -> None:
    import socket

    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        port = other.getsockname()[1]
        assert settings._free(port) != port


def _mail(to: str) -> EmailMessage:
    message = EmailMessage()
    message["From"], message["To"] = "a@parish.example", to
    message["Subject"], message["Message-ID"] = "Grüße", "<one@parish.example>"
    message.set_content("Text")
    return message


def test_the_mail_server_keeps_mails_and_refuses_one_address(tmp_path: Path) -> None:
    ports = DemoPorts(free_port(), free_port())
    with (
        sinks(ports, tmp_path / "mail", Always(0.99)),
        smtplib.SMTP("127.0.0.1", ports.mail) as client,
    ):
        client.send_message(_mail("b@parish.example"))
        with pytest.raises(smtplib.SMTPRecipientsRefused):
            client.send_message(_mail(REFUSED_ADDRESS))
    assert [path.name for path in (tmp_path / "mail").iterdir()] == [
        "one@parish.example.eml"
    ]


def test_the_servers_are_busy_now_and_then(tmp_path: Path) -> None:
    ports = DemoPorts(free_port(), free_port())
    with sinks(ports, tmp_path / "mail", Always(0.0)):
        with smtplib.SMTP("127.0.0.1", ports.mail) as client:
            with pytest.raises(smtplib.SMTPRecipientsRefused) as refused:
                client.send_message(_mail("b@parish.example"))
            assert refused.value.recipients["b@parish.example"][0] == 451
        assert _post(ports, "/studio") == 503
        assert _post(ports, "/old-calendar") == 410


def test_webhooks_are_thanked_for(tmp_path: Path) -> None:
    ports = DemoPorts(free_port(), free_port())
    with sinks(ports, tmp_path / "mail", Always(0.99)):
        assert _post(ports, "/website") == 200


def _post(ports: DemoPorts, path: str) -> int:
    url = f"http://127.0.0.1:{ports.hooks}{path}"
    try:
        with urllib.request.urlopen(url, data=b"{}", timeout=5) as answer:
            status: int = answer.status
            return status
    except urllib.error.HTTPError as error:
        error.close()
        return error.code


def test_only_the_newest_mails_are_kept(tmp_path: Path) -> None:
    sink = MailSink(tmp_path, Always(0.99))
    for number in range(KEPT_MAILS + 5):
        (tmp_path / f"{number}.eml").write_bytes(b"")
    sink._forget_old()
    assert len(list(tmp_path.iterdir())) == KEPT_MAILS
