"""Making a mail whose headers are exactly those that we set."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from email import message_from_bytes, policy
from email.headerregistry import Address
from email.message import EmailMessage
from email.utils import format_datetime, parseaddr
from typing import Any, Final
from uuid import UUID

from tasks.automation.actions.base import CannotCompose
from tasks.models.reason import Reason

#: 7-bit on the wire, so that every mail server takes umlauts and emoji.
_WIRE: Final = policy.SMTP.clone(cte_type="7bit")


def make_letter(
    message: Mapping[str, Any], execution_id: UUID, *, sender: Address, at: datetime
) -> EmailMessage:
    """Return the mail for ``message``: ``to``, ``subject``, ``text``, ``html``.

    The Message-ID is the same on every attempt, so a mail program that gets it twice
    can tell.

    Args:
        sender: The From header; from ``read_sender``.
        at: The Date header.

    Raises:
        ValueError: a header contains a line break or the like.
    """
    letter = EmailMessage(policy=_WIRE)
    letter["From"] = sender
    letter["To"] = message["to"]
    letter["Subject"] = message["subject"]
    letter["Date"] = format_datetime(at)
    letter["Message-ID"] = f"<{execution_id}@{sender.domain}>"
    letter["X-Carillon-Execution"] = str(execution_id)
    letter["Auto-Submitted"] = "auto-generated"  # RFC 3834: no out-of-office replies
    letter.set_content(message["text"])
    if message.get("html"):
        letter.add_alternative(message["html"], subtype="html")
    return letter


def read_sender(text: str) -> Address:
    """Read ``Name <address>`` or an address; the domain becomes ASCII.

    Raises:
        ValueError: it is no address, or its part before the @ is not ASCII.
    """
    name, address = parseaddr(text)
    local, _, domain = address.rpartition("@")
    if not local.isascii() or not local or not domain:
        raise ValueError(f"{text!r} is not an address to send from")
    return Address(name, local, domain.encode("idna").decode("ascii"))


def on_the_wire(letter: EmailMessage) -> bytes:
    """Serialise ``letter``, and read it again to see that nothing slipped in.

    Some Pythons let an encoded word in a header break out into headers of its own.

    Raises:
        CannotCompose: what would be read is not what was set.
    """
    raw = letter.as_bytes()
    again = message_from_bytes(raw, policy=policy.default)
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
