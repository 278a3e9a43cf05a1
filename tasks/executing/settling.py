"""Writing verdicts down, all or nothing, and only for what is still ours."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any, Final

from sqlalchemy import Table, func
from sqlalchemy.orm import Session

from tasks.bulk import BulkUpdate, insert_many
from tasks.claims import IS_LEASED
from tasks.executing.verdicts import Verdict
from tasks.failures.noting import Failure, note_executions
from tasks.held import Claim
from tasks.models.execution import (
    SETTLED,
    Attempt,
    AttemptOutcome,
    Execution,
    ExecutionState,
)
from tasks.models.rollup import EndedKind
from tasks.operations.bounces import Bounce, note_bounces
from tasks.rollups.ended import note_ended

_ATTEMPTS: Final[Table] = Attempt.metadata.tables[Attempt.__tablename__]
_NOT_BEGUN: Final = frozenset({AttemptOutcome.SKIPPED, AttemptOutcome.DEFERRED})
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
    # The fence: whoever lost the row changes nothing.
    where=(IS_LEASED,),
    returning=("id", "claimed_at", "effect_at"),
)


#: What was never leased: taken, done and settled in one transaction.
_settle_taken: Final = BulkUpdate(
    Execution.metadata.tables[Execution.__tablename__],
    keys=("id",),
    columns=(
        *("state", "reason", "error", "run_at", "failures", "settled_at"),
        *("attempt", "claimed_at", "effect_at"),
    ),
    merge={
        "run_at": lambda new, old: func.coalesce(new, old),
        "failures": lambda new, old: old + new,
    },
)


def settle_taken(
    session: Session, verdicts: Sequence[Verdict], *, worker: str, now: datetime
) -> None:
    """Write ``verdicts`` on executions that this transaction has locked."""
    rows = []
    for each in verdicts:
        begun_at = None if each.outcome in _NOT_BEGUN else now
        rows.append(_execution(each, now) | {"claimed_at": now, "effect_at": begun_at})
    _settle_taken(session, rows)
    attempts = [_attempt(each, now, now, worker, now) for each in verdicts]
    insert_many(session, _ATTEMPTS, attempts)
    _note(session, [each.claim for each in verdicts])
    note_executions(session, _failed(verdicts), now)


def settle(
    session: Session, verdicts: Sequence[Verdict], *, worker: str, now: datetime
) -> set[Claim]:
    """Write ``verdicts`` and return the claims that were still ours.

    The fence: an execution is settled only while it is running under the attempt that
    the verdict is about.  A late writer changes nothing.  Caller commits.
    """
    owned = _settle_executions(session, [_execution(each, now) for each in verdicts])
    said = {each.claim.execution_id.int: each for each in verdicts}
    ended = [
        (said[id_.int], claimed_at, effect_at) for id_, claimed_at, effect_at in owned
    ]
    insert_many(session, _ATTEMPTS, [_attempt(*each, worker, now) for each in ended])
    _note(session, [verdict.claim for verdict, *_ in ended])
    note_executions(session, _failed([verdict for verdict, *_ in ended]), now)
    note_bounces(session, _bounces([verdict for verdict, *_ in ended]), now)
    return {verdict.claim for verdict, *_ in ended}


def _note(session: Session, claims: Sequence[Claim]) -> None:
    """Leave the ended attempts to the lane that counts them: one narrow row."""
    keys = [(each.execution_id, each.attempt) for each in claims]
    note_ended(session, EndedKind.EXECUTION, keys)


def _failed(verdicts: Sequence[Verdict]) -> list[Failure]:
    return [
        Failure(
            each.claim.execution_id,
            each.claim.congregation_id,
            each.reason,
            _cut(each.error, _ERROR_MAX),
        )
        for each in verdicts
        if each.state is ExecutionState.FAILED
    ]


def _bounces(verdicts: Sequence[Verdict]) -> list[Bounce]:
    return [
        Bounce(each.claim.congregation_id, each.nobody_at, each.response or "")
        for each in verdicts
        if each.nobody_at is not None
    ]


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


def _attempt(
    verdict: Verdict,
    started_at: datetime,
    effect_at: datetime | None,
    worker: str,
    now: datetime,
) -> dict[str, Any]:
    # What was held back after all had been marked before.
    is_begun = verdict.outcome not in _NOT_BEGUN
    return {
        "congregation_id": verdict.claim.congregation_id,
        "execution_id": verdict.claim.execution_id,
        "number": verdict.claim.attempt,
        "worker": worker,
        "started_at": started_at,
        "effect_started_at": effect_at if is_begun else None,
        "finished_at": now,
        "outcome": verdict.outcome,
        "status_code": verdict.status_code,
        "error": _cut(verdict.error, _ERROR_MAX),
        "response": _cut(verdict.response, _RESPONSE_MAX),
    }


def _cut(text: str | None, longest: int) -> str | None:
    # PostgreSQL refuses NUL in text; a receiver may well send it.
    return text.replace("\x00", "�")[:longest] if text else None
