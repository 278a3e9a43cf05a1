"""What an action is: it composes a message, then it acts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any, Protocol, runtime_checkable
from uuid import UUID

from sqlalchemy.orm import Session

from tasks.congregation.addresses.downloading import NO_DOWNLOADS, Downloader
from tasks.models.reason import Reason
from tasks.sources.fetching import NOWHERE, Fetcher

#: What leaves the house, as a plain JSON object.
Message = dict[str, Any]


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
    nobody_at: str | None = None  # the address where mails find no mailbox


Outcome = Done | TryAgain | GiveUp


@dataclass(frozen=True, slots=True)
class Envelope:
    """What identifies one effect, the same on every attempt."""

    execution_id: UUID
    congregation_id: UUID
    #: What the action keeps sealed: a signing key, an address; None: nothing.
    secret: str | None
    #: Takes its place in a mail to the guest (``guest_tokens``); None: it has none.
    guest_token: str | None = None


@dataclass(frozen=True, slots=True)
class Letter:
    """One message for one webhook endpoint, ready to be signed and posted."""

    url: str
    id: UUID  # receivers see it as ``webhook-id``, the same on every attempt
    body: str
    secrets: tuple[str, ...]  # sealed; each signs, the newest first


class Mailer(Protocol):
    """Sends one mail."""

    def send(self, message: Mapping[str, Any], envelope: Envelope) -> Outcome:
        """Send, within a total deadline; never raises for what a server does."""


class Poster(Protocol):
    """Posts one signed webhook."""

    def post(self, message: Mapping[str, Any], envelope: Envelope) -> Outcome:
        """Post, within a total deadline; never raises for what a server does."""


class Notifier(Protocol):
    """Notifies one place: a chat, a phone."""

    def notify(self, message: Mapping[str, Any], envelope: Envelope) -> Outcome:
        """Notify, within a total deadline; never raises for what a service does."""


class Starter(Protocol):
    """Asks lanes for a sweep."""

    def start(self, session: Session, lane: str, envelope: Envelope) -> Outcome:
        """Ask for one sweep; the same envelope twice is one.  Caller commits."""


class Courier(Protocol):
    """Delivers messages to webhook endpoints."""

    def deliver(self, letter: Letter) -> Outcome:
        """Post, within a total deadline; never raises for what a server does."""


class Nowhere:
    """The way out of a process that has none of this kind."""

    def deliver(self, letter: Letter) -> Outcome:
        """Answer that there is no way."""
        return TryAgain("This worker delivers no webhooks.")

    def notify(self, message: Mapping[str, Any], envelope: Envelope) -> Outcome:
        """Answer that there is no way."""
        return TryAgain("This worker sends no notifications.")

    def start(self, session: Session, lane: str, envelope: Envelope) -> Outcome:
        """Answer that there is no way."""
        return TryAgain("This worker starts no lanes.")


@dataclass(frozen=True, slots=True)
class Effects:
    """The ways out of the house; tests pass fakes."""

    mailer: Mailer
    poster: Poster
    notifier: Notifier = field(default_factory=Nowhere)
    starter: Starter = field(default_factory=Nowhere)
    fetcher: Fetcher = NOWHERE
    courier: Courier = field(default_factory=Nowhere)
    downloader: Downloader = NO_DOWNLOADS


class Action(Protocol):
    """One kind of thing that a rule can do.  One module and one row in ACTIONS."""

    name: str  # stored in rules, e.g. "email"
    title: str  # for operators, e.g. "Send an e-mail"
    #: Whether later attempts repeat the first one's ``body`` to the byte: a receiver
    #: that sees the same id twice must see the same thing twice.
    keeps_body: bool
    #: Whether all that it does are rows of ours: then it ``ActsWithin`` the transaction
    #: that takes and settles its execution, and gets no context.
    is_within: bool

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


@runtime_checkable
class ComposesMany(Protocol):
    """An action that composes many messages in less time than one by one."""

    def compose_all(
        self, asks: Sequence[tuple[Mapping[str, Any], Mapping[str, Any]]]
    ) -> list[Message | CannotCompose]:
        """Return the message for each pair of settings and context, or why not."""


@runtime_checkable
class ActsWithin(Protocol):
    """An action whose effects are rows of ours, so that all of it happens or nothing.

    Its executions are never leased: a worker that dies leaves them as they were.
    """

    def act_within(
        self,
        session: Session,
        deeds: Sequence[tuple[Mapping[str, Any], Envelope]],
        effects: Effects,
    ) -> Sequence[Outcome]:
        """Do many at once; returns one outcome each, in their order.  Caller commits.

        It may be called again for some of them after an error, which is rolled back.
        """


@runtime_checkable
class KeepsSecret(Protocol):
    """An action with a setting that is a secret, such as an address with a key."""

    #: The setting; among the others only its mask is kept, it itself is sealed.
    secret_setting: str

    def mask(self, secret: str) -> str:
        """Return what may be shown of the secret; it is no secret that is good."""

    def is_mask(self, text: str) -> bool:
        """Whether the text stands for a secret that is kept already."""
