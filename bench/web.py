"""The web server: requests a second and how long the slowest of them wait.

``carillon web`` with two processes, and a client of our own on the same machine: a few
connections that are kept open, each with one request under way, for a bounded time.
"""

from __future__ import annotations

import http.client
import json
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Final
from urllib.parse import urlencode

from bench import report, servers
from bench.crew import Crew
from bench.finished import archive
from bench.ours import environment
from bench.settings import ROUNDS, say
from bench.size import EMAIL, PASSWORD, csrf_token
from bench.world import N_BOOKINGS, make_world
from dashboard.operators.accounts import create_operator
from tasks.db import make_engine, sessions
from tasks.models.base import new_id
from tasks.operations.audit import SYSTEM
from tasks.operations.tokens import SCOPES, create_token
from tests.support.servers import free_port

#: Server processes, and connections that each have one request under way.
PROCESSES: Final = 2
CONNECTIONS: Final = 8
#: How long each round lasts, in seconds, and the most requests of one connection.
SECONDS: Final = 5.0
REQUESTS_MAX: Final = 5_000
#: Finished executions that the list is made from.
N_ROWS: Final = 10_000
_START_SECONDS: Final = 60.0
_HEAD: Final = ("Database", "What", "requests/s, median (range)", "p50", "p99")
#: Method, path, body, headers.
Request = tuple[str, str, str | None, dict[str, str]]


@dataclass(slots=True)
class Load:
    """What a round has brought."""

    rates: list[float] = field(default_factory=list)
    taken: list[float] = field(default_factory=list)  # ms


class Client:
    """One connection that is kept open."""

    def __init__(self, port: int) -> None:
        self._connection = http.client.HTTPConnection("127.0.0.1", port, timeout=30)

    def ask(self, request: Request) -> tuple[int, str, http.client.HTTPMessage]:
        """Return status, body and headers of the answer."""
        method, path, body, headers = request
        self._connection.request(method, path, body, headers)
        answer = self._connection.getresponse()
        return answer.status, answer.read().decode(), answer.headers

    def close(self) -> None:
        """Hang up."""
        self._connection.close()


def _log_in(port: int) -> str:
    """Return the cookie of an operator who has logged in."""
    client = Client(port)
    status, page, headers = client.ask(("GET", "/login", None, {}))
    cookie = str(headers["Set-Cookie"]).partition(";")[0]
    form = {"email": EMAIL, "password": PASSWORD, "csrf_token": csrf_token(page)}
    kind = {"Content-Type": "application/x-www-form-urlencoded", "Cookie": cookie}
    status, page, headers = client.ask(("POST", "/login", urlencode(form), kind))
    client.close()
    if status != 302:
        raise RuntimeError(f"The login answers {status}: {page[:500]}")
    return str(headers["Set-Cookie"]).partition(";")[0]


def _round(port: int, make: Callable[[], Request], wanted: int, load: Load) -> None:
    """Send requests over all connections until the time is over."""
    taken: list[float] = []
    failures: list[str] = []
    deadline = time.perf_counter() + SECONDS

    def work() -> None:
        client = Client(port)
        for _ in range(REQUESTS_MAX):
            started = time.perf_counter()
            if started > deadline or failures:
                break
            status, body, _ = client.ask(make())
            taken.append((time.perf_counter() - started) * 1_000)
            if status != wanted:
                failures.append(f"{status}: {body[:300]}")
        client.close()

    threads = [threading.Thread(target=work) for _ in range(CONNECTIONS)]
    started = time.perf_counter()
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if failures:
        raise RuntimeError(failures[0])
    load.rates.append(len(taken) / (time.perf_counter() - started))
    load.taken += taken


def _same(request: Request) -> Request:
    return request


def _event(token: str) -> Request:
    body = {
        "trigger_type": "booking.confirmed",
        "podcast_id": "show",
        "booking_id": f"b{time.monotonic_ns() % N_BOOKINGS}",
        "event_id": new_id().hex,
    }
    kind = "application/json"
    headers = {"Content-Type": kind, "Authorization": f"Bearer {token}"}
    return ("POST", "/api/v1/events", json.dumps(body), headers)


@contextmanager
def _server(stack: ExitStack, database: str) -> Iterator[tuple[int, str]]:
    """Run the web server; yields its port and an API token."""
    url = servers.empty(stack, database)
    engine = make_engine(url)
    world = make_world(engine)
    archive(engine, world, N_ROWS).grow(N_ROWS)
    with sessions(engine).begin() as session:
        create_operator(session, EMAIL, PASSWORD, "admin")
        _, token = create_token(
            session, world.congregation_id, "bench", SCOPES, None, SYSTEM
        )
    engine.dispose()
    folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
    port = free_port()
    environ = environment(url, stack.enter_context(servers.redis_server()), folder)
    environ |= {"PORT": str(port), "WEB_WORKERS": str(PROCESSES)}
    command = [sys.executable, "-m", "dashboard.cli", "web"]
    with Crew([command], environ, folder / "log") as crew:
        _wait(port, crew)
        yield port, token


def _wait(port: int, crew: Crew) -> None:
    deadline = time.monotonic() + _START_SECONDS
    while True:
        crew.check()
        try:
            if Client(port).ask(("GET", "/healthz", None, {}))[0] == 200:
                return
        except OSError:
            if time.monotonic() > deadline:
                raise
        time.sleep(0.1)


def measure() -> str:
    """Return the table of both databases."""
    lines = []
    for database in ("PostgreSQL", "SQLite"):
        with ExitStack() as stack, _server(stack, database) as (port, token):
            page: Request = ("GET", "/executions/", None, {"Cookie": _log_in(port)})
            makers: dict[str, Callable[[], Request]] = {
                "GET /executions/": partial(_same, page),
                "POST /api/v1/events": partial(_event, token),
            }
            wanted = {"GET /executions/": 200, "POST /api/v1/events": 202}
            loads = {what: Load() for what in makers}
            for _ in range(ROUNDS):
                for what, make in makers.items():
                    _round(port, make, wanted[what], loads[what])
            lines += [_line(database, what, load) for what, load in loads.items()]
    told = (
        f"`carillon web` with {PROCESSES} processes, {CONNECTIONS} connections, "
        f"{N_ROWS:,} executions in the list; the client takes its share of the cores."
    )
    return f"{told}\n\n" + report.table(_HEAD, lines)


def _line(database: str, what: str, load: Load) -> tuple[str, ...]:
    p50, p99, _ = report.quantiles(load.taken)
    line = (database, what, report.spread(load.rates), f"{p50:.1f} ms", f"{p99:.1f} ms")
    say("  " + " ".join(line))
    return line
