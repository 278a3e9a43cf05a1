"""Ways to other sides that answer as they are told."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from standardwebhooks import Webhook

from tasks.automation.actions.base import Letter, Outcome
from tasks.lane import Bench
from tests.support.hook_sink import Hook
from tests.tasks.webhooks.conftest import Desk


class Answers:
    """A courier that says what it is told to, and remembers the letters."""

    def __init__(self, say: Callable[[Letter], Outcome]) -> None:
        self.say = say
        self.letters: list[Letter] = []

    def deliver(self, letter: Letter) -> Outcome:
        self.letters.append(letter)
        return self.say(letter)


def with_courier(bench: Bench, courier: Any) -> Bench:
    return replace(bench, effects=replace(bench.effects, courier=courier))


def verified(hook: Hook, secret: str, desk: Desk, monkeypatch: Any) -> Any:
    """Check a signature as a receiver does, at the desk's own time."""
    stamp = int(hook.headers["webhook-timestamp"])
    assert stamp == int(desk.now.timestamp())
    monkeypatch.setattr(Webhook, "_Webhook__verify_timestamp", lambda *_: desk.now)
    return Webhook(secret).verify(hook.body, hook.headers)
