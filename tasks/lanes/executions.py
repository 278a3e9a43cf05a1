"""Executions: run what is due, and try again what failed.

Fed by events (``tasks.automation.events``) and by the lane ``scheduled_jobs``.  Shape:
claim · act · settle.  When the worker dies, ``rescue`` takes the rows back; when it
stops, it gives back what it had not begun.
"""

from __future__ import annotations

import logging
import time
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final
from uuid import UUID

from sqlalchemy import insert, literal_column, update
from sqlalchemy.orm import Session

from tasks.automation.actions.base import Outcome, TryAgain
from tasks.claims import backlog_of, due_ids
from tasks.executing.preparing import Ready, prepare
from tasks.executing.settling import settle
from tasks.executing.verdicts import Verdict, judge, release
from tasks.held import Claim
from tasks.lane import Backlog, Bench
from tasks.models.execution import Attempt, AttemptOutcome, Execution, ExecutionState
from tasks.window import Window

logger = logging.getLogger(__name__)

#: Actions under way at once inside one sweep.
AT_ONCE: Final = 8


@dataclass(frozen=True, slots=True)
class ExecutionSweep:
    """What one sweep did, as execution ids."""

    succeeded: tuple[UUID, ...] = ()
    retried: tuple[UUID, ...] = ()
    failed: tuple[UUID, ...] = ()
    skipped: tuple[UUID, ...] = ()
    released: tuple[UUID, ...] = ()  # given back, not begun: the worker stops
    lost: tuple[UUID, ...] = ()  # somebody else owns them now
    is_full: bool = False


def sweep(bench: Bench, limit: int) -> ExecutionSweep:
    """Run up to ``limit`` due executions, oldest first, fairly between tenants."""
    batch = bench.pace.batch(limit=limit, at_once=AT_ONCE)
    with bench.begin() as session:
        claims = claim(session, bench, limit=batch)
    if not claims:
        return ExecutionSweep()
    ended: dict[str, list[UUID]] = defaultdict(list)
    window: Window[tuple[Ready, Outcome]] = Window(min(AT_ONCE, len(claims)))
    with bench.held.holding(claims), window:
        waiting = list(claims)
        while waiting or window.is_busy:
            if bench.stopping.is_set() and waiting:
                _settle(
                    bench, [release(each, bench.clock()) for each in waiting], ended
                )
                waiting = []
            chunk, waiting = waiting[: window.free], waiting[window.free :]
            for ready in _prepare(bench, chunk, ended):
                window.submit(_act, bench, ready)
            _settle(bench, _judged(bench, window.finished()), ended)
    return ExecutionSweep(
        **{word: tuple(ids) for word, ids in ended.items()},
        is_full=len(claims) == batch,
    )


def claim(session: Session, bench: Bench, *, limit: int) -> list[Claim]:
    """Lease up to ``limit`` due executions and open an attempt for each.

    Returns them in the order in which they were due.  Caller commits.
    """
    if bench.stopping.is_set():
        return []
    now = bench.clock()
    ids = due_ids(session, Execution, now=now, limit=limit)
    if not ids:
        return []
    leased = session.execute(
        update(Execution)
        .where(Execution.id.in_(ids), Execution.state == literal_column("'pending'"))
        .values(
            state=ExecutionState.RUNNING,
            attempt=Execution.attempt + 1,
            worker=bench.worker,
            lease_until=now + bench.timing.lease,
        )
        .returning(Execution.id, Execution.attempt, Execution.congregation_id)
        .execution_options(synchronize_session=False)
    ).all()
    claims = {row.id: Claim(row.id, row.attempt, row.congregation_id) for row in leased}
    if claims:
        _open_attempts(session, claims.values(), bench.worker, now)
    return [claims[id_] for id_ in ids if id_ in claims]


def backlog(session: Session, now: datetime) -> Backlog:
    """Return how many executions are due."""
    return backlog_of(session, Execution, now)


def _open_attempts(
    session: Session, claims: Iterable[Claim], worker: str, now: datetime
) -> None:
    session.execute(
        insert(Attempt),
        [
            {
                "congregation_id": each.congregation_id,
                "execution_id": each.execution_id,
                "number": each.attempt,
                "worker": worker,
                "started_at": now,
            }
            for each in claims
        ],
    )


def _prepare(
    bench: Bench, chunk: Sequence[Claim], ended: dict[str, list[UUID]]
) -> list[Ready]:
    """Return what may begin; what must not go ahead is settled at once."""
    if not chunk:
        return []
    with bench.begin() as session:
        prepared = prepare(session, chunk, now=bench.clock())
    _settle(bench, [each for each in prepared if isinstance(each, Verdict)], ended)
    known = {each.claim for each in prepared}
    lost = [each for each in chunk if each not in known]
    bench.held.let_go(lost)
    ended["lost"].extend(each.execution_id for each in lost)
    return [each for each in prepared if isinstance(each, Ready)]


def _act(bench: Bench, ready: Ready) -> tuple[Ready, Outcome]:
    """Let one effect leave the house; no transaction is open."""
    started = time.monotonic()
    try:
        outcome = ready.action.act(ready.message, ready.envelope, bench.effects)
    except Exception:
        # One row's bug must not stop the others' work, nor be hidden.
        logger.exception("execution.act_failed", extra={"id": str(ready.claim)})
        outcome = TryAgain(
            "It ended with an error in the program, see the worker's log.",
            is_unknown=True,
        )
    bench.pace.took(timedelta(seconds=time.monotonic() - started))
    return ready, outcome


def _judged(bench: Bench, acted: Iterable[tuple[Ready, Outcome]]) -> list[Verdict]:
    return [
        judge(
            ready.claim,
            outcome,
            failures=ready.failures,
            max_attempts=ready.max_attempts,
            now=bench.clock(),
        )
        for ready, outcome in acted
    ]


def _settle(
    bench: Bench, verdicts: Sequence[Verdict], ended: dict[str, list[UUID]]
) -> None:
    if not verdicts:
        return
    with bench.begin() as session:
        owned = settle(session, verdicts, now=bench.clock())
    bench.held.let_go(each.claim for each in verdicts)
    for each in verdicts:
        word = _word(each) if each.claim in owned else "lost"
        ended[word].append(each.claim.execution_id)


def _word(verdict: Verdict) -> str:
    if verdict.outcome is AttemptOutcome.RELEASED:
        return "released"
    if verdict.state is ExecutionState.PENDING:
        return "retried"
    return verdict.state.value
