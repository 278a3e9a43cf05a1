"""Rows looked up by several columns at once: the right ones, and by an index."""

from __future__ import annotations

import re
from pathlib import Path
from uuid import UUID

import pytest
from sqlalchemy import Engine, Select, select, text
from sqlalchemy.orm import Session

import tasks
from tasks.lookups import among_keys
from tasks.models import Booking, Execution, OutreachTally
from tests.support import factories
from tests.support.factories import NOW

_ODD = ['quote"d', "Zoë", "a,b", "[1]", "0", "\\"]
#: Lists of pairs in a statement; what is meant for PostgreSQL says so.
_PAIRS = re.compile(r"tuple_\([^()]*(?:\([^()]*\)[^()]*)*\)\.in_\((?!select)")


def _wanted(session: Session, of: UUID, *ids: str) -> Select[str]:
    keys = [(of, id_) for id_ in ids]
    named = (Booking.congregation_id, Booking.id)
    return select(Booking.id).where(among_keys(session, named, keys))


def test_what_is_named_is_found_and_nothing_else(engine: Engine) -> None:
    with Session(engine) as session:
        of, others = (factories.congregation(session, slug) for slug in ("a", "b"))
        for id_ in _ODD:
            factories.booking(session, of, id=id_)
            factories.booking(session, others, id=id_)
        factories.booking(session, of, id="unasked")
        found = session.scalars(_wanted(session, of, *_ODD, "nobody")).all()
        assert sorted(found) == sorted(_ODD)
        assert session.scalars(_wanted(session, of)).all() == []


def test_days_and_numbers_are_found_as_they_are_stored(engine: Engine) -> None:
    with Session(engine) as session:
        of = factories.congregation(session)
        rule = factories.rule(session, of)
        row = factories.execution(session, rule)
        session.add(
            OutreachTally(congregation_id=of, subject_id=row.id, day=NOW.date(), n=3)
        )
        session.flush()
        days = (OutreachTally.subject_id, OutreachTally.day)
        found = among_keys(session, days, [(row.id, NOW.date()), (of, NOW.date())])
        assert session.scalar(select(OutreachTally.n).where(found)) == 3
        attempts = (Execution.id, Execution.attempt)
        for attempt, n in ((row.attempt, 1), (row.attempt + 1, 0)):
            mine = among_keys(session, attempts, [(row.id, attempt), (of, 0)])
            assert len(session.scalars(select(Execution.id).where(mine)).all()) == n


@pytest.mark.parametrize("n", [1, 2, 500])
def test_sqlite_looks_each_up_in_the_index(sqlite_engine: Engine, n: int) -> None:
    with Session(sqlite_engine) as session:
        wanted = _wanted(session, UUID(int=1), *(f"b{each}" for each in range(n)))
        asked = wanted.compile(sqlite_engine, compile_kwargs={"literal_binds": True})
        plan = session.execute(text(f"EXPLAIN QUERY PLAN {asked}".replace(":", r"\:")))
        assert plan.all()[0].detail.startswith("SEARCH bookings USING")


def test_no_other_statement_has_a_list_of_pairs() -> None:
    """SQLite would read the whole table, which shows only once it is large."""
    root = Path(tasks.__file__).parents[1]
    found = {
        str(path.relative_to(root)): _PAIRS.findall(path.read_text())
        for folder in ("tasks", "dashboard")
        for path in (root / folder).rglob("*.py")
    }
    there = {name: len(each) for name, each in found.items() if each}
    assert there == {"tasks/lookups.py": 1, "tasks/automation/evaluating.py": 1}
