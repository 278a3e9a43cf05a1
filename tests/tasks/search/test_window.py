"""The newest rows of a table are found first, by an index."""

from __future__ import annotations

from sqlalchemy import Engine, select, text
from sqlalchemy.dialects import sqlite
from sqlalchemy.orm import Session

from tasks.models import Event
from tasks.search.window import is_among_first


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
