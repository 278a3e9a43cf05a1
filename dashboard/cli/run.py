"""``carillon run``: everything in the foreground, for one machine."""

from __future__ import annotations

import os
import socket
import sys
import time
from collections.abc import Mapping
from http.client import HTTPConnection, HTTPException

import click

from dashboard.cli.settings import database, read_config, refuse_taken_port
from dashboard.cli.supervisor import Supervisor
from dashboard.operators.setup import new_setup_link
from tasks import migrations
from tasks.config import Config
from tasks.db import sessions

#: What children get to end, beyond the grace that the worker gives its lanes.
_GRACE_BEYOND = 5.0  # seconds
#: How long the worker may take to become ready before we greet without it.
_PATIENCE = 30.0  # seconds


@click.command()
@click.option("--demo", is_flag=True, help="Show a made-up congregation at work.")
def run(demo: bool) -> None:
    """Migrate, then run console and worker.

    Both run in the foreground, until Ctrl-C.
    """
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
            is_up=_Readiness(config),
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


class _Readiness:
    """Whether console and worker both work; after a while the console alone counts.

    A worker that cannot become ready says why in its log and in the console.
    """

    def __init__(self, config: Config) -> None:
        self._config = config
        self._patience_ends = time.monotonic() + _PATIENCE

    def __call__(self) -> bool:
        if not self._console_answers():
            return False
        return self._worker_is_ready() or time.monotonic() > self._patience_ends

    def _console_answers(self) -> bool:
        try:
            address = (self._config.web_host, self._config.web_port)
            with socket.create_connection(address, 1.0):
                return True
        except OSError:
            return False

    def _worker_is_ready(self) -> bool:
        host, port = self._config.health_host, self._config.health_port
        if port == 0:
            return True  # it took a free one; nobody else knows which
        worker = HTTPConnection(host, port, timeout=1.0)
        try:
            worker.request("GET", "/readyz")
            return worker.getresponse().status == 200
        except (OSError, HTTPException):
            return False
        finally:
            worker.close()
