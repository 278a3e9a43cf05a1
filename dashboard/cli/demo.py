"""The demo's own process: its mail server, its receiver, its trickle of events."""

from __future__ import annotations

import os
import random
import signal
import sys
import threading
from types import FrameType

import click

from dashboard.cli.lifeline import hold_lifeline, lifeline_option
from dashboard.cli.logs import configure_logging
from dashboard.cli.settings import database, read_config
from dashboard.demo.settings import DemoPorts
from dashboard.demo.sinks import sinks
from dashboard.demo.trickle import Trickle
from tasks import queue
from tasks.db import sessions


@click.command(hidden=True)
@lifeline_option
def demo(lifeline: bool) -> None:
    """Take the demo's mails and webhooks, and report an event now and then."""
    configure_logging()
    config = read_config()
    queue.configure(config)
    if lifeline:
        hold_lifeline()

    def stop(_signum: int, _frame: FrameType | None) -> None:
        # Not an event: its lock may be held by the very thread that is interrupted.
        sys.exit(0)

    signal.signal(signal.SIGTERM, stop)
    signal.signal(signal.SIGINT, stop)
    chance = random.Random()  # noqa: S311  # it chooses guests, not keys
    with (
        database(config) as engine,
        sinks(DemoPorts.from_environ(os.environ), config.var_dir / "mail", chance),
    ):
        Trickle(sessions(engine).begin, chance).run(threading.Event())
