"""Making a mail whose headers are exactly those that we set."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from email import message_from_bytes, policy
from email.message import EmailMessage
from email.utils import format_datetime
from typing import Any, Final
from uuid import UUID

from tasks.automation.actions.base import CannotCompose
from tasks.models.reason import Reason

#: 7-bit on the wire, so that every mail server takes umlauts and emoji.
_WIRE: Final = policy.SMTP.clone(cte_type="7bit")


def make_letter(
    message: Mapping[str, Any], execution_id: UUID, *, sender: str, at: datetime
) -> EmailMessage:
    """Return the mail for ``message``: ``to``, ``subject``, ``text``, ``html``.

    The Message-ID is the same on every attempt, so a mail program that gets it twice
    can tell.

    Args:
        sender: The From header, as an address or ``Name <address>``.
        at: The Date header.

    Raises:
        ValueError: a header contains a line break or the like.
    """
    letter = EmailMessage(policy=_WIRE)
    letter["From"] = sender
    letter["To"] = message["to"]
    letter["Subject"] = message["subject"]
    letter["Date"] = format_datetime(at)
    letter["Message-ID"] = f"<{execution_id}@{domain_of(letter)}>"
    letter["X-Carillon-Execution"] = str(execution_id)
    letter["Auto-Submitted"] = "auto-generated"  # RFC 3834: no out-of-office replies
    letter.set_content(message["text"])
    if message.get("html"):
        letter.add_alternative(message["html"], subtype="html")
    return letter


def domain_of(letter: EmailMessage) -> str:
    """Return the domain of the sender's address, in ASCII."""
    address: str = letter["From"].addresses[0].domain
    return address.encode("idna").decode("ascii")


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
