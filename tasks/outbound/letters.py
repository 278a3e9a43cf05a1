"""Making a mail whose headers are exactly those that we set."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from email import message_from_string, policy
from email.headerregistry import Address
from email.message import EmailMessage
from email.policy import EmailPolicy
from email.utils import format_datetime, parseaddr
from typing import Any, Final

from tasks.automation.actions.base import CannotCompose, Envelope
from tasks.models.reason import Reason
from tasks.outbound.calendars import CalendarFile, calendar_file
from tasks.outbound.layout import html_of, text_of
from tasks.outbound.mailboxes import read_address

#: Headers that must stay in one piece: a fold or an encoded word would break them.
_WHOLE: Final = "List-Unsubscribe"
_CALENDAR_NAME: Final = "invite.ics"


class _Wire(EmailPolicy):
    """Folds as mail programs expect, but never an address of a link."""

    def fold_binary(self, name: str, value: Any) -> bytes:  # noqa: ANN401  # as its base
        if name == _WHOLE:
            return f"{name}: {value}\r\n".encode("ascii")
        if name == "To" and not str(value).isascii():
            # An encoded word before the @ would be another mailbox (RFC 6532, 3.2).
            return f"{name}: {value}\r\n".encode()
        return super().fold_binary(name, value)


#: 7-bit on the wire, so that every mail server takes umlauts and emoji; but for an
#: address beyond ASCII, which only servers with SMTPUTF8 get.
_WIRE: Final = _Wire(linesep="\r\n", cte_type="7bit")


def make_letter(
    message: Mapping[str, Any],
    envelope: Envelope,
    *,
    sender: Address,
    at: datetime,
    unsubscribe: str | None = None,
) -> EmailMessage:
    """Return the mail for a message as the action ``email`` composes it.

    The Message-ID is the same on every attempt, so a mail program that gets it twice
    can tell.

    Args:
        sender: The From header; from ``read_sender``.
        at: The Date header.
        unsubscribe: The link that ends such mails; ``None``: it has none.

    Raises:
        ValueError: a header contains a line break or the like.
    """
    letter = EmailMessage(policy=_WIRE)
    letter["From"] = sender
    letter["To"] = message["to"]
    letter["Subject"] = message["subject"]
    letter["Date"] = format_datetime(at)
    letter["Message-ID"] = f"<{envelope.execution_id}@{sender.domain}>"
    letter["X-Carillon-Execution"] = str(envelope.execution_id)
    letter["Auto-Submitted"] = "auto-generated"  # RFC 3834: no out-of-office replies
    if unsubscribe is not None:
        letter[_WHOLE] = f"<{unsubscribe}>"
        if unsubscribe.startswith("https:"):  # RFC 8058 wants nothing less
            letter["List-Unsubscribe-Post"] = "List-Unsubscribe=One-Click"
    letter.set_content(text_of(message, unsubscribe))
    if html := html_of(message, unsubscribe):
        letter.add_alternative(html, subtype="html")
    if facts := message.get("calendar"):
        made = calendar_file(
            facts,
            envelope.congregation_id,
            organizer=sender,
            attendee=str(message["to"]),
            at=at,
        )
        _enclose(letter, made)
    return letter


def _enclose(letter: EmailMessage, made: CalendarFile) -> None:
    """Add a calendar file twice, as calendars do: to be shown, and to be opened."""
    params = {"method": made.method}
    letter.add_alternative(made.content, subtype="calendar", params=params)
    letter.add_attachment(
        made.content.encode(),
        maintype="application",
        subtype="ics",
        filename=_CALENDAR_NAME,
    )


def read_sender(text: str) -> Address:
    """Read ``Name <address>`` or an address; the domain becomes ASCII.

    Raises:
        ValueError: it is no address, or its part before the @ is not ASCII.
    """
    name, address = parseaddr(text)
    local, _, domain = address.rpartition("@")
    if not local.isascii() or not local or not domain:
        raise ValueError(f"{text!r} is not an address to send from")
    if not domain.isascii():
        _, _, domain = read_address(f"{local}@{domain}").rpartition("@")
    return Address(name, local, domain)


def on_the_wire(letter: EmailMessage) -> bytes:
    """Serialise ``letter``, and read it again to see that nothing slipped in.

    Some Pythons let an encoded word in a header break out into headers of its own.

    Raises:
        CannotCompose: what would be read is not what was set.
    """
    raw = letter.as_bytes()
    again = message_from_string(raw.decode(), policy=policy.default)
    same_names = list(again.keys()) == list(letter.keys())
    if not same_names or any(
        _flat(again[name]) != _flat(letter[name]) for name in letter
    ):
        raise CannotCompose(
            Reason.BAD_MESSAGE,
            "The mail was not sent: a value in it would have changed its headers.",
        )
    return raw


def _flat(header: object) -> str:
    # Folding may move white space about, which changes nothing.
    return "".join(str(header).split())
