"""The demo's servers fail in the engine's own words, which pages tell in French."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping
from typing import Any
from uuid import UUID

import pytest

from dashboard.demo.people import REFUSED_ADDRESS, SILENT_ADDRESS
from dashboard.demo.scripted import ScriptedHooks, ScriptedMail
from tasks.automation.actions.base import Done, Envelope, Outcome
from tasks.saying import language
from tasks.told import told

_ENVELOPE = Envelope(UUID(int=1), UUID(int=2), None)
_Way = Callable[[Mapping[str, Any], Envelope], Outcome]


class _Bad(random.Random):
    def random(self) -> float:
        return 0.0


@pytest.mark.parametrize(
    ("way", "message"),
    [
        (ScriptedMail(_Bad()).send, {"to": REFUSED_ADDRESS}),
        (ScriptedMail(_Bad()).send, {"to": SILENT_ADDRESS}),
        (ScriptedMail(_Bad()).send, {"to": "guest@example.org"}),
        (ScriptedHooks(_Bad()).post, {"url": "http://example.org/old-calendar"}),
        (ScriptedHooks(_Bad()).post, {"url": "http://example.org/studio"}),
    ],
)
def test_every_failure_is_told_in_french(way: _Way, message: dict[str, str]) -> None:
    outcome = way(message, _ENVELOPE)
    assert not isinstance(outcome, Done)
    token = language.set("fr")
    try:
        assert told(outcome.error) != outcome.error
    finally:
        language.reset(token)
