"""A real mail server and a real webhook receiver that do what a test tells them.

As fixtures: ``smtp_sink`` and ``hook_sink``.  As one process of its own, for tests
that kill workers: ``python -m tests.support.sinks --log FILE`` prints one JSON line
``{"smtp_port": …, "hook_port": …}`` and appends a JSON line to FILE for every mail
and every request *before* it answers; it runs until SIGTERM.
"""

from __future__ import annotations

import argparse
import json
import signal
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.support.hook_sink import Hook, HookSink, Reply
from tests.support.smtp_sink import Mail, SmtpSink

__all__ = ["Hook", "HookSink", "Mail", "Reply", "SmtpSink"]


@pytest.fixture
def smtp_sink() -> Iterator[SmtpSink]:
    """Run a mail server on a free port of the loopback interface."""
    with SmtpSink() as sink:
        yield sink


@pytest.fixture
def hook_sink() -> Iterator[HookSink]:
    """Run a webhook receiver on a free port of the loopback interface."""
    with HookSink() as sink:
        yield sink


class JsonLog:
    """Appends one JSON line for each thing received; safe between threads."""

    def __init__(self, path: Path) -> None:
        self._file = path.open("a", encoding="utf-8")
        self._lock = threading.Lock()

    def mail(self, mail: Mail) -> None:
        self._write(
            {
                "kind": "mail",
                "at": mail.at,
                "from": mail.sender,
                "to": mail.recipients,
                "message_id": mail.message["Message-ID"],
                "execution": mail.message["X-Carillon-Execution"],
                "subject": mail.subject,
                "text": mail.text,
            }
        )

    def hook(self, hook: Hook) -> None:
        self._write(
            {
                "kind": "hook",
                "at": hook.at,
                "path": hook.path,
                "webhook_id": hook.headers.get("webhook-id"),
                "headers": hook.headers,
                "body": hook.body.decode("utf-8", "replace"),
            }
        )

    def close(self) -> None:
        self._file.close()

    def _write(self, entry: dict[str, Any]) -> None:
        with self._lock:
            self._file.write(json.dumps(entry, ensure_ascii=False) + "\n")
            self._file.flush()


def main() -> None:
    parser = argparse.ArgumentParser(description="Receive mails and webhooks.")
    parser.add_argument("--log", type=Path, required=True)
    parser.add_argument("--smtp-port", type=int, default=0)
    parser.add_argument("--hook-port", type=int, default=0)
    arguments = parser.parse_args()
    stop = threading.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: stop.set())
    log = JsonLog(arguments.log)
    with (
        SmtpSink(arguments.smtp_port, on_mail=log.mail) as smtp,
        HookSink(arguments.hook_port, on_hook=log.hook) as hooks,
    ):
        ports = {"smtp_port": smtp.port, "hook_port": hooks.port}
        print(json.dumps(ports), flush=True)  # noqa: T201  # the caller reads it
        stop.wait()
    log.close()


if __name__ == "__main__":
    main()
