"""Putting the parts of a process together: what its sweeps work with."""

from __future__ import annotations

import os
import secrets
import socket
from dataclasses import replace

from sqlalchemy import Engine

from tasks import queue
from tasks.automation.actions import make_effects
from tasks.clock import DatabaseClock
from tasks.config import Config
from tasks.congregation.documents.rendering.renderer import find_renderer
from tasks.db import make_engine, sessions
from tasks.lane import Bench, Timing
from tasks.models.lane import LaneTrigger
from tasks.operations.lane_starts import LaneStarter
from tasks.registry import lane as find_lane
from tasks.runner import run_lane
from tasks.storage import make_storage
from tasks.views.reading import ViewReader


def make_bench(
    config: Config, engine: Engine, views: ViewReader | None = None
) -> Bench:
    """Return what this process's sweeps work with.

    Args:
        views: Counts the rows of saved views; None: those of others do.
    """
    begin, clock = sessions(engine).begin, DatabaseClock(engine)
    return Bench(
        begin=begin,
        clock=clock,
        effects=replace(make_effects(config), starter=LaneStarter(clock)),
        worker=f"{socket.gethostname()[:40]}:{os.getpid()}:{secrets.token_hex(3)}",
        console_url=config.base_url,
        views=views,
        storage=make_storage(config),
        renderer=find_renderer(),
        timing=Timing(
            lease=config.lease,
            keep_settled=config.keep_settled,
            keep_succeeded=config.keep_succeeded,
            keep_failed=config.keep_failed,
            keep_not_run=config.keep_not_run,
            keep_runs=config.keep_runs,
            campaign_hour=config.campaign_hour,
            retention_hour=config.retention_hour,
        ),
    )


def make_sweeper(config: Config) -> queue.Sweeper:
    """Return what runs a lane in a stock Huey consumer."""
    queue.configure(config)
    engine = make_engine(config.database_url, loop_rate=config.loop_rate)
    bench = make_bench(config, engine)

    def sweep(name: str, trigger: LaneTrigger) -> None:
        run_lane(find_lane(name), bench, trigger)

    return sweep
