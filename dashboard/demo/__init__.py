"""A made-up parish at work: for looking around, never for real data."""

from __future__ import annotations

import random
from collections.abc import Mapping
from typing import Final

from sqlalchemy import Engine, event
from sqlalchemy.engine.interfaces import DBAPIConnection
from sqlalchemy.pool import ConnectionPoolEntry

from dashboard.demo.addresses import make_addresses
from dashboard.demo.board import make_board
from dashboard.demo.leavers import make_leavers
from dashboard.demo.listeners import make_endpoints, point_endpoints_to
from dashboard.demo.notifications import make_notifications
from dashboard.demo.office import make_office
from dashboard.demo.parish import is_loaded, make_operators, make_parish, point_hooks_to
from dashboard.demo.people import LOGIN, PASSWORD
from dashboard.demo.settings import DemoPorts
from dashboard.demo.story import PAST, Story
from dashboard.demo.timelapse import Timelapse
from dashboard.demo.transfers import make_transfers
from dashboard.demo.wakeups import make_outreach
from tasks.automation import actions
from tasks.clock import utcnow
from tasks.config import Config
from tasks.db import make_engine, sessions
from tasks.operations.lane_starts import startable
from tasks.secrets import SecretBox
from tasks.storage import make_storage

#: The same past at every first start.
SEED: Final = 1729


def load(engine: Engine, config: Config, environ: Mapping[str, str]) -> list[str]:
    """Make the demo's data unless it is there; returns what to tell about it.

    Raises:
        ConfigError: the database has congregations of its own, or half of the demo.
    """
    ports = DemoPorts.from_environ(environ)
    actions.configure(config, startable())
    with sessions(engine).begin() as session:
        if is_there := is_loaded(session):
            point_hooks_to(session, ports.hooks)
            point_endpoints_to(session, ports.hooks)
    if not is_there:
        _make(config, ports)
    return [
        f"Log in as {LOGIN} with the password: {PASSWORD}",
        f"Its mails end in {config.var_dir / 'mail'}; nothing leaves this machine.",
    ]


def _make(config: Config, ports: DemoPorts) -> None:
    """Play the demo's past; quick, since nothing of it needs to survive a crash."""
    engine = make_engine(config.database_url)
    if engine.dialect.name == "sqlite":
        event.listen(engine, "connect", _trust_the_system)
    now = utcnow()
    start = now - PAST
    chance = random.Random(SEED)  # noqa: S311  # it makes history, not keys
    begin = sessions(engine).begin
    with begin() as session:
        box = SecretBox(config.secret_key)
        parish = make_parish(session, box, ports.hooks, start)
    story = Story(parish, now)
    lapse = Timelapse(engine, start, now, story.outage(), chance)
    lapse.play(story.steps())
    with begin() as session:
        make_endpoints(session, parish, box, ports.hooks, now)
        make_outreach(session, parish, now)
    make_notifications(begin, lapse, parish, now)
    make_board(begin, make_storage(config), parish, now)
    make_addresses(begin, lapse, make_storage(config), parish, now)
    make_leavers(begin, lapse, parish, now)
    make_office(begin, parish, now)
    make_transfers(begin, lapse, make_storage(config), parish, now)
    with begin() as session:
        make_operators(session)
    engine.dispose()


def _trust_the_system(connection: DBAPIConnection, _: ConnectionPoolEntry) -> None:
    cursor = connection.cursor()
    cursor.execute("PRAGMA synchronous=OFF")
    cursor.close()
