"""Notifications through Apprise, under the same rules as webhooks: chat, push, SMS."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from tasks.automation.actions.base import Done, Envelope, GiveUp, Outcome, TryAgain
from tasks.errors import InvalidInput
from tasks.models.reason import Reason
from tasks.outbound.connection import CONNECT_SECONDS
from tasks.outbound.deadline import Deadline
from tasks.outbound.guard import UrlRules, check_addresses, check_form
from tasks.outbound.hearing import heard
from tasks.outbound.networks import NotResolved, Resolver, resolve
from tasks.outbound.places import Place, read_place
from tasks.outbound.sockets import Watch, watched
from tasks.saying import mark, say
from tasks.secrets import SecretBox

TOTAL_SECONDS: Final = 20.0
#: What is said where the library is not there; ``carillon doctor`` says it as well.
NOT_INSTALLED: Final = mark(
    "Notifications need the Python package apprise, which is not installed here; "
    "install Carillon's requirements again."
)
#: How the library tells the status of an answer that is no success.
_STATUS: Final = re.compile(r"error=(\d{3})\b")
#: Refusals that another time may not bring.
_NOT_NOW: Final = frozenset({408, 423, 425, 429})


@dataclass(frozen=True, slots=True)
class AppriseNotifier:
    """Sends notifications; looks at the address anew at every attempt."""

    box: SecretBox
    rules: UrlRules = field(default_factory=UrlRules)
    resolver: Resolver = resolve
    total_seconds: float = TOTAL_SECONDS

    def notify(self, message: Mapping[str, Any], envelope: Envelope) -> Outcome:
        """Send ``subject`` and ``text`` to the address that the envelope holds.

        Answers within ``total_seconds``; never raises for what a service does.
        """
        try:
            place = self._place(envelope)
        except InvalidInput as error:
            return GiveUp(Reason.BAD_MESSAGE, error.message)
        except ImportError:
            return TryAgain(say(NOT_INSTALLED))
        try:
            self._check(place)
        except InvalidInput as error:
            return GiveUp(Reason.BLOCKED_ADDRESS, error.message)
        except NotResolved as error:
            return TryAgain(f"{place.plugin.host} cannot be reached ({error}).")
        return self._send(place, message)

    def _place(self, envelope: Envelope) -> Place:
        if envelope.secret is None:
            raise InvalidInput(
                "secret_missing",
                "The rule has no address to notify; give it again and save the rule.",
            )
        return read_place(self.box.unseal(envelope.secret))

    def _check(self, place: Place) -> None:
        target = place.target
        if target is None:
            return
        check_form(target, self.rules)
        if target.address is None:
            addresses = self.resolver(target.host, CONNECT_SECONDS)
            check_addresses(target, addresses, self.rules)

    def _send(self, place: Place, message: Mapping[str, Any]) -> Outcome:
        from apprise import NotifyFormat, OverflowMode

        plugin = place.plugin
        plugin.socket_connect_timeout = CONNECT_SECONDS
        plugin.socket_read_timeout = self.total_seconds
        plugin.overflow_mode = OverflowMode.TRUNCATE  # rather than to be refused
        with (
            Deadline(self.total_seconds) as deadline,
            watched(self.rules, deadline) as watch,
            heard() as said,
        ):
            is_sent = plugin.notify(
                title=str(message["subject"]),
                body=str(message["text"]),
                body_format=NotifyFormat.TEXT,
            )
            if is_sent and not deadline.has_passed:  # an answer cut off may look whole
                return Done()
            return _judge(place.service.title, said, watch, deadline)


def _judge(name: str, said: list[str], watch: Watch, deadline: Deadline) -> Outcome:
    """Return what a failure means; the library's own words may hold the address."""
    if watch.refusal is not None:
        return GiveUp(Reason.BLOCKED_ADDRESS, watch.refusal)
    statuses = [int(found[1]) for each in said if (found := _STATUS.search(each))]
    if statuses:
        status = statuses[-1]
        sentence = f"{name} answered {status}."
        if 400 <= status < 500 and status not in _NOT_NOW:
            return GiveUp(Reason.REFUSED, sentence, status)
        return TryAgain(sentence, status)
    if not watch.was_connected:
        return TryAgain(f"{name} cannot be reached.")
    how = (
        f"did not answer within {deadline.seconds:g} seconds"
        if deadline.has_passed
        else "gave no proper answer"
    )
    return TryAgain(f"{name} {how}.", is_unknown=True)
