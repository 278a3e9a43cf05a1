"""``carillon web``: the console and the API, served by gunicorn."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from typing import Any, Final

import click
from flask import Flask
from gunicorn.app.base import BaseApplication
from gunicorn.workers.base import Worker

from dashboard.app import create_app
from dashboard.cli.lifeline import hold_lifeline, lifeline_option
from dashboard.cli.logs import configure_logging
from dashboard.cli.settings import (
    read_config,
    refuse_old_database,
    refuse_taken_port,
)
from tasks import heap, queue
from tasks.config import Config
from tasks.config_addresses import bracketed

logger = logging.getLogger(__name__)

#: Requests that one process answers at once.
_THREADS: Final = 8
#: How long a request under way may take when the server stops, in seconds.
_GRACE_SECONDS: Final = 20
#: A process that is silent for so long is replaced, in seconds.
_TIMEOUT_SECONDS: Final = 60


class Server(BaseApplication):  # type: ignore[misc]  # gunicorn has no types
    """Gunicorn with our settings instead of a file of its own."""

    def __init__(self, config: Config, *, has_lifeline: bool = False) -> None:
        self._config = config
        self._has_lifeline = has_lifeline
        super().__init__()

    def load_config(self) -> None:
        for name, value in _gunicorn_settings(self._config).items():
            self.cfg.set(name, value)
        if self._has_lifeline:
            self.cfg.set("post_worker_init", _begin_with_lifeline)

    def load(self) -> Flask:
        return create_app(self._config)


def _gunicorn_settings(config: Config) -> Mapping[str, Any]:
    return {
        "bind": f"{bracketed(config.web_host)}:{config.web_port}",
        "workers": config.web_workers,
        "worker_class": "dashboard.cli.refusing.Worker",
        "threads": _THREADS,
        # Loaded once, before the processes part: no connection is open by then.
        "preload_app": True,
        "timeout": _TIMEOUT_SECONDS,
        "graceful_timeout": _GRACE_SECONDS,
        "control_socket_disable": True,  # it would write into the home folder
        "loglevel": "warning",
        "when_ready": _tell,
        "post_worker_init": _begin,
    }


def _tell(_server: object) -> None:
    logger.info("web.started")


def _begin(_worker: object) -> None:
    heap.set_aside()


def _begin_with_lifeline(worker: Worker) -> None:
    _begin(worker)
    hold_lifeline(worker.ppid)


@click.command()
@lifeline_option
def web(lifeline: bool) -> None:
    """Serve the console and the HTTP API."""
    configure_logging()
    config = read_config()
    refuse_taken_port("PORT", config.web_host, config.web_port)
    refuse_old_database(config)
    queue.configure(config)
    Server(config, has_lifeline=lifeline).run()
