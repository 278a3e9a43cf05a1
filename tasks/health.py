"""``/livez``, ``/readyz`` and ``/metrics`` of the worker, for whoever watches it."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Final

from tasks.meters import CONTENT_TYPE

#: Returns what keeps the worker from being ready; empty means ready.
Ailments = Callable[[], list[str]]

#: Returns everything that is counted, in the text format of Prometheus.
Metrics = Callable[[], bytes]

#: An answer is reused this long, so that probes cannot load the database.
_CACHE_SECONDS: Final = 1.0


class HealthServer:
    """A small HTTP server in a thread of its own."""

    def __init__(
        self, address: tuple[str, int], ailments: Ailments, metrics: Metrics
    ) -> None:
        """Bind the address.

        Raises:
            OSError: the port is taken.
        """
        self._ailments = ailments
        self._metrics = metrics
        self._lock = threading.Lock()
        self._answered: tuple[float, list[str]] | None = None
        self._server = ThreadingHTTPServer(address, self._handler())
        self._server.daemon_threads = True

    @property
    def port(self) -> int:
        """The port really listened on."""
        return int(self._server.server_address[1])

    def start(self) -> None:
        """Answer from now on."""
        threading.Thread(
            target=self._server.serve_forever, name="health", daemon=True
        ).start()

    def stop(self) -> None:
        """Answer no more and free the port."""
        self._server.shutdown()
        self._server.server_close()

    def _current(self) -> list[str]:
        with self._lock:
            if (
                self._answered is None
                or time.monotonic() - self._answered[0] > _CACHE_SECONDS
            ):
                self._answered = (time.monotonic(), self._ailments())
            return self._answered[1]

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        current, metrics = self._current, self._metrics

        class Handler(BaseHTTPRequestHandler):
            server_version = "carillon"
            sys_version = ""
            timeout = 5  # seconds; a silent client is let go

            def do_GET(self) -> None:
                if self.path == "/livez":
                    self._answer(200, {"status": "ok"})
                elif self.path == "/readyz":
                    ailing = current()
                    self._answer(
                        503 if ailing else 200,
                        {"status": "not ready", "reasons": ailing}
                        if ailing
                        else {"status": "ok"},
                    )
                elif self.path == "/metrics":
                    self._send(200, metrics(), CONTENT_TYPE)
                else:
                    self._answer(404, {"status": "not found"})

            def _answer(self, status: int, body: dict[str, object]) -> None:
                self._send(status, json.dumps(body).encode(), "application/json")

            def _send(self, status: int, raw: bytes, kind: str) -> None:
                self.send_response(status)
                self.send_header("Content-Type", kind)
                self.send_header("Content-Length", str(len(raw)))
                self.send_header("Cache-Control", "no-store")
                self.end_headers()
                self.wfile.write(raw)

            def log_message(self, format: str, *args: object) -> None:  # noqa: A002  # the parent's name
                """Stay silent: probes come every few seconds."""

        return Handler
