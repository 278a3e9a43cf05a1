"""The action ``notify``: a short message to a chat, a phone or another service."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from tasks.automation import messages  # whole: it imports this package's base
from tasks.automation.actions.base import (
    CannotCompose,
    Effects,
    Envelope,
    Message,
    Outcome,
)
from tasks.automation.triggers import TRIGGERS
from tasks.config import Config
from tasks.errors import InvalidInput
from tasks.outbound import places
from tasks.outbound.guard import UrlRules, check_addresses, check_form
from tasks.outbound.networks import NotResolved, Resolver, resolve
from tasks.outbound.notify import NOT_INSTALLED
from tasks.saying import mark, say
from tasks.templating.renderer import Kind, Request

_LOOKUP_SECONDS: Final = 2.0  # an operator waits for it
_ABSENT: Final = mark("Give the address to notify, such as discord://id/token.")


class NotifyAction:
    """Sends a title and a text to one place, by an address of Apprise.

    Settings: ``target``, the address, of which a rule keeps the mask only; and the
    templates ``title`` (may be empty) and ``words``.
    """

    name = "notify"
    title = mark("Notify a chat or phone")
    keeps_body = False  # it says what is true when it leaves
    is_within = False
    secret_setting = "target"  # noqa: S105  # the name of a setting

    def __init__(self) -> None:
        self._rules = UrlRules()
        self._resolver: Resolver | None = None

    def configure(self, config: Config, resolver: Resolver = resolve) -> None:
        """Check addresses by the installation's settings, and look names up."""
        self._rules = UrlRules.of(config)
        self._resolver = resolver

    def mask(self, secret: str) -> str:
        """Return the service and the end of an address."""
        return places.mask(secret)

    def is_mask(self, text: str) -> bool:
        """Whether the text stands for an address that is kept already."""
        return places.is_mask(text)

    def check(self, settings: Mapping[str, Any], trigger_type: str) -> dict[str, str]:
        """Return what is wrong with the settings: field name -> sentence."""
        trigger = TRIGGERS.get(trigger_type)
        variables = trigger.variables if trigger else ()
        problems: dict[str, str] = {}
        if sentence := self._wrong_target(str(settings.get("target") or "")):
            problems["target"] = sentence
        for field in ("title", "words"):
            source = str(settings.get(field) or "")
            if source.strip():
                sentence = messages.check_template(source, variables)
            else:
                sentence = say("The message is empty.") if field == "words" else None
            if sentence is not None:
                problems[field] = sentence
        return problems

    def recipient(
        self, settings: Mapping[str, Any], context: Mapping[str, Any]
    ) -> str | None:
        """Return what may be shown of the address."""
        target = str(settings.get("target") or "")
        return target if not target or self.is_mask(target) else self.mask(target)

    def compose(
        self, settings: Mapping[str, Any], context: Mapping[str, Any]
    ) -> dict[str, Any]:
        """Return ``to``, ``subject`` (may be empty) and ``text``.

        Raises:
            CannotCompose: a missing value, or a bad template.
        """
        (message,) = self.compose_all([(settings, context)])
        if isinstance(message, CannotCompose):
            raise message
        return message

    def compose_all(
        self, asks: Sequence[tuple[Mapping[str, Any], Mapping[str, Any]]]
    ) -> list[Message | CannotCompose]:
        """Return the message for each pair of settings and context, or why not."""
        rendered = messages.render_all(
            [Request(_parts(settings), context) for settings, context in asks]
        )
        return [
            texts
            if isinstance(texts, CannotCompose)
            else {
                "to": self.recipient(settings, context),
                "subject": " ".join(texts[0].split()),
                "text": texts[1].strip(),
            }
            for (settings, context), texts in zip(asks, rendered, strict=True)
        ]

    def act(
        self, message: Mapping[str, Any], envelope: Envelope, effects: Effects
    ) -> Outcome:
        """Notify."""
        return effects.notifier.notify(message, envelope)

    def _wrong_target(self, target: str) -> str | None:
        """Return what is wrong with an address; sending looks again."""
        if not target:
            return say(_ABSENT)
        if self.is_mask(target):
            return None  # kept as it is; whether there is one, the saving sees
        try:
            host = places.read_place(target).target
            if host is None:
                return None
            check_form(host, self._rules)
            if self._resolver is not None and host.address is None:
                addresses = self._resolver(host.host, _LOOKUP_SECONDS)
                check_addresses(host, addresses, self._rules)
        except InvalidInput as error:
            return error.message
        except ImportError:
            return say(NOT_INSTALLED)
        except NotResolved:
            return None  # it may be registered tomorrow; sending says so if it is not
        return None


def _parts(settings: Mapping[str, Any]) -> tuple[tuple[Kind, str], ...]:
    return (
        ("text", str(settings.get("title") or "")),
        ("text", str(settings.get("words") or "")),
    )
