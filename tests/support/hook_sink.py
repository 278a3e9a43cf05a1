"""A webhook receiver on the loopback interface that answers as told."""

from __future__ import annotations

import json
import socket
import ssl
import struct
import sys
import threading
import time
from collections import defaultdict
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Literal, Self

#: How a reply misbehaves; "drop" cuts the line after the request was read.
Kind = Literal["answer", "hang", "drip_headers", "drip_body", "drop", "reset", "huge"]
_DRIP_EVERY = 0.1  # seconds between two bytes


@dataclass(frozen=True, slots=True)
class Hook:
    """One request as it came over the wire."""

    method: str
    path: str
    headers: dict[str, str]  # names in lower case
    body: bytes
    at: float = field(default_factory=time.time)  # seconds since the epoch

    @property
    def json(self) -> Any:  # whatever was posted
        return json.loads(self.body)


@dataclass(frozen=True, slots=True)
class Reply:
    """What the receiver answers."""

    status: int = 200
    body: bytes = b""
    headers: Mapping[str, str] = field(default_factory=dict)
    delay: float = 0.0  # seconds before the answer
    kind: Kind = "answer"


class HookSink:
    """Collects requests in ``requests``; stop and start again keep the port.

    >>> sink.answer("/hook", Reply(503), Reply(200))  # first 503, then 200 for ever
    >>> sink.answer("/slow", Reply(kind="drip_body"))
    """

    def __init__(
        self,
        port: int = 0,
        *,
        tls: ssl.SSLContext | None = None,
        on_hook: Callable[[Hook], None] | None = None,
    ) -> None:
        self.port = port
        self.requests: list[Hook] = []
        self.n_connections = 0
        self._tls = tls
        self._on_hook = on_hook
        self._replies: defaultdict[str, list[Reply]] = defaultdict(list)
        self._arrived = threading.Condition()
        self.stopping = threading.Event()
        self._server: ThreadingHTTPServer | None = None
        self._thread: threading.Thread | None = None

    def url(self, path: str = "/hook", host: str = "127.0.0.1") -> str:
        """Return the address of ``path``."""
        scheme = "http" if self._tls is None else "https"
        return f"{scheme}://{host}:{self.port}{path}"

    def answer(self, path: str, *replies: Reply) -> None:
        """Answer requests to ``path`` one after the other; the last reply repeats."""
        self._replies[path] = list(replies)

    def wait_for(
        self, n: int, path: str | None = None, timeout: float = 5.0
    ) -> list[Hook]:
        """Return the requests once there are ``n``; fails after ``timeout`` seconds."""

        def arrived() -> list[Hook]:
            return [hook for hook in self.requests if path in (None, hook.path)]

        with self._arrived:
            if not self._arrived.wait_for(lambda: len(arrived()) >= n, timeout):
                raise AssertionError(f"{len(arrived())} of {n} requests arrived")
            return arrived()

    def start(self) -> None:
        self.stopping.clear()
        server = _Server(("127.0.0.1", self.port), _Handler)
        server.sink = self
        if self._tls is not None:
            server.socket = self._tls.wrap_socket(
                server.socket, server_side=True, do_handshake_on_connect=False
            )
        self.port = server.server_address[1]
        self._server = server
        self._thread = threading.Thread(target=server.serve_forever, args=(0.02,))
        self._thread.start()

    def stop(self) -> None:
        if self._server is None or self._thread is None:
            return
        self.stopping.set()
        self._server.shutdown()
        self._thread.join(10)
        self._server.server_close()
        self._server = None

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def take(self, hook: Hook) -> Reply:
        """Keep a request and say what to answer; called by the server."""
        if self._on_hook is not None:
            self._on_hook(hook)
        with self._arrived:
            self.requests.append(hook)
            self._arrived.notify_all()
            replies = self._replies[hook.path]
            if len(replies) > 1:
                return replies.pop(0)
            return replies[0] if replies else Reply()


class _Server(ThreadingHTTPServer):
    daemon_threads = False  # so that closing waits for every answer
    sink: HookSink

    def handle_error(self, request: object, client_address: object) -> None:
        if not isinstance(sys.exception(), OSError):  # a caller that hung up is fine
            super().handle_error(request, client_address)  # type: ignore[arg-type]


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    timeout = 20  # seconds; a caller that says nothing does not hold a thread
    server: _Server

    def setup(self) -> None:
        self.server.sink.n_connections += 1
        super().setup()

    def do_POST(self) -> None:
        self.close_connection = True
        body = self.rfile.read(int(self.headers.get("Content-Length", "0")))
        headers = {name.lower(): value for name, value in self.headers.items()}
        reply = self.server.sink.take(Hook(self.command, self.path, headers, body))
        self.server.sink.stopping.wait(reply.delay)
        getattr(self, f"_{reply.kind}")(reply)

    do_GET = do_POST  # noqa: N815  # the base class looks for this name

    def _answer(self, reply: Reply) -> None:
        self.send_response(reply.status)
        for name, value in reply.headers.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(reply.body)))
        self.send_header("Connection", "close")
        self.end_headers()
        self.wfile.write(reply.body)

    def _hang(self, reply: Reply) -> None:
        self.server.sink.stopping.wait()

    def _drop(self, reply: Reply) -> None:
        """Say nothing; the connection closes."""

    def _reset(self, reply: Reply) -> None:
        """Say nothing; the connection is cut, not closed."""
        at_once = struct.pack("ii", 1, 0)
        self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, at_once)
        for each in (self.rfile, self.wfile, self.connection):
            each.close()

    def _drip_headers(self, reply: Reply) -> None:
        self.wfile.write(f"HTTP/1.1 {reply.status} OK\r\nX-Drip: ".encode())
        self._drip()

    def _drip_body(self, reply: Reply) -> None:
        self.send_response(reply.status)
        self.send_header("Content-Length", "1000000")
        self.end_headers()
        self._drip()

    def _huge(self, reply: Reply) -> None:
        self.send_response(reply.status)
        self.send_header("Content-Length", str(1 << 30))
        self.end_headers()
        while not self.server.sink.stopping.is_set():
            self.wfile.write(b"x" * 65_536)

    def _drip(self) -> None:
        while not self.server.sink.stopping.wait(_DRIP_EVERY):
            self.wfile.write(b"x")

    def log_message(self, *args: object) -> None:
        """Keep quiet."""
