"""Writing verdicts down, all or nothing, and only for what is still ours."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any, Final

from sqlalchemy import func, literal_column, select
from sqlalchemy.orm import Session

from tasks.bulk import BulkUpdate, among
from tasks.executing.verdicts import Verdict
from tasks.held import Claim
from tasks.models.execution import SETTLED, Attempt, Execution

_ERROR_MAX: Final = 500
_RESPONSE_MAX: Final = 2_000

_settle_executions: Final = BulkUpdate(
    Execution.metadata.tables[Execution.__tablename__],
    keys=("id", "attempt"),
    columns=("state", "reason", "error", "run_at", "failures", "settled_at"),
    merge={
        "run_at": lambda new, old: func.coalesce(new, old),
        "failures": lambda new, old: old + new,
    },
    constant={"worker": None, "lease_until": None},
)
_settle_attempts: Final = BulkUpdate(
    Attempt.metadata.tables[Attempt.__tablename__],
    keys=("execution_id", "number"),
    columns=("finished_at", "outcome", "status_code", "error", "response"),
)


def settle(
    session: Session, verdicts: Sequence[Verdict], *, now: datetime
) -> set[Claim]:
    """Write ``verdicts`` and return the claims that were still ours.

    The fence: an execution is settled only while it is running under the attempt that
    the verdict is about.  A late writer changes nothing.  Caller commits.
    """
    owned = _still_ours(session, [verdict.claim for verdict in verdicts])
    ours = [verdict for verdict in verdicts if verdict.claim in owned]
    _settle_executions(session, [_execution(each, now) for each in ours])
    _settle_attempts(session, [_attempt(each, now) for each in ours])
    return owned


def _still_ours(session: Session, claims: Sequence[Claim]) -> set[Claim]:
    if not claims:
        return set()
    running = session.execute(
        select(Execution.id, Execution.attempt)
        .where(
            among(session, Execution.id, [claim.execution_id for claim in claims]),
            Execution.state == literal_column("'running'"),
        )
        .with_for_update()
    )
    pairs = {(row.id, row.attempt) for row in running}
    return {claim for claim in claims if (claim.execution_id, claim.attempt) in pairs}


def _execution(verdict: Verdict, now: datetime) -> dict[str, Any]:
    return {
        "id": verdict.claim.execution_id,
        "attempt": verdict.claim.attempt,
        "state": verdict.state,
        "reason": verdict.reason,
        "error": _cut(verdict.error, _ERROR_MAX),
        "run_at": verdict.run_at,
        "failures": int(verdict.adds_failure),
        "settled_at": now if verdict.state in SETTLED else None,
    }


def _attempt(verdict: Verdict, now: datetime) -> dict[str, Any]:
    return {
        "execution_id": verdict.claim.execution_id,
        "number": verdict.claim.attempt,
        "finished_at": now,
        "outcome": verdict.outcome,
        "status_code": verdict.status_code,
        "error": _cut(verdict.error, _ERROR_MAX),
        "response": _cut(verdict.response, _RESPONSE_MAX),
    }


def _cut(text: str | None, longest: int) -> str | None:
    # PostgreSQL refuses NUL in text; a receiver may well send it.
    return text.replace("\x00", "�")[:longest] if text else None
