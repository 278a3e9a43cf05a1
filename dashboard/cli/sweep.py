"""``carillon sweep``: one lane, here and now."""

from __future__ import annotations

import click

from dashboard.cli.logs import configure_logging
from dashboard.cli.seen_views import ConsoleViews
from dashboard.cli.settings import read_config, tables
from tasks import queue
from tasks.assembly import make_bench
from tasks.errors import EngineError
from tasks.models import LaneTrigger
from tasks.registry import lane as find_lane
from tasks.runner import run_lane


@click.command()
@click.argument("lane")
def sweep(lane: str) -> None:
    """Sweep LANE once, here and now.

    It does not matter whether a worker runs.
    """
    configure_logging()
    chosen = find_lane(lane)
    config = read_config()
    queue.configure(config)
    with tables(config) as engine:
        bench = make_bench(config, engine, ConsoleViews(engine))
        ran = run_lane(chosen, bench, LaneTrigger.OPERATOR)
    if ran is None:
        raise EngineError(
            f"{chosen.title} was not swept: the lane is paused, or the database does "
            "not answer."
        )
    if ran.error:
        raise EngineError(f"{chosen.title} failed: {ran.error}")
    moved = ", ".join(f"{n} {outcome}" for outcome, n in ran.moved.items())
    click.echo(f"{chosen.title}: {moved or 'nothing was due'}.")
