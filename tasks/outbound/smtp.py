"""One conversation with a mail server, told apart step by step."""

from __future__ import annotations

import smtplib
import socket
import ssl
from dataclasses import dataclass
from typing import Final, Self
from urllib.parse import unquote, urlsplit

from tasks.outbound.deadline import Deadline

_PORTS: Final = {"smtp": 25, "smtps": 465, "smtp+starttls": 587}
_TEXT_MAX: Final = 400  # characters of a server's reply that are kept


@dataclass(frozen=True, slots=True)
class MailServer:
    """Where mails go out, read from SMTP_URL."""

    scheme: str  # "smtp", "smtps" or "smtp+starttls"
    host: str
    port: int
    user: str | None
    password: str | None

    @classmethod
    def of(cls, url: str) -> MailServer:
        """Read an SMTP_URL that ``Config`` has accepted."""
        parts = urlsplit(url)
        return cls(
            parts.scheme,
            parts.hostname or "",
            parts.port or _PORTS[parts.scheme],
            unquote(parts.username) if parts.username else None,
            unquote(parts.password) if parts.password else None,
        )

    @property
    def place(self) -> str:
        """Host and port, for people."""
        return f"{self.host}:{self.port}"

    def without_password(self, text: str) -> str:
        """Return ``text`` with the password blotted out, should a server echo it."""
        return text.replace(self.password, "••••") if self.password else text

    def __repr__(self) -> str:
        return f"MailServer({self.scheme}://{self.place})"


@dataclass(frozen=True, slots=True)
class Reply:
    """What the server said to one command."""

    code: int
    text: str

    @property
    def is_final(self) -> bool:
        """Whether asking again would get the same answer (5xx)."""
        return 500 <= self.code < 600

    @classmethod
    def of(cls, code: int, text: bytes) -> Reply:
        """Make a reply from what smtplib returns."""
        line = " ".join(text.decode("utf-8", "replace").split())
        return cls(code, line[:_TEXT_MAX])


class Refused(Exception):
    """The server answered a command with a refusal."""

    def __init__(self, command: str, reply: Reply) -> None:
        super().__init__(f"{command}: {reply.code}")
        self.command = command
        self.reply = reply

    @property
    def is_about_mail(self) -> bool:
        """Whether this mail was refused, rather than us altogether."""
        # 421: the server is closing down.  530 and the like: it wants a login.
        about_us = {421, 530, 534, 535, 538}
        return (
            self.command in {"MAIL", "RCPT", "DATA", "."}
            and self.reply.code not in about_us
        )

    @property
    def is_about_login(self) -> bool:
        """Whether user name or password were refused."""
        return self.command == "AUTH"


class SmtpClient(smtplib.SMTP):
    """Connects, encrypts and logs in on entering; says goodbye on leaving."""

    def __init__(
        self, server: MailServer, domain: str, deadline: Deadline, tls: ssl.SSLContext
    ) -> None:
        self._server = server
        self._deadline = deadline
        self._tls = tls
        try:
            super().__init__(
                server.host, server.port, domain, timeout=deadline.remaining
            )
        except smtplib.SMTPConnectError as error:
            self.close()
            raise _refusal("CONNECT", error) from error
        except BaseException:
            self.close()
            raise

    def _get_socket(self, host: str, port: int, timeout: float) -> socket.socket:
        """Connect for smtplib, which calls this; the deadline sees every byte of it."""
        made = socket.create_connection((host, port), timeout)
        self._deadline.watch(made)
        if self._server.scheme != "smtps":
            return made
        return self._tls.wrap_socket(made, server_hostname=host)

    def __enter__(self) -> Self:
        try:
            self._introduce()
        except BaseException:
            self.close()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        # No QUIT: its answer changes nothing, and waiting for it could take a minute.
        self.close()

    def _introduce(self) -> None:
        try:
            self.ehlo_or_helo_if_needed()
            if self._server.scheme == "smtp+starttls":
                self.starttls(context=self._tls)
                self.ehlo()
            if self._server.user is not None:
                self.login(self._server.user, self._server.password or "")
        except smtplib.SMTPAuthenticationError as error:
            raise _refusal("AUTH", error) from error
        except smtplib.SMTPResponseException as error:
            raise _refusal("HELO", error) from error

    def speak_utf8(self) -> bool:
        """Go on in UTF-8 (RFC 6531); False: the server does not understand it."""
        if not self.has_extn("smtputf8"):
            return False
        self.command_encoding = "utf-8"
        return True

    def expect(self, command: str, arguments: str = "") -> Reply:
        """Give a command.

        Raises:
            Refused: the answer is not the one that lets us go on.
        """
        reply = Reply.of(*self.docmd(command, arguments))
        if reply.code not in ({354} if command == "DATA" else {250, 251}):
            raise Refused(command, reply)
        return reply

    def hand_over(self, stuffed: bytes) -> Reply:
        """Send the text, whose leading dots are doubled, and the final dot.

        Raises:
            Refused: the server has the text and does not want it.
        """
        end = b".\r\n" if stuffed.endswith(b"\r\n") else b"\r\n.\r\n"
        self.send(stuffed + end)
        reply = Reply.of(*self.getreply())
        if reply.code != 250:
            raise Refused(".", reply)
        return reply


def _refusal(command: str, error: smtplib.SMTPResponseException) -> Refused:
    text = error.smtp_error
    return Refused(
        command,
        Reply.of(error.smtp_code, text.encode() if isinstance(text, str) else text),
    )
