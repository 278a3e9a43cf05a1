"""Carillon's worker as it is, except for what its actions do.

``python -m bench.product KIND LANES [FILE]`` is ``carillon worker --lanes LANES``, with
the settings of its environment, where

- ``idle``: mails are composed and handed to a mail server that is not there, and rules
  may have an action that does not even compose;
- ``stopwatch``: as these, and each beginning is written to FILE, with its instants.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any, Final

from sqlalchemy.orm import Session

import tasks.registry  # noqa: F401  # imports everything that knows the actions
from bench.world import Nothing
from tasks import assembly, worker
from tasks.automation import actions
from tasks.automation.actions.base import Done, Effects, Envelope, Outcome
from tasks.config import Config

NOOP: Final = "noop"


class NoOp:
    """The action of the benchmarks: an empty message that goes nowhere."""

    name = NOOP
    title = "Do nothing"
    keeps_body = False
    is_within = True

    def check(self, settings: Mapping[str, Any], trigger_type: str) -> dict[str, str]:
        """Find nothing wrong."""
        return {}

    def recipient(
        self, settings: Mapping[str, Any], context: Mapping[str, Any]
    ) -> str | None:
        """Name nobody."""
        return None

    def compose(
        self, settings: Mapping[str, Any], context: Mapping[str, Any]
    ) -> dict[str, Any]:
        """Return an empty message."""
        return {}

    def act(
        self, message: Mapping[str, Any], envelope: Envelope, effects: Effects
    ) -> Outcome:
        """Call the mailer, which does nothing either."""
        return effects.mailer.send(message, envelope)

    def act_within(
        self,
        session: Session,
        deeds: Sequence[tuple[Mapping[str, Any], Envelope]],
        effects: Effects,
    ) -> Sequence[Outcome]:
        """Call the mailer for each, which does nothing."""
        return [self.act(message, envelope, effects) for message, envelope in deeds]


class Stopwatch:
    """A mailer and poster that writes down when it was called."""

    def __init__(self, path: str) -> None:
        self._file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)

    def send(self, message: Mapping[str, Any], envelope: Envelope) -> Outcome:
        """Note the instant, on the clocks that all processes of a machine share."""
        line = f"{envelope.execution_id} {time.monotonic()} {time.time()}\n"
        os.write(self._file, line.encode())
        return Done(250)

    post = send


def add_noop() -> None:
    """Let every module that knows the actions know the no-op as well."""
    known = actions.ACTIONS
    more = MappingProxyType({**known, NOOP: NoOp()})
    for module in list(sys.modules.values()):
        if getattr(module, "ACTIONS", None) is known:
            setattr(module, "ACTIONS", more)  # noqa: B010  # it is Final elsewhere


def _replace_effects(effects: Effects) -> None:
    def make_effects(_config: Config) -> Effects:
        return effects

    setattr(assembly, "make_effects", make_effects)  # noqa: B010  # not ours to change


def main(kind: str, lanes: str, path: str = os.devnull) -> None:
    """Run the worker until SIGTERM."""
    add_noop()
    mailer = Stopwatch(path) if kind == "stopwatch" else Nothing()
    _replace_effects(Effects(mailer, mailer))
    worker.main(Config.from_environ(os.environ), lanes.split(","))


if __name__ == "__main__":
    main(*sys.argv[1:])
