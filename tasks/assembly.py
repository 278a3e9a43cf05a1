"""Putting the parts of a process together: what its sweeps work with."""

from __future__ import annotations

import os
import secrets
import socket

from sqlalchemy import Engine

from tasks import queue
from tasks.automation.actions import make_effects
from tasks.clock import DatabaseClock
from tasks.config import Config
from tasks.db import make_engine, sessions
from tasks.lane import Bench, Timing
from tasks.models.lane import LaneTrigger
from tasks.registry import lane as find_lane
from tasks.runner import run_lane


def make_bench(config: Config, engine: Engine) -> Bench:
    """Return what this process's sweeps work with."""
    return Bench(
        begin=sessions(engine).begin,
        clock=DatabaseClock(engine),
        effects=make_effects(config),
        worker=f"{socket.gethostname()[:40]}:{os.getpid()}:{secrets.token_hex(3)}",
        timing=Timing(config.lease, config.keep_settled, config.keep_runs),
    )


def make_sweeper(config: Config) -> queue.Sweeper:
    """Return what runs a lane in a stock Huey consumer."""
    queue.configure(config)
    bench = make_bench(config, make_engine(config.database_url))

    def sweep(name: str, trigger: LaneTrigger) -> None:
        run_lane(find_lane(name), bench, trigger)

    return sweep
