"""A mail server on the loopback interface that refuses, hangs or drops as told."""

from __future__ import annotations

import asyncio
import ssl
import threading
import time
import warnings
import weakref
from collections.abc import Callable
from dataclasses import dataclass, field
from email import message_from_bytes, policy
from email.message import EmailMessage
from typing import Literal, Self

from aiosmtpd.smtp import SMTP, AuthResult, Envelope, LoginPassword, Session

#: Where in the conversation a fault strikes; "end" is after the final dot.
Stage = Literal["mail", "rcpt", "end"]


@dataclass(frozen=True, slots=True)
class Mail:
    """One mail as it came over the wire."""

    sender: str
    recipients: list[str]
    raw: bytes
    options: list[str] = field(default_factory=list)  # of MAIL
    at: float = field(default_factory=time.time)  # seconds since the epoch

    @property
    def message(self) -> EmailMessage:
        parsed = message_from_bytes(self.raw, policy=policy.default)
        assert isinstance(parsed, EmailMessage)
        return parsed

    @property
    def subject(self) -> str:
        return str(self.message["Subject"])

    @property
    def text(self) -> str:
        return self._part("plain")

    @property
    def html(self) -> str:
        return self._part("html")

    def _part(self, kind: Literal["plain", "html"]) -> str:
        part = self.message.get_body((kind,))
        return "" if part is None else str(part.get_content())


@dataclass(slots=True)
class _Fault:
    kind: Literal["refuse", "hang", "drop"]
    reply: str
    times: int | None  # None: until behave()


class SmtpSink:
    """Collects mails in ``mails``; stop and start again keep the port.

    >>> sink.refuse("rcpt", "451 4.3.0 Try later", times=1)
    >>> sink.drop("end")  # takes the mail, then cuts the line without an answer
    >>> sink.behave()
    """

    def __init__(
        self,
        port: int = 0,
        *,
        login: tuple[str, str] | None = None,
        tls: ssl.SSLContext | None = None,
        implicit_tls: bool = False,
        utf8: bool = True,
        on_mail: Callable[[Mail], None] | None = None,
    ) -> None:
        self.port = port
        self.mails: list[Mail] = []
        self.n_connections = 0
        self._login = login
        self._tls = tls
        self._implicit_tls = implicit_tls
        self._utf8 = utf8  # whether it takes addresses beyond ASCII
        self._on_mail = on_mail
        self._faults: dict[Stage, _Fault] = {}
        self._arrived = threading.Condition()
        self._running: _Running | None = None

    @property
    def url(self) -> str:
        """What to put into SMTP_URL."""
        scheme = (
            "smtp"
            if self._tls is None
            else "smtps"
            if self._implicit_tls
            else "smtp+starttls"
        )
        login = "" if self._login is None else "{}:{}@".format(*self._login)
        return f"{scheme}://{login}127.0.0.1:{self.port}"

    def start(self) -> None:
        self._running = _Running(
            self._protocol, self.port, self._tls if self._implicit_tls else None
        )
        self.port = self._running.port

    def stop(self) -> None:
        if self._running is not None:
            self._running.stop()
            self._running = None

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def refuse(self, stage: Stage, reply: str, *, times: int | None = None) -> None:
        self._faults[stage] = _Fault("refuse", reply, times)

    def hang(self, stage: Stage, *, times: int | None = None) -> None:
        self._faults[stage] = _Fault("hang", "", times)

    def drop(self, stage: Stage, *, times: int | None = None) -> None:
        self._faults[stage] = _Fault("drop", "", times)

    def behave(self) -> None:
        """Forget every fault."""
        self._faults.clear()

    def wait_for(self, n: int, timeout: float = 5.0) -> list[Mail]:
        """Return the mails once there are ``n``; fails after ``timeout`` seconds."""
        with self._arrived:
            if not self._arrived.wait_for(lambda: len(self.mails) >= n, timeout):
                raise AssertionError(f"{len(self.mails)} of {n} mails arrived")
            return list(self.mails)

    # What aiosmtpd calls, on its own thread:

    async def handle_MAIL(  # noqa: N802
        self,
        server: SMTP,
        _s: Session,
        envelope: Envelope,
        sender: str,
        options: list[str],
    ) -> str:
        envelope.mail_from = sender
        envelope.mail_options.extend(options)
        return await self._strike("mail", server) or "250 OK"

    async def handle_RCPT(  # noqa: N802
        self, server: SMTP, _s: Session, envelope: Envelope, to: str, options: list[str]
    ) -> str:
        if (reply := await self._strike("rcpt", server)) is not None:
            return reply
        envelope.rcpt_tos.append(to)
        envelope.rcpt_options.extend(options)
        return "250 OK"

    async def handle_DATA(  # noqa: N802
        self, server: SMTP, _s: Session, envelope: Envelope
    ) -> str:
        fault = self._faults.get("end")
        if fault is None or fault.kind != "refuse":  # a dropped mail was taken
            assert isinstance(envelope.content, bytes)
            self._take(
                Mail(
                    envelope.mail_from or "",
                    list(envelope.rcpt_tos),
                    envelope.content,
                    list(envelope.mail_options),
                )
            )
        return await self._strike("end", server) or "250 OK"

    def _take(self, mail: Mail) -> None:
        if self._on_mail is not None:
            self._on_mail(mail)
        with self._arrived:
            self.mails.append(mail)
            self._arrived.notify_all()

    async def _strike(self, stage: Stage, server: SMTP) -> str | None:
        fault = self._faults.get(stage)
        if fault is None:
            return None
        if fault.times is not None:
            fault.times -= 1
            if fault.times <= 0:
                del self._faults[stage]
        if fault.kind == "hang":
            await asyncio.Event().wait()  # until the loop is closed
        if fault.kind == "drop":
            assert server.transport is not None
            server.transport.abort()
        return fault.reply or "421 Bye"

    def _protocol(self, loop: asyncio.AbstractEventLoop) -> SMTP:
        self.n_connections += 1
        with warnings.catch_warnings():
            # A login without TLS is what some tests are about.
            warnings.simplefilter("ignore", UserWarning)
            return self._new_protocol(loop)

    def _new_protocol(self, loop: asyncio.AbstractEventLoop) -> SMTP:
        return SMTP(
            self,
            hostname="sink.example",
            enable_SMTPUTF8=self._utf8,
            tls_context=None if self._implicit_tls else self._tls,
            require_starttls=self._tls is not None and not self._implicit_tls,
            auth_required=self._login is not None,
            auth_require_tls=self._tls is not None and not self._implicit_tls,
            authenticator=self._authenticate,
            loop=loop,
        )

    def _authenticate(
        self, _server: SMTP, _s: Session, _e: Envelope, _mechanism: str, data: object
    ) -> AuthResult:
        assert isinstance(data, LoginPassword)
        given = (data.login.decode(), data.password.decode())
        return AuthResult(success=given == self._login, handled=False)


class _Running:
    """An event loop on a thread of its own, serving until ``stop``."""

    def __init__(
        self,
        protocol: Callable[[asyncio.AbstractEventLoop], SMTP],
        port: int,
        tls: ssl.SSLContext | None,
    ) -> None:
        self._loop = asyncio.new_event_loop()
        self._protocols: weakref.WeakSet[SMTP] = weakref.WeakSet()
        self._make = protocol
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)
        self._thread.start()
        self._server = asyncio.run_coroutine_threadsafe(
            self._loop.create_server(self._accepted, "127.0.0.1", port, ssl=tls),
            self._loop,
        ).result(10)
        self.port: int = self._server.sockets[0].getsockname()[1]

    def stop(self) -> None:
        asyncio.run_coroutine_threadsafe(self._close(), self._loop).result(10)
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(10)
        self._loop.close()

    def _accepted(self) -> SMTP:
        protocol = self._make(self._loop)
        self._protocols.add(protocol)
        return protocol

    async def _close(self) -> None:
        # Who was just accepted gets a transport first: a server that is closed refuses
        # to hear of them, and their sockets would stay open.
        for listening in self._server.sockets:
            self._loop.remove_reader(listening.fileno())
        for _ in range(5):
            await asyncio.sleep(0)
        self._server.close()
        for protocol in self._protocols:
            if protocol.transport is not None:
                protocol.transport.abort()
        pending = asyncio.all_tasks() - {asyncio.current_task()}
        for task in pending:
            task.cancel()
        await asyncio.gather(*pending, return_exceptions=True)
        for _ in range(3):  # lets the transports call connection_lost and close
            await asyncio.sleep(0)
