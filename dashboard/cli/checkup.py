"""What ``carillon doctor`` looks at; each check tells what it found."""

from __future__ import annotations

import importlib.util
import socket
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import timedelta
from typing import Final
from urllib.parse import urlsplit

from sqlalchemy import Engine, func, select, text
from sqlalchemy.exc import SQLAlchemyError

from dashboard.cli.settings import first_line
from tasks import migrations, queue
from tasks.clock import DatabaseClock
from tasks.config import Config
from tasks.congregation.documents.rendering.renderer import find_renderer
from tasks.db import make_engine, sessions
from tasks.errors import ConfigError
from tasks.models import LaneSetting, WorkerProcess, WorkerState
from tasks.storage import StorageFailed, make_storage

#: How long another machine may take to answer, in seconds.
PATIENCE_SECONDS: Final = 5.0
#: Clocks further apart than this make waiting times wrong.
SKEW_MAX: Final = timedelta(seconds=2)
#: A worker silent for longer is gone.
SILENCE_MAX: Final = timedelta(seconds=60)
_DEFAULT_PORTS: Final = {"smtp": 25, "smtps": 465, "smtp+starttls": 587}


@dataclass(frozen=True, slots=True)
class Finding:
    """What one check found; ``advice`` says what to do when it is not well."""

    subject: str
    is_well: bool
    sentence: str
    advice: str = ""


def check_all(config: Config) -> Iterator[Finding]:
    """Look at one thing after the other; what needs the database comes after it."""
    engine = make_engine(config.database_url)
    try:
        database = check_database(config, engine)
        yield database
        if database.is_well:
            schema = check_schema(engine)
            yield schema
            yield check_clock(engine)
            if schema.is_well:
                yield check_worker(engine)
                yield check_pauses(engine)
    finally:
        engine.dispose()
    yield check_broker(config)
    yield check_mail(config)
    yield check_notifications()
    yield check_storage(config)
    yield check_pdf_tool()


def check_database(config: Config, engine: Engine) -> Finding:
    """Does the database answer?"""
    address = config.database_url.render_as_string()
    try:
        with engine.connect() as connection:
            connection.execute(text("SELECT 1"))
    except SQLAlchemyError as error:
        return Finding(
            "database",
            False,
            f"{address} does not answer ({first_line(error)})",
            "Is it running, and is DATABASE_URL right?",
        )
    return Finding("database", True, f"{address} answers")


def check_schema(engine: Engine) -> Finding:
    """Are all migrations in?"""
    if migrations.is_current(engine):
        return Finding("migrations", True, "the database is up to date")
    return Finding(
        "migrations",
        False,
        "the database is not at this version's step",
        "Run: carillon migrate",
    )


def check_clock(engine: Engine) -> Finding:
    """Do this machine and the database agree on the time?"""
    skew = DatabaseClock(engine).skew()
    if abs(skew) <= SKEW_MAX:
        return Finding("clock", True, "this machine and the database agree")
    return Finding(
        "clock",
        False,
        f"this machine is {skew.total_seconds():+.1f} s off the database",
        "Run a time service (systemd-timesyncd, chrony) on both machines.",
    )


def check_worker(engine: Engine) -> Finding:
    """Has a worker told lately that it lives?"""
    now = DatabaseClock(engine)()
    with sessions(engine)() as session:
        n_alive, last = session.execute(
            select(
                func.count().filter(WorkerProcess.heartbeat_at >= now - SILENCE_MAX),
                func.max(WorkerProcess.heartbeat_at),
            ).where(WorkerProcess.state != WorkerState.STOPPED)
        ).one()
    if n_alive:
        return Finding("worker", True, f"{n_alive} running")
    since = "none has ever run" if last is None else f"the last was heard {last:%c} UTC"
    return Finding(
        "worker",
        False,
        f"no worker is alive; {since}",
        "Start one: carillon worker (or carillon run).",
    )


def check_pauses(engine: Engine) -> Finding:
    """Is a lane paused?  That is allowed, so it is told and never counts as ill."""
    with sessions(engine)() as session:
        paused = session.scalars(
            select(LaneSetting.lane).where(LaneSetting.is_paused)
        ).all()
    return Finding("lanes", True, f"paused: {', '.join(paused) or 'none'}")


def check_broker(config: Config) -> Finding:
    """Does the broker answer?"""
    name = "SQLite queue" if config.redis_url is None else _without_user(config)
    queue.configure(config)
    try:
        queue.ping()
    except Exception as error:  # noqa: BLE001  # whatever it is, it does not answer
        return Finding(
            "broker",
            False,
            f"{name} does not answer ({first_line(error)})",
            "Work goes on, up to a second later. Is Redis running, REDIS_URL right?",
        )
    return Finding("broker", True, f"{name} answers")


def _without_user(config: Config) -> str:
    parts = urlsplit(config.redis_url or "")
    return f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}{parts.path}"


def check_mail(config: Config) -> Finding:
    """Does the mail server greet?"""
    if config.smtp_url is None:
        return Finding("mail", False, "SMTP_URL is not set", "Mails fail until it is.")
    parts = urlsplit(config.smtp_url)
    address = (parts.hostname or "", parts.port or _DEFAULT_PORTS[parts.scheme])
    try:
        with socket.create_connection(address, PATIENCE_SECONDS) as connection:
            if parts.scheme != "smtps":
                _expect_greeting(connection)
    except OSError as error:
        return Finding(
            "mail",
            False,
            f"{address[0]}:{address[1]} does not answer ({error})",
            "Is SMTP_URL right, and may this machine reach it?",
        )
    return Finding("mail", True, f"{address[0]}:{address[1]} answers")


def check_notifications() -> Finding:
    """Is the library of chats and phones there?"""
    if importlib.util.find_spec("apprise") is None:
        return Finding(
            "notify",
            False,
            "the Python package apprise is not installed",
            "Rules that notify a chat or phone fail until it is; mails do not need it.",
        )
    return Finding("notify", True, "chats and phones can be notified")


def check_storage(config: Config) -> Finding:
    """Can files be kept where the settings say?"""
    try:
        storage = make_storage(config)
        storage.check()
    except (ConfigError, StorageFailed) as error:
        return Finding(
            "files", False, first_line(error), "Documents and archives wait for it."
        )
    return Finding("files", True, f"kept in {storage.title}")


def check_pdf_tool() -> Finding:
    """Is there something that draws thumbnails?"""
    renderer = find_renderer()
    if not renderer.title:
        return Finding(
            "thumbnails",
            False,
            "neither pdftoppm nor the Python package pypdfium2 is installed",
            "Install poppler-utils; documents have no thumbnails until then.",
        )
    return Finding("thumbnails", True, f"drawn by {renderer.title}")


def _expect_greeting(connection: socket.socket) -> None:
    greeting = connection.recv(512)
    if not greeting.startswith(b"220"):
        words = greeting[:60].decode("ascii", "replace").strip()
        raise OSError(f"it greets with {words!r}")
