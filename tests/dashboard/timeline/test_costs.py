"""What a story costs does not depend on how much happened."""

from __future__ import annotations

import sqlite3
from typing import Any
from uuid import UUID

import pytest
from sqlalchemy import Engine
from sqlalchemy.event import listen

from dashboard.congregations.places import Place
from dashboard.congregations.records import Names
from dashboard.congregations.timeline import timeline
from tasks.automation.entities import Kind
from tasks.db import Begin, CongregationSession, set_scope
from tasks.models import Rule, new_id
from tests.dashboard.timeline.conftest import MINUTE, attempt, event, story
from tests.support import factories
from tests.support.factories import NOW
from tests.support.statements import statements


def test_the_statements_do_not_grow_with_what_happened(
    begin: Begin, house: UUID
) -> None:
    def cost(kind: Kind, id_: str) -> int:
        with begin() as session, statements() as seen:
            story(session, house, kind, id_)
        return len(seen)

    records: tuple[tuple[Kind, str], ...] = (
        ("booking", "b1"),
        ("episode", "e1"),
        ("guest", "g1"),
    )
    few = [cost(*each) for each in records]
    with begin() as session:
        rule = session.query(Rule).filter_by(name="Welcome").one()
        for n in range(30):
            made = factories.execution(session, rule, state="failed")
            attempt(session, made, 1, NOW)
            event(session, house, NOW)
            factories.job(session, rule, due_at=NOW + n * MINUTE)
            factories.booking(
                session, house, id=f"x{n}", episode_id="e1", guest_id="g1"
            )
    assert [cost(*each) for each in records] == few


@pytest.mark.parametrize("kind", ["booking", "episode", "guest"])
def test_no_statement_walks_through_a_whole_congregation(
    sqlite_engine: Engine, kind: Kind
) -> None:
    # SQLite shows its plans without knowing any numbers; it errs where others do, too.
    of = new_id()
    names = Names(of, kind, "x", () if kind == "booking" else ("b1", "b2"))
    plans: list[str] = []

    def explain(
        _: object, cursor: sqlite3.Cursor, sql: str, values: Any, *_rest: object
    ) -> None:
        if sql.startswith("SELECT"):
            rows = cursor.connection.execute(f"EXPLAIN QUERY PLAN {sql}", values)
            plans.extend(row[3] for row in rows)

    listen(sqlite_engine, "before_cursor_execute", explain)
    with CongregationSession(sqlite_engine) as session:
        set_scope(session, frozenset({of}))
        timeline(session, names, str(Place(NOW, 0, of)), 50)
        timeline(session, names, None, 50)
    tables = ("events", "executions", "scheduled_jobs", "attempts", "audit_entries")
    steps = [plan for plan in plans if set(plan.split()) & set(tables)]
    assert len(steps) > 10
    for plan in steps:
        assert plan.startswith("SEARCH"), plan
        assert (
            "_id=? AND" in plan
            or "(id=?" in plan
            or "event_id=?" in plan
            or ("execution_id=?" in plan or "subject_kind=? AND subject_id=?" in plan)
        ), plan
