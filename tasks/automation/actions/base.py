"""What an action is: it composes a message, then it acts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, Protocol
from uuid import UUID

from tasks.models.reason import Reason


class CannotCompose(Exception):
    """The message cannot be made; ``reason`` says why, the text is a sentence."""

    def __init__(self, reason: Reason, sentence: str) -> None:
        super().__init__(sentence)
        self.reason = reason
        self.sentence = sentence


@dataclass(frozen=True, slots=True)
class Done:
    """The other side took it."""

    status_code: int | None = None
    response: str | None = None  # start of the answer, at most 2 kB


@dataclass(frozen=True, slots=True)
class TryAgain:
    """It failed, and may work later."""

    error: str  # one readable sentence
    status_code: int | None = None
    response: str | None = None
    after: timedelta | None = None  # the other side's wish; None: our backoff
    is_unknown: bool = False  # it may have arrived: the answer was lost


@dataclass(frozen=True, slots=True)
class GiveUp:
    """It failed for good; another attempt would fail as well."""

    reason: Reason
    error: str
    status_code: int | None = None
    response: str | None = None


Outcome = Done | TryAgain | GiveUp


@dataclass(frozen=True, slots=True)
class Envelope:
    """What identifies one effect, the same on every attempt."""

    execution_id: UUID
    congregation_id: UUID
    secret: str | None  # the rule's sealed signing secret; None: it has none


class Mailer(Protocol):
    """Sends one mail."""

    def send(self, message: Mapping[str, Any], envelope: Envelope) -> Outcome:
        """Send, within a total deadline; never raises for what a server does."""


class Poster(Protocol):
    """Posts one signed webhook."""

    def post(self, message: Mapping[str, Any], envelope: Envelope) -> Outcome:
        """Post, within a total deadline; never raises for what a server does."""


@dataclass(frozen=True, slots=True)
class Effects:
    """The ways out of the house; tests pass fakes."""

    mailer: Mailer
    poster: Poster


class Action(Protocol):
    """One kind of thing that a rule can do.  One module and one row in ACTIONS."""

    name: str  # stored in rules, e.g. "email"
    title: str  # for operators, e.g. "Send an e-mail"
    #: Whether later attempts repeat the first one's ``body`` to the byte: a receiver
    #: that sees the same id twice must see the same thing twice.
    keeps_body: bool

    def check(self, settings: Mapping[str, Any], trigger_type: str) -> dict[str, str]:
        """Return what is wrong with a rule's settings: field name -> sentence.

        Strict: unknown variables, bad templates, bad addresses.  Empty means good.
        """

    def recipient(
        self, settings: Mapping[str, Any], context: Mapping[str, Any]
    ) -> str | None:
        """Return the address that it would go to; ``None`` when there is none."""

    def compose(
        self, settings: Mapping[str, Any], context: Mapping[str, Any]
    ) -> dict[str, Any]:
        """Return the message as a plain JSON object.

        Raises:
            CannotCompose: no recipient, a missing value, or a bad template.
        """

    def act(
        self, message: Mapping[str, Any], envelope: Envelope, effects: Effects
    ) -> Outcome:
        """Let the message leave the house.  Called with no transaction open."""
