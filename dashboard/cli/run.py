"""``carillon run``: everything in the foreground, for one machine."""

from __future__ import annotations

import os
import socket
import sys
from collections.abc import Mapping

import click

from dashboard.cli.settings import database, read_config, refuse_taken_port
from dashboard.cli.supervisor import Supervisor
from dashboard.operators.setup import new_setup_link
from tasks import migrations
from tasks.config import Config
from tasks.db import sessions

#: What children get to end, beyond the grace that the worker gives its lanes.
_GRACE_BEYOND = 5.0  # seconds


@click.command()
@click.option("--demo", is_flag=True, help="Show a made-up congregation at work.")
def run(demo: bool) -> None:
    """Migrate, then run console and worker in the foreground, until Ctrl-C."""
    environ = dict(os.environ)
    if demo:
        from dashboard.demo.settings import demo_environ  # its packages are optional

        environ = demo_environ(environ)
    config = Config.from_environ(environ) if demo else read_config()
    refuse_taken_port("PORT", config.web_host, config.web_port)
    refuse_taken_port("HEALTH_PORT", config.health_host, config.health_port)
    greeting = [f"Carillon is at {config.base_url}", *_prepare(config, environ, demo)]
    grace = config.shutdown_grace.total_seconds() + _GRACE_BEYOND
    supervisor = Supervisor(environ, grace)
    for command in ("web", "worker", *(("demo",) if demo else ())):
        supervisor.start(command)
    sys.exit(
        supervisor.run(
            is_up=lambda: _answers(config),
            when_up=lambda: click.echo("\n".join((*greeting, "Stop it with Ctrl-C."))),
        )
    )


def _prepare(config: Config, environ: Mapping[str, str], demo: bool) -> list[str]:
    """Bring the database up to date; returns what to tell about logging in."""
    with database(config) as engine:
        migrations.upgrade(engine)
        if demo:
            from dashboard.demo import load

            return load(engine, config, environ)
        with sessions(engine).begin() as session:
            link = new_setup_link(session, config.base_url)
    return [] if link is None else [f"Make the first operator within an hour: {link}"]


def _answers(config: Config) -> bool:
    try:
        with socket.create_connection((config.web_host, config.web_port), 1.0):
            return True
    except OSError:
        return False
