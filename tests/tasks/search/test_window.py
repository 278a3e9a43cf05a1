"""The newest rows of a table are found first, by an index."""

from __future__ import annotations

from datetime import timedelta

import pytest
from sqlalchemy import Engine, select, text
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.orm import Session

from tasks.db import Begin
from tasks.models import (
    Booking,
    Event,
    Execution,
    JobState,
    ScheduledJob,
    new_id,
)
from tasks.operations import matching
from tasks.operations.matching import Matching, narrow, newest
from tasks.search.window import Rows, is_among_first
from tests.support import factories
from tests.support.factories import NOW


def test_sqlite_looks_at_the_rows_of_the_window_and_at_no_others(
    sqlite_engine: Engine,
) -> None:
    newest = select(Event.id).order_by(Event.created_at.desc()).limit(5)
    wanted = select(Event.id).where(is_among_first(Event.id, newest), Event.depth == 7)
    asked = wanted.compile(
        dialect=sqlite.dialect(), compile_kwargs={"literal_binds": True}
    )
    with Session(sqlite_engine) as session:
        plan = session.execute(text(f"EXPLAIN QUERY PLAN {asked}")).all()
    assert plan[0].detail.startswith("SEARCH events USING"), plan


def test_only_names_that_are_asked_for_are_looked_up() -> None:
    rows = Rows(Execution)
    wanted = select(rows.id).where(rows.state == "failed")
    some = newest(Execution, Matching(), 5)
    assert "bookings" not in str(rows.of(wanted, some))
    wanted = wanted.where(
        rows.name(Booking, Booking.guest_name, "booking_id") == "Anna"
    )
    assert "LEFT OUTER JOIN bookings" in str(rows.of(wanted, some))
    with pytest.raises(AttributeError, match="no column colour"):
        _ = rows.colour


def test_of_one_congregation_postgresql_takes_the_ids_first() -> None:
    some = newest(Execution, Matching(congregation_id=new_id()), 5)
    assert "= ANY(ARRAY(SELECT" in str(some.compile(dialect=postgresql.dialect()))
    assert "SELECT executions.id " not in str(some.compile(dialect=sqlite.dialect()))


@pytest.mark.parametrize("ids_first", [False, True])
def test_both_ways_find_the_newest(begin: Begin, ids_first: bool) -> None:
    with begin() as session:
        rule = factories.rule(session, factories.congregation(session))
        made = [factories.execution(session, rule) for _ in range(4)]
        session.flush()
        ids = sorted((row.id for row in made), reverse=True)
        found = session.scalars(newest(Execution, Matching(), 3, ids_first=ids_first))
        assert [row.id for row in found] == ids[:3]


def test_a_search_of_what_waits_looks_at_what_comes_soonest(
    begin: Begin, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(matching, "SEARCH_WINDOW", 1)
    with begin() as session:
        here = factories.congregation(session)
        rule = factories.rule(session, here)
        jobs = [
            factories.job(session, rule, due_at=at, run_at=at)
            for at in (NOW, NOW + timedelta(days=1))
        ]
        session.flush()
        for state, expected in ((JobState.PENDING, jobs[0]), (None, jobs[1])):
            wanted = Matching(state=state, query="-guest:nobody")
            statement = narrow(select(ScheduledJob.id), ScheduledJob, wanted)
            assert session.scalars(statement).all() == [expected.id], state
