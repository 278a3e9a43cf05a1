"""The action ``email``: one mail to the guest, the host or a fixed address."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from tasks.automation import (
    guest_tokens,
    messages,  # whole: it imports this package's base
)
from tasks.automation.actions.base import (
    CannotCompose,
    Effects,
    Envelope,
    Message,
    Outcome,
)
from tasks.automation.actions.invitation import can_invite
from tasks.automation.actions.mail_parts import (
    may_be_empty,
    parts,
    put_together,
    source,
)
from tasks.automation.triggers import TRIGGERS, Trigger
from tasks.models.reason import Reason
from tasks.outbound.mailboxes import BadAddress, read_address
from tasks.saying import mark, say
from tasks.templating.renderer import Request

#: Who a mail can go to: word in the settings -> what is said when there is no address.
RECIPIENTS: Final[Mapping[str, str]] = {
    "guest": mark("The guest has no e-mail address on record."),
    "host": mark("The podcast's host has no e-mail address on record."),
    "contact": mark("The contact has no e-mail address on record."),
    "agent": mark("The agent has no e-mail address on record."),
    "fixed": mark("A fixed address has no e-mail address on record."),
}
_NO_ADDRESS: Final = mark("The recipient has no e-mail address on record.")
#: Whom the subjects of triggers know.
_OF_NOBODY: Final = mark("%(trigger)s knows nobody; choose a fixed address.")
_OF_CONTACTS: Final = mark(
    "%(trigger)s knows a contact and an agent; choose one of them."
)
_OF_GUESTS: Final = mark("%(trigger)s knows a guest and a host; choose one of them.")
_EMPTY: Final[Mapping[str, str]] = {
    "subject": mark("The subject is empty."),
    "text": mark("The text is empty."),
    "html": mark("The html is empty."),
}
#: Where the address of each stands in a context, first found wins.
_PLACES: Final[Mapping[str, tuple[tuple[str, str], ...]]] = {
    "guest": (("guest", "email"), ("booking", "guest_email")),
    "host": (("podcast", "host_email"),),
    "contact": (("contact", "address"),),
    "agent": (("engagement", "agent_email"),),
}
#: Recipients that only engagements have; whom they know of otherwise is nobody.
_OF_OUTREACH: Final = frozenset({"contact", "agent"})


class EmailAction:
    """Sends a mail with text and, when there is one, an HTML version.

    Settings: ``recipient`` (a key of RECIPIENTS), ``address`` (of ``fixed`` only), and
    the templates ``subject``, ``text`` and ``html``, of which one of the last two may
    be empty.  ``look``: whether it goes out in our layout, its HTML cleaned.
    ``calendar``: whether the booking's calendar file goes with it.
    ``transactional``: it is about something that the recipient arranged, so it has no
    link to unsubscribe, and goes to those who did as well.
    """

    name = "email"
    title = mark("Send an e-mail")
    keeps_body = False  # a mail says what is true when it leaves
    is_within = False

    def check(self, settings: Mapping[str, Any], trigger_type: str) -> dict[str, str]:
        """Return what is wrong with the settings: field name -> sentence."""
        trigger = TRIGGERS.get(trigger_type)
        variables = trigger.variables if trigger else ()
        problems = _check_recipient(settings, trigger)
        for field in ("subject", "text", "html"):
            written = source(settings, field)
            if not written.strip():
                if field not in may_be_empty(settings):
                    problems[field] = say(_EMPTY[field])
                continue
            known = guest_tokens.usable(settings, field, variables)
            if (problem := messages.check_template(written, known)) is not None:
                problems[field] = problem
        if settings.get("calendar") and not can_invite(trigger_type):
            problems["calendar"] = say(
                "Only mails about bookings can bring a calendar file."
            )
        return problems

    def recipient(
        self, settings: Mapping[str, Any], context: Mapping[str, Any]
    ) -> str | None:
        """Return the address that the mail would go to, as it was given."""
        who = settings.get("recipient")
        if who == "fixed":
            return str(settings.get("address") or "") or None
        for group, name in _PLACES.get(str(who), ()):
            values = context.get(group)
            address = values.get(name) if isinstance(values, Mapping) else None
            if isinstance(address, str) and address.strip():
                return address.strip()
        return None

    def compose(
        self, settings: Mapping[str, Any], context: Mapping[str, Any]
    ) -> dict[str, Any]:
        """Return ``to``, ``subject``, ``text`` and ``html`` (empty when there is none).

        Raises:
            CannotCompose: no or no good address, a missing value, a bad template.
        """
        (message,) = self.compose_all([(settings, context)])
        if isinstance(message, CannotCompose):
            raise message
        return message

    def compose_all(
        self, asks: Sequence[tuple[Mapping[str, Any], Mapping[str, Any]]]
    ) -> list[Message | CannotCompose]:
        """Return the message for each pair of settings and context, or why not."""
        addresses = [self._address(*ask) for ask in asks]
        rendered = messages.render_all(
            [
                Request(parts(settings), guest_tokens.with_stand_in(settings, context))
                for settings, context in asks
            ]
        )
        return [
            put_together(*ask, address, texts)
            for ask, address, texts in zip(asks, addresses, rendered, strict=True)
        ]

    def act(
        self, message: Mapping[str, Any], envelope: Envelope, effects: Effects
    ) -> Outcome:
        """Send the mail."""
        leaving = guest_tokens.put_in(message, envelope.guest_token)
        return effects.mailer.send(leaving, envelope)

    def _address(
        self, settings: Mapping[str, Any], context: Mapping[str, Any]
    ) -> str | CannotCompose:
        given = self.recipient(settings, context)
        if given is None:
            nobody = RECIPIENTS.get(str(settings.get("recipient")), _NO_ADDRESS)
            return CannotCompose(Reason.NO_RECIPIENT, say(nobody))
        try:
            return read_address(given)
        except BadAddress as error:
            return CannotCompose(Reason.NO_RECIPIENT, str(error))


def _check_recipient(
    settings: Mapping[str, Any], trigger: Trigger | None
) -> dict[str, str]:
    who = settings.get("recipient")
    if who not in RECIPIENTS:
        known = ", ".join(RECIPIENTS)
        return {"recipient": say("Choose one of %(words)s.", words=known)}
    if trigger and trigger.subject == "work" and who != "fixed":
        return {"recipient": say(_OF_NOBODY, trigger=trigger.name)}
    is_outreach = trigger is not None and trigger.subject == "contact"
    if trigger and who != "fixed" and is_outreach != (who in _OF_OUTREACH):
        known = _OF_CONTACTS if is_outreach else _OF_GUESTS
        return {"recipient": say(known, trigger=trigger.name)}
    if who != "fixed":
        return {}
    address = str(settings.get("address") or "")
    if not address:
        return {"address": say("Give the address that the mail goes to.")}
    try:
        read_address(address)
    except BadAddress as error:
        return {"address": str(error)}
    return {}
