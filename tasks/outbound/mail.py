"""Sending one mail through the mail server that SMTP_URL names."""

from __future__ import annotations

import re
import smtplib
import ssl
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from tasks.automation.actions.base import (
    CannotCompose,
    Done,
    Envelope,
    GiveUp,
    Outcome,
    TryAgain,
)
from tasks.clock import Clock, utcnow
from tasks.models.reason import Reason
from tasks.outbound.bouncing import is_nobody_there
from tasks.outbound.deadline import Deadline
from tasks.outbound.letters import make_letter, on_the_wire, read_sender
from tasks.outbound.mailboxes import BadAddress, read_address
from tasks.outbound.smtp import MailServer, Refused, SmtpClient
from tasks.outbound.troubles import sentence_for
from tasks.outbound.unsubscribing import UnsubscribeLinks

TOTAL_SECONDS: Final = 60.0
_DOT_AT_LINE_START: Final = re.compile(rb"(?m)^\.")
#: No other try helps, so none is made.  Without a number, which causes leave out:
#: ``tasks.told`` says both in other languages.
_NO_SMTPUTF8: Final = (
    "The mail server at {} cannot send to an address with letters like é or ö before "
    "the @ (it offers no internationalized mail). Use another address, or a mail "
    "server that can."
)


@dataclass(frozen=True, slots=True)
class SmtpMailer:
    """Sends mails, one connection each."""

    server: MailServer | None  # None: no SMTP_URL is set
    sender: str  # the From header
    links: UnsubscribeLinks | None = None  # None: mails have no such link
    tls: ssl.SSLContext = field(default_factory=ssl.create_default_context)
    clock: Clock = utcnow
    total_seconds: float = TOTAL_SECONDS

    def send(self, message: Mapping[str, Any], envelope: Envelope) -> Outcome:
        """Send ``message``; answers within ``total_seconds``, never raises for it."""
        if self.server is None:
            return TryAgain(
                "No mail server is set. Set SMTP_URL, for example "
                "smtp+starttls://user:password@mail.example.org:587, and start again."
            )
        try:
            sender = read_sender(self.sender)
        except ValueError:
            return TryAgain(
                "MAIL_FROM is no address that mail can be sent from. Set it, for "
                "example Studio <studio@example.org>, and start again."
            )
        try:
            message = {**message, "to": read_address(str(message["to"]))}
        except BadAddress as error:
            return GiveUp(Reason.NO_RECIPIENT, str(error))
        try:
            letter = make_letter(
                message,
                envelope,
                sender=sender,
                at=self.clock(),
                unsubscribe=self._unsubscribe(message, envelope),
            )
            raw = on_the_wire(letter)
        except CannotCompose as error:
            return GiveUp(error.reason, error.sentence)
        except ValueError as error:
            return GiveUp(
                Reason.BAD_MESSAGE, f"The mail could not be put together: {error}"
            )
        post = _Post(sender.addr_spec, str(message["to"]), raw, sender.domain)
        with Deadline(self.total_seconds) as deadline:
            return self._deliver(self.server, post, deadline)

    def _unsubscribe(
        self, message: Mapping[str, Any], envelope: Envelope
    ) -> str | None:
        if self.links is None or not message.get("optional"):
            return None
        return self.links.url(envelope.congregation_id, str(message["to"]))

    def _deliver(self, server: MailServer, post: _Post, deadline: Deadline) -> Outcome:
        progress = _Progress()
        try:
            with SmtpClient(server, post.domain, deadline, self.tls) as client:
                if not post.to.isascii() and not client.speak_utf8():
                    return GiveUp(Reason.REFUSED, _NO_SMTPUTF8.format(server.place))
                return _converse(client, post, progress)
        except Refused as refused:
            return _refused(refused, server, post)
        except (OSError, smtplib.SMTPException) as error:
            return TryAgain(
                sentence_for(error, server, deadline, was_handed_over=progress.handed),
                is_unknown=progress.handed,
            )


@dataclass(frozen=True, slots=True)
class _Post:
    sender: str
    to: str
    raw: bytes
    domain: str  # ours, for the greeting


@dataclass(slots=True)
class _Progress:
    handed: bool = False  # the text was on its way; the server may have taken it


def _converse(client: SmtpClient, post: _Post, progress: _Progress) -> Outcome:
    extras = "" if post.to.isascii() else " SMTPUTF8 BODY=8BITMIME"
    client.expect("MAIL", f"FROM:<{post.sender}>{extras}")
    client.expect("RCPT", f"TO:<{post.to}>")
    client.expect("DATA")
    progress.handed = True
    reply = client.hand_over(_DOT_AT_LINE_START.sub(b"..", post.raw))
    return Done(reply.code, reply.text)


def _refused(refused: Refused, server: MailServer, post: _Post) -> Outcome:
    reply = refused.reply
    text = server.without_password(reply.text)
    if refused.is_about_mail and reply.is_final:
        return GiveUp(
            Reason.REFUSED,
            f"The mail server refused the mail for good: {reply.code} {text}",
            reply.code,
            text,
            nobody_at=post.to if is_nobody_there(refused) else None,
        )
    if refused.is_about_mail:
        said = "The mail server refused the mail for now"
    elif refused.is_about_login:
        said = f"The mail server at {server.place} refused the login in SMTP_URL"
    else:
        said = f"The mail server at {server.place} refused to serve us"
    return TryAgain(f"{said}: {reply.code} {text}", reply.code, text)
