"""Writing down what came of effects, also while the database is away for a moment."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Sequence
from functools import partial
from typing import Final, TypeVar
from uuid import UUID

from sqlalchemy.exc import DBAPIError, OperationalError
from sqlalchemy.exc import TimeoutError as NoneIsFree

from tasks.crashpoints import reached
from tasks.executing.apart import apart
from tasks.executing.marking import unmark
from tasks.executing.settling import settle
from tasks.executing.verdicts import Verdict
from tasks.held import Claim
from tasks.lane import Bench
from tasks.models.execution import AttemptOutcome, ExecutionState

logger = logging.getLogger(__name__)
T = TypeVar("T")

#: The executions' ids by what became of them: "succeeded", "lost", …
Ended = dict[str, list[UUID]]
#: How long a database that does not answer is left alone before the next try.
_AWAY_SECONDS: Final = 0.25
#: The database is away, or too busy: that is nobody's own fault.
AWAY: Final = (OperationalError, NoneIsFree)
_UNTOLD: Final = "What was answered could not be written down, see the worker's log."


def write_down(bench: Bench, verdicts: Sequence[Verdict], ended: Ended) -> None:
    """Settle what is still ours, and note in ``ended`` what became of each."""
    if not verdicts:
        return
    words = apart(
        lambda some: patiently(bench, lambda: _written(bench, some)),
        verdicts,
        partial(_in_plain_words, bench),
        of_all=AWAY,
    )
    reached("after_settle")
    bench.held.let_go(each.claim for each in verdicts)
    for each, word in zip(verdicts, words, strict=True):
        ended[word].append(each.claim.execution_id)


def _written(bench: Bench, verdicts: Sequence[Verdict]) -> list[str]:
    with bench.begin() as session:
        owned = settle(session, verdicts, worker=bench.worker, now=bench.clock())
    return [word_of(each) if each.claim in owned else "lost" for each in verdicts]


def _in_plain_words(bench: Bench, verdict: Verdict, error: Exception) -> str:
    """Settle what could not be written down without what was answered.

    Else it would be sent once more, and all that ended with it.
    """
    logger.error("execution.not_settled", exc_info=error, extra=_id(verdict))
    plain = verdict._replace(
        error=_UNTOLD if verdict.error else None, response=None, nobody_at=None
    )
    try:
        return patiently(bench, lambda: _written(bench, [plain]))[0]
    except AWAY:
        raise
    except Exception:  # its lease lapses, and rescue tells that nobody knows
        logger.exception("execution.never_settled", extra=_id(verdict))
        return "lost"


def _id(verdict: Verdict) -> dict[str, str]:
    return {"id": str(verdict.claim.execution_id)}


def take_back_marks(bench: Bench, claims: Sequence[Claim]) -> None:
    """Note of effects that they did not begin after all."""
    if claims:
        patiently(bench, lambda: _unmark(bench, claims))


def _unmark(bench: Bench, claims: Sequence[Claim]) -> None:
    with bench.begin() as session:
        unmark(session, claims)


def patiently(bench: Bench, step: Callable[[], T]) -> T:
    """Do a step that only the database can fail, again while the lease may still live.

    A database that restarts must not make what was sent go out once more.  A step
    whose commit went through unheard finds nothing of its own the second time.
    """
    deadline = time.monotonic() + bench.timing.lease.total_seconds()
    while True:
        try:
            return step()
        except (DBAPIError, NoneIsFree) as error:
            if not _may_pass(error) or time.monotonic() > deadline:
                raise
            logger.warning("database.away", exc_info=True)
            time.sleep(_AWAY_SECONDS)


def _may_pass(error: DBAPIError | NoneIsFree) -> bool:
    """Whether the database is away, or all connections to it are in use."""
    return isinstance(error, AWAY) or error.connection_invalidated


def word_of(verdict: Verdict) -> str:
    """Return the name of what became of an execution, as sweeps tell it."""
    if verdict.outcome is AttemptOutcome.RELEASED:
        return "released"
    if verdict.outcome is AttemptOutcome.DEFERRED:
        return "deferred"
    if verdict.state is ExecutionState.PENDING:
        return "retried"
    return verdict.state.value
