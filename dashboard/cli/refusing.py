"""What the web server refuses by itself: told in the one shape of the API.

It never comes to the console, and mostly not even to an address.  Browsers send no such
requests; programs get what they can read.
"""

from __future__ import annotations

import json
from contextlib import suppress
from http import HTTPStatus
from typing import Any, Final

from gunicorn import util
from gunicorn.http.errors import NoMoreData
from gunicorn.workers.gthread import ThreadWorker

#: status -> (code, sentence)
_TOLD: Final = {
    414: ("address_too_long", "The address is too long."),
    417: ("expectation_failed", "Of Expect only 100-continue is known here."),
    431: ("headers_too_large", "The headers are too many, or too long."),
    500: ("internal", "It is our fault, not yours. Try again in a minute."),
}
_NO_HTTP: Final = ("bad_request", "This is no proper HTTP, so it was not read.")


class _Connection:
    """A client's connection, but for what subclasses do otherwise."""

    def __init__(self, client: Any) -> None:  # noqa: ANN401  # a socket, or like one
        self._client = client

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401  # whatever it has
        return getattr(self._client, name)


class _Heard(_Connection):
    """Keeps what would be sent."""

    sent = b""

    def sendall(self, data: bytes) -> None:
        self.sent += data


class _Patient(_Connection):
    """Waits for so long for the next bytes, where gunicorn would wait for ever."""

    def __init__(self, client: Any, seconds: float) -> None:  # noqa: ANN401  # as above
        super().__init__(client)
        self._seconds = seconds

    def setblocking(self, flag: bool) -> None:
        self._client.settimeout(self._seconds if flag else 0.0)

    def recv(self, size: int) -> bytes:
        try:
            found: bytes = self._client.recv(size)
        except TimeoutError as error:
            raise NoMoreData from error  # as if the client had gone
        return found


class Worker(ThreadWorker):  # type: ignore[misc]  # gunicorn has no types
    """Gunicorn's worker, which waits for nobody for ever, and refuses in JSON."""

    #: How long the next bytes of a request may take, in seconds.  Each request that is
    #: begun has a thread, and there are few.
    patience = 30.0

    def handle(self, conn: Any) -> Any:  # noqa: ANN401  # gunicorn has no types
        """Answer a connection's next request, unless its client falls silent."""
        if not isinstance(conn.sock, _Patient):
            conn.sock = _Patient(conn.sock, self.patience)
        return super().handle(conn)

    def handle_error(self, req: Any, client: Any, addr: Any, exc: Any) -> None:  # noqa: ANN401  # gunicorn has no types
        """Answer a request that could not be read, or was not answered."""
        heard = _Heard(client)
        super().handle_error(req, heard, addr, exc)
        if heard.sent:
            with suppress(OSError):  # who sent it need not wait for an answer
                util.write_nonblock(client, _answer(int(heard.sent.split()[1])))


def _answer(status: int) -> bytes:
    code, sentence = _TOLD.get(status, _NO_HTTP)
    error = {"code": code, "message": sentence}
    body = json.dumps({"error": error}).encode() + b"\n"
    head = (
        f"HTTP/1.1 {status} {HTTPStatus(status).phrase}\r\n"
        "Connection: close\r\n"
        "Content-Type: application/json\r\n"
        f"Content-Length: {len(body)}\r\n\r\n"
    )
    return head.encode() + body
