"""Bulk updates: each row its own values, on both databases alike."""

from __future__ import annotations

from datetime import timedelta

import pytest
from sqlalchemy import Engine, func, select
from sqlalchemy.orm import Session, sessionmaker

from tasks.automation.records import is_one_of, pairs_of
from tasks.bulk import BulkUpdate, among, among_rows, insert_many, is_postgres
from tasks.models import Booking, Execution, ExecutionMessage, ExecutionState
from tests.support import factories
from tests.support.factories import NOW

_update = BulkUpdate(
    Execution.metadata.tables["executions"],
    keys=("id", "attempt"),
    columns=("state", "error", "run_at", "failures"),
    merge={
        "run_at": lambda new, old: func.coalesce(new, old),
        "failures": lambda new, old: old + new,
    },
    constant={"worker": None},
)


def test_each_row_gets_its_own_values_where_all_keys_match(
    make_session: sessionmaker[Session],
) -> None:
    later = NOW + timedelta(hours=1)
    with make_session.begin() as session:
        rule = factories.rule(session, factories.congregation(session))
        a, b, other = (
            factories.execution(session, rule, attempt=1, failures=2, worker="w").id
            for _ in range(3)
        )
    common = {"attempt": 1, "failures": 1, "error": None, "run_at": None}
    pending, failed = ExecutionState.PENDING, ExecutionState.FAILED
    with make_session.begin() as session:
        _update(
            session,
            [
                common | {"id": a, "state": pending, "run_at": later},
                common | {"id": b, "state": failed, "error": "ä 'x' {\"y\"}, \\"},
                common | {"id": other, "attempt": 2, "state": failed},
            ],
        )
        _update(session, [])
    with make_session() as session:
        rows = {
            row.id: row
            for row in session.scalars(
                select(Execution).where(among(session, Execution.id, [a, b, other]))
            )
        }
    assert (rows[a].state, rows[a].run_at, rows[a].failures) == (pending, later, 3)
    assert (rows[b].state, rows[b].run_at) == (failed, NOW)
    assert rows[b].error == "ä 'x' {\"y\"}, \\"
    assert rows[b].worker is None
    assert (rows[other].failures, rows[other].worker) == (2, "w")


@pytest.mark.parametrize("is_uniform", [True, False])
def test_many_rows_are_inserted_as_they_are(
    make_session: sessionmaker[Session],
    is_uniform: bool,
) -> None:
    table = ExecutionMessage.metadata.tables[ExecutionMessage.__tablename__]
    told = {"text": "ä 'x' \"y\" {} \\ \n", "n": [1, None, {"a": True}]}
    with make_session.begin() as session:
        rule = factories.rule(session, factories.congregation(session))
        rows = [
            {
                "congregation_id": rule.congregation_id,
                "execution_id": factories.execution(session, rule).id,
                "message": told if is_uniform else told | {"i": i},
                "composed_at": NOW + timedelta(seconds=0 if is_uniform else i),
            }
            for i in range(5)
        ]
        insert_many(session, table, rows)
        insert_many(session, table, [])
        found = session.execute(select(table).order_by(table.c.execution_id))
        assert [dict(row._mapping) for row in found] == rows


def test_pairs_are_found_together_only(make_session: sessionmaker[Session]) -> None:
    with make_session.begin() as session:
        one = factories.congregation(session)
        two = factories.congregation(session, slug="two")
        for tenant, name in ((one, "b1"), (one, "b2"), (two, "b2")):
            factories.booking(session, tenant, id=name)
        wanted = [(one, "b1"), (two, "b2"), (two, "b1")]
        meant = is_one_of(Booking, takes_arrays=is_postgres(session))
        found = session.execute(
            select(Booking.congregation_id, Booking.id).where(meant),
            pairs_of(session, wanted),
        )
        assert {tuple(row) for row in found} == {(one, "b1"), (two, "b2")}


def test_rows_are_found_by_many_values_as_by_few(engine: Engine) -> None:
    with Session(engine) as session:
        rule = factories.rule(session, factories.congregation(session))
        ids = [factories.execution(session, rule).id for _ in range(3)]
        for wanted in ([], ids[:1], ids[:2]):
            named = among_rows(session, Execution.id, wanted)
            found = session.scalars(select(Execution.id).where(named)).all()
            assert sorted(found) == sorted(wanted)
