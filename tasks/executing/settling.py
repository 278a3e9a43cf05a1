"""Writing verdicts down, all or nothing, and only for what is still ours."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any, Final

from sqlalchemy import Table, bindparam, func, literal_column, select, update
from sqlalchemy.orm import Session

from tasks.executing.verdicts import Verdict
from tasks.held import Claim
from tasks.models.execution import SETTLED, Attempt, Execution

_ERROR_MAX: Final = 500
_RESPONSE_MAX: Final = 2_000

# Core tables: executemany of the ORM would ask for whole primary keys and skip columns.
_EXECUTIONS: Final = Execution.metadata.tables[Execution.__tablename__]
_ATTEMPTS: Final = Attempt.metadata.tables[Attempt.__tablename__]


def settle(
    session: Session, verdicts: Sequence[Verdict], *, now: datetime
) -> set[Claim]:
    """Write ``verdicts`` and return the claims that were still ours.

    The fence: an execution is settled only while it is running under the attempt that
    the verdict is about.  A late writer changes nothing.  Caller commits.
    """
    owned = _still_ours(session, [verdict.claim for verdict in verdicts])
    ours = [verdict for verdict in verdicts if verdict.claim in owned]
    if ours:
        session.execute(_SETTLE_EXECUTION, [_execution(each, now) for each in ours])
        session.execute(_SETTLE_ATTEMPT, [_attempt(each, now) for each in ours])
    return owned


def _still_ours(session: Session, claims: Sequence[Claim]) -> set[Claim]:
    if not claims:
        return set()
    running = session.execute(
        select(Execution.id, Execution.attempt)
        .where(
            Execution.id.in_([claim.execution_id for claim in claims]),
            Execution.state == literal_column("'running'"),
        )
        .with_for_update()
    )
    pairs = {(row.id, row.attempt) for row in running}
    return {claim for claim in claims if (claim.execution_id, claim.attempt) in pairs}


def _only(table: Table, **keys: str) -> Any:  # noqa: ANN401  # an Update of a table
    return update(table).where(
        *(table.c[column] == bindparam(name) for column, name in keys.items())
    )


_SETTLE_EXECUTION: Final = _only(
    _EXECUTIONS, id="the_id", attempt="the_attempt"
).values(
    state=bindparam("state"),
    reason=bindparam("reason"),
    error=bindparam("error"),
    run_at=func.coalesce(bindparam("run_at"), _EXECUTIONS.c.run_at),
    failures=_EXECUTIONS.c.failures + bindparam("n_failures"),
    settled_at=bindparam("settled_at"),
    worker=None,
    lease_until=None,
)
_SETTLE_ATTEMPT: Final = _only(
    _ATTEMPTS, execution_id="the_id", number="the_attempt"
).values(
    finished_at=bindparam("finished_at"),
    outcome=bindparam("outcome"),
    status_code=bindparam("status_code"),
    error=bindparam("error"),
    response=bindparam("response"),
)


def _execution(verdict: Verdict, now: datetime) -> dict[str, Any]:
    return {
        "the_id": verdict.claim.execution_id,
        "the_attempt": verdict.claim.attempt,
        "state": verdict.state,
        "reason": verdict.reason,
        "error": _cut(verdict.error, _ERROR_MAX),
        "run_at": verdict.run_at,
        "n_failures": int(verdict.adds_failure),
        "settled_at": now if verdict.state in SETTLED else None,
    }


def _attempt(verdict: Verdict, now: datetime) -> dict[str, Any]:
    return {
        "the_id": verdict.claim.execution_id,
        "the_attempt": verdict.claim.attempt,
        "finished_at": now,
        "outcome": verdict.outcome,
        "status_code": verdict.status_code,
        "error": _cut(verdict.error, _ERROR_MAX),
        "response": _cut(verdict.response, _RESPONSE_MAX),
    }


def _cut(text: str | None, longest: int) -> str | None:
    # PostgreSQL refuses NUL in text; a receiver may well send it.
    return text.replace("\x00", "�")[:longest] if text else None
