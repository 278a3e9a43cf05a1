"""``carillon worker``: the lanes."""

from __future__ import annotations

import click
from sqlalchemy.exc import SQLAlchemyError

from dashboard.cli.lifeline import hold_lifeline, lifeline_option
from dashboard.cli.logs import configure_logging
from dashboard.cli.seen_views import ConsoleViews
from dashboard.cli.settings import (
    first_line,
    read_config,
    refuse_old_database,
    refuse_taken_port,
)
from tasks import worker as engine
from tasks.errors import EngineError


@click.command()
@click.option(
    "--lanes",
    metavar="A,B",
    help="Run these lanes only; without it, all of them.",
)
@lifeline_option
def worker(lanes: str | None, lifeline: bool) -> None:
    """Run the lanes, until SIGTERM or Ctrl-C."""
    configure_logging()
    config = read_config()
    refuse_taken_port("HEALTH_PORT", config.health_host, config.health_port)
    refuse_old_database(config)
    if lifeline:
        hold_lifeline()
    names = None if lanes is None else [name.strip() for name in lanes.split(",")]
    try:
        engine.main(config, names, ConsoleViews)
    except SQLAlchemyError as error:
        raise EngineError(
            f"The database cannot be worked with ({first_line(error)}). "
            "Run: carillon doctor"
        ) from error
