"""Claims: the oldest rows by an index, whatever the database thinks of the table."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta
from typing import Any

import pytest
from sqlalchemy import Engine, event, text
from sqlalchemy.orm import Session

from tasks.claims import due_rows
from tasks.models import Execution, ExecutionState
from tests.support import factories
from tests.support.factories import NOW

#: Enough that sorting them would be worth it, were they as few as they seem.
N_SETTLED = 300
N_DUE = 300


@pytest.mark.parametrize("n_congregations", [1, 12])
def test_a_sudden_backlog_is_not_read_to_its_end(
    postgres_engine: Engine, n_congregations: int
) -> None:
    with Session(postgres_engine) as session:
        rules = [
            factories.rule(session, factories.congregation(session, f"house{number}"))
            for number in range(n_congregations)
        ]
        rule = rules[-1]
        for _ in range(N_SETTLED):
            factories.execution(session, rule, state=ExecutionState.SUCCEEDED)
        session.flush()
        for table in ("congregations", "executions"):  # nothing is due, it finds
            session.execute(text(f"ANALYZE {table}"))
        for number in range(N_DUE):
            at = NOW - timedelta(seconds=number)
            factories.execution(session, rule, run_at=at, due_at=at)
        for others in rules[:-1]:
            factories.execution(session, others)
        session.flush()
        claim, sharing, *own = _plans_of_a_claim(session)
    assert "Index Scan using ix_executions_due on" in claim
    assert "Sort" not in claim, claim
    assert len(own) == (n_congregations if n_congregations > 1 else 0)
    for plan in (sharing, *own):
        assert "using ix_executions_due_fair on" in plan, plan


def _plans_of_a_claim(session: Session) -> list[str]:
    """Claim some of what is due, and return the plan of each statement."""
    asked: list[tuple[str, Mapping[str, Any]]] = []

    def note(*told: Any) -> None:  # what SQLAlchemy says
        asked.append((told[2], told[3]))

    connection = session.connection()
    event.listen(connection, "before_cursor_execute", note)
    rows = due_rows(session, Execution, (Execution.id,), now=NOW, limit=50)
    event.remove(connection, "before_cursor_execute", note)
    assert len(rows) == 50
    plans = []
    for statement, parameters in asked:
        lines = connection.exec_driver_sql(f"EXPLAIN {statement}", dict(parameters))
        plans.append("\n".join(line for (line,) in lines))
    return plans
