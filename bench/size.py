"""Size: what finished executions cost those who look for the others, and every page."""

from __future__ import annotations

import re
import statistics
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Final

from flask.testing import FlaskClient
from sqlalchemy import Engine, select
from sqlalchemy.engine import URL

from bench import report, servers
from bench.finished import archive
from bench.ours import environment
from bench.settings import SIZES, say
from bench.world import World, add_pending, make_bench, make_world
from dashboard.app import create_app
from dashboard.extensions import db
from dashboard.operators.accounts import create_operator
from tasks.clock import utcnow
from tasks.config import Config
from tasks.db import make_engine, sessions
from tasks.executing.claiming import lease, take
from tasks.models import Execution

#: Repetitions of each measurement; the slowest but one stands for the p99.
CLAIM_REPEATS: Final = 100
PAGE_REPEATS: Final = 40
EMAIL: Final = "bench@example.org"
PASSWORD: Final = "three bells at noon"  # noqa: S105  # of a database that is dropped
#: Every list of the console, and the filters that people use.
PAGES: Final = (
    "/",
    "/executions/",
    "/executions/?state=failed",
    "/executions/?state=succeeded",
    "/executions/?within=bench",
    "/executions/?within=bench&state=failed",
    "/executions/?rule={rule}",
    "/executions/?booking=b7",
    "/executions/?q=guest7",
    "/executions/?{half}",
    "/scheduled/",
    "/scheduled/?state=cancelled",
    "/events/",
    "/rules/",
    "/rules/{rule}",
    "/lanes/",
    "/lanes/executions",
    "/congregations/",
    "/audit/",
)
#: Median and p99, in ms.
Times = tuple[float, float]


@dataclass(frozen=True, slots=True)
class Site:
    """An installation with so many finished executions, and its console."""

    engine: Engine
    world: World
    client: FlaskClient
    half: str  # the query of the page in the middle of all executions

    def get(self, page: str) -> None:
        """Read a page.

        Raises:
            RuntimeError: it does not answer with 200.
        """
        path = page.format(rule=self.world.rule_id, half=self.half)
        status = self.client.get(path).status_code
        if status != 200:
            raise RuntimeError(f"{path} answers {status}")

    def claim(self) -> None:
        """Claim 200 executions, and think better of it."""
        with sessions(self.engine)() as session:
            own = make_bench(self.engine)
            lease(session, own, take(session, own, limit=200))
            session.rollback()


def _in_turn(works: Sequence[Callable[[], object]], repeats: int) -> list[Times]:
    """Do every work once, then again: what disturbs one disturbs all."""
    taken: list[list[float]] = [[] for _ in works]
    for number in range(repeats + 1):
        for work, times in zip(works, taken, strict=True):
            started = time.perf_counter()
            work()
            if number:  # before that: connections, statements, templates
                times.append((time.perf_counter() - started) * 1_000)
    return [(statistics.median(times), sorted(times)[-2]) for times in taken]


@contextmanager
def console(engine: Engine, folder: Path | None = None) -> Iterator[FlaskClient]:
    """Return a browser in which an operator of all congregations is logged in.

    Args:
        engine: the installation's database.
        folder: where it keeps its files; None: it has none.
    """
    with sessions(engine).begin() as session:
        create_operator(session, EMAIL, PASSWORD, "admin")
    with tempfile.TemporaryDirectory(prefix="carillon-bench-") as empty:
        environ = environment(engine.url, None, folder or Path(empty))
        app = create_app(
            Config.from_environ(environ | {"BASE_URL": "http://localhost"})
        )
        client = app.test_client()
        form = {"email": EMAIL, "password": PASSWORD}
        form["csrf_token"] = csrf_token(client.get("/login").text)
        if client.post("/login", data=form).status_code != 302:
            raise RuntimeError("The operator could not log in.")
        yield client
        with app.app_context():
            db.session.remove()
            db.engine.dispose()


def csrf_token(page: str) -> str:
    """Return the token that a page's forms carry."""
    found = re.search(r'name="csrf_token" value="([^"]+)"', page)
    if found is None:
        raise RuntimeError("The page has no form.")
    return found[1]


def _half(client: FlaskClient, engine: Engine) -> str:
    """Return the query of the page in the middle of the list of all executions."""
    ends = [Execution.created_at.asc(), Execution.created_at.desc()]
    with sessions(engine)() as session:
        first, last = (
            session.scalars(select(Execution.created_at).order_by(end).limit(1)).one()
            for end in ends
        )
    middle = first + (last - first) / 2
    page = client.get("/executions/", query_string={"until": middle.isoformat()}).text
    cursors = re.findall(r"cursor=([\w-]+)", page)
    return f"cursor={cursors[-1]}" if cursors else ""


@contextmanager
def _site(url: URL, n: int) -> Iterator[Site]:
    engine = make_engine(url)
    world = make_world(engine)
    started = time.perf_counter()
    archive(engine, world, n).grow(n)
    say(f"  {n:,} finished in {time.perf_counter() - started:.0f} s")
    with console(engine) as client:
        half = _half(client, engine)
        with sessions(engine).begin() as session:
            add_pending(session, world, range(1_000), utcnow())
        yield Site(engine, world, client, half)
    engine.dispose()


def measure() -> str:
    """Return the table of both databases and all sizes."""
    lines = []
    for name in ("PostgreSQL", "SQLite"):
        say(name)
        with ExitStack() as stack:
            urls = servers.several(stack, name, len(SIZES))
            sites = [
                stack.enter_context(_site(url, n))
                for url, n in zip(urls, SIZES, strict=True)
            ]
            claims = _in_turn([site.claim for site in sites], CLAIM_REPEATS)
            lines.append(_line(name, "claim of 200", claims))
            for page in PAGES:
                gets = [partial(site.get, page) for site in sites]
                lines.append(_line(name, page, _in_turn(gets, PAGE_REPEATS)))
    sizes = [f"{n:,}" for n in SIZES]
    head = ("Database", "What", *sizes, "growth of median", "of p99")
    told = f"Median / p99 in ms, of {CLAIM_REPEATS} claims and {PAGE_REPEATS} requests."
    return f"{told}\n\n" + report.table(head, lines)


def _line(name: str, what: str, times: list[Times]) -> tuple[str, ...]:
    cells = [f"{p50:.1f} / {p99:.1f}" for p50, p99 in times]
    growth = [many / few for few, many in zip(times[0], times[-1], strict=True)]
    line = (name, f"`{what}`", *cells, f"**{growth[0]:.2f}**", f"{growth[1]:.2f}")
    say("  " + " ".join(line))
    return line
