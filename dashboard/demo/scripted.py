"""Ways out of the house for the demo's past: they answer as its script says."""

from __future__ import annotations

import random
from collections.abc import Mapping
from typing import Any

from dashboard.demo.people import REFUSED_ADDRESS, SILENT_ADDRESS
from tasks.automation.actions.base import (
    Done,
    Effects,
    Envelope,
    GiveUp,
    Outcome,
    TryAgain,
)
from tasks.models import Reason


class ScriptedMail:
    """Sends nothing; one address is refused, one server is away, some are busy."""

    def __init__(self, chance: random.Random) -> None:
        self._chance = chance

    def send(self, message: Mapping[str, Any], envelope: Envelope) -> Outcome:
        address = message["to"]
        if address == REFUSED_ADDRESS:
            answer = "5.1.1 No such mailbox here"
            sentence = f"The mail server refused the mail for good: 550 {answer}"
            return GiveUp(Reason.REFUSED, sentence, 550, answer, nobody_at=address)
        if address == SILENT_ADDRESS:
            return TryAgain(
                "The mail server at mx.stadtchor.example:25 cannot be reached "
                "(no answer within 30 seconds)."
            )
        if self._chance.random() < 0.12:
            sentence = (
                "The mail server refused the mail for now: 451 4.3.2 Too busy right now"
            )
            return TryAgain(sentence, 451, "4.3.2 Too busy right now")
        return Done(250, "2.0.0 Ok: queued")


class ScriptedHooks:
    """Posts nothing; one address is gone, the others are sometimes being deployed."""

    def __init__(self, chance: random.Random) -> None:
        self._chance = chance

    def post(self, message: Mapping[str, Any], envelope: Envelope) -> Outcome:
        if str(message["url"]).endswith("/old-calendar"):
            sentence = "The address answered 410: it is gone for good."
            return GiveUp(Reason.REFUSED, sentence, 410, '{"message": "Gone"}')
        if self._chance.random() < 0.2:
            return TryAgain("The address answered 503.", 503, "Being deployed")
        return Done(200, '{"message": "Thank you."}')


def scripted_effects(chance: random.Random) -> Effects:
    """Return effects that leave no trace outside."""
    return Effects(mailer=ScriptedMail(chance), poster=ScriptedHooks(chance))
