"""What is over and done with costs the others nothing: counted, not timed.

On SQLite, whose machine tells of its steps; PostgreSQL chooses plans by what it has
learned of the tables, so there it is measured (``make bench-data``).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from itertools import count
from typing import Any, Final

import pytest
from sqlalchemy import Engine, select, text
from sqlalchemy import event as listening

from bench.finished import archive
from bench.size import PAGES, Site, console
from bench.world import add_pending, add_tenant, event, make_bench
from tasks.automation.events import emit_events
from tasks.clock import utcnow
from tasks.db import sessions
from tasks.held import Claim, renew
from tasks.lanes import executions
from tasks.models import Execution

#: The few are more than any window of a congregation's newest rows.
FEW: Final = 12_000
MANY: Final = 36_000
GROWTH_MAX: Final = 1.3
#: SQLite tells of its steps in so many at a time.
_STEPS: Final = 50
#: Not asked: what has its rows among the older ones, and a page further down the list.
_OTHERS: Final = frozenset({"/executions/?booking=b7", "/executions/?{half}"})


class Counter:
    """How far SQLite's machine has stepped."""

    def __init__(self) -> None:
        self.n = 0

    def watch(self, connection: Any, *_rest: Any) -> None:
        connection.connection.dbapi_connection.set_progress_handler(self._step, _STEPS)

    def of(self, work: Callable[[], object]) -> int:
        work()  # what is asked once only is asked now
        self.n = 0
        work()
        return self.n

    def _step(self) -> int:
        self.n += 1
        return 0


@pytest.fixture
def counter() -> Iterator[Counter]:
    made = Counter()
    listening.listen(Engine, "before_cursor_execute", made.watch)
    yield made
    listening.remove(Engine, "before_cursor_execute", made.watch)


@contextmanager
def sized(engine: Engine) -> Iterator[tuple[Site, Callable[[], None]]]:
    """Return an installation with a month of finished work, and what adds two more."""
    with sessions(engine).begin() as session:
        world = add_tenant(session, "bench")
    kept = archive(engine, world, MANY)
    try:
        kept.n = MANY - FEW  # the newest come first: a day has as many then as later
        kept.grow(MANY)
        with sessions(engine).begin() as session:
            add_pending(session, world, range(300), utcnow())
        with console(engine) as client:
            kept.n = 0
            yield Site(engine, world, client, ""), partial(kept.grow, MANY - FEW)
    finally:
        with engine.begin() as connection:
            for table in ("executions", "events", "scheduled_jobs"):
                connection.execute(text(f"DROP TABLE bench_{table}"))


def _works(engine: Engine, site: Site) -> dict[str, Callable[[], object]]:
    """Return what lanes and producers do all day, a few rows at a time."""
    begin, bench, numbers = sessions(engine).begin, make_bench(engine), count(1_000)

    def report() -> None:
        with begin() as session:
            events = [event(site.world, next(numbers)) for _ in range(3)]
            assert all(each.success for each in emit_events(session, events))

    def do() -> None:
        assert len(executions.sweep(bench, 3).succeeded) == 3

    def hold() -> None:
        with begin() as session:
            some = select(Execution.id, Execution.attempt, Execution.congregation_id)
            claims = [Claim(*row) for row in session.execute(some.limit(3))]
            renew(session, claims, until=utcnow())

    return {"claim": site.claim, "report": report, "do": do, "hold": hold}


def test_finished_work_makes_no_work_and_no_page_dearer(
    sqlite_engine: Engine, counter: Counter
) -> None:
    with sized(sqlite_engine) as (site, grow):
        asked = _works(sqlite_engine, site)
        asked |= {
            page: partial(site.get, page) for page in PAGES if page not in _OTHERS
        }
        before = {name: counter.of(ask) for name, ask in asked.items()}
        grow()
        after = {name: counter.of(ask) for name, ask in asked.items()}
    assert all(before.values())
    dearer = {
        name: (n, after[name])
        for name, n in before.items()
        if after[name] > GROWTH_MAX * n
    }
    assert dearer == {}
