"""Executions whose effects are rows of ours: guarded, done and settled at once.

They are never leased: all of it happens in the transaction that took them, or nothing.
"""

from __future__ import annotations

import logging
from collections import defaultdict
from collections.abc import Sequence
from typing import Final

from sqlalchemy.exc import DBAPIError
from sqlalchemy.orm import Session

from tasks.automation.actions.base import ActsWithin, Outcome, TryAgain
from tasks.crashpoints import reached
from tasks.executing.claiming import Running
from tasks.executing.marking import note_recipients
from tasks.executing.preparing import Ready, look, readdressed
from tasks.executing.settling import settle_taken
from tasks.executing.verdicts import Verdict, judge
from tasks.lane import Bench

logger = logging.getLogger(__name__)
_BROKE: Final = "It ended with an error in the program, see the worker's log."


def do_within(
    session: Session, bench: Bench, taken: Sequence[Running]
) -> list[Verdict]:
    """Do what was taken and settle it; returns what became of each.  Caller commits."""
    if not taken:
        return []
    now = bench.clock()
    prepared = look(session, taken, now=now)
    ready = [each for each in prepared if isinstance(each, Ready)]
    reached("before_effect")
    outcomes = _acted(session, bench, ready)
    reached("after_effect")
    verdicts = [each for each in prepared if isinstance(each, Verdict)]
    verdicts += [
        judge(
            each.claim,
            outcomes[each.claim.execution_id.int],
            failures=each.failures,
            max_attempts=each.max_attempts,
            pauses=each.pauses,
            now=now,
        )
        for each in ready
    ]
    settle_taken(session, verdicts, worker=bench.worker, now=now)
    note_recipients(session, readdressed(taken, ready))
    return verdicts


def _acted(
    session: Session, bench: Bench, ready: Sequence[Ready]
) -> dict[int, Outcome]:
    """Return the outcomes by the executions' ids, which as numbers hash faster."""
    of_action: defaultdict[str, list[Ready]] = defaultdict(list)
    for each in ready:
        of_action[each.action.name].append(each)
    outcomes: dict[int, Outcome] = {}
    for same in of_action.values():
        told = _together(session, bench, same)
        ids = (each.claim.execution_id.int for each in same)
        outcomes.update(zip(ids, told, strict=True))
    return outcomes


def _together(
    session: Session, bench: Bench, same: Sequence[Ready]
) -> Sequence[Outcome]:
    """Do executions of one action, one by one only when that fails for all at once."""
    action = same[0].action
    assert isinstance(action, ActsWithin)  # noqa: S101  # is_within says so
    deeds = [(each.message, each.envelope) for each in same]
    try:
        with session.begin_nested():
            return action.act_within(session, deeds, bench.effects)
    except Exception as error:
        if isinstance(error, DBAPIError) and error.connection_invalidated:
            raise  # the transaction is gone, and with it all that was taken
        if len(same) > 1:
            return [_together(session, bench, [each])[0] for each in same]
        # One row's bug must not stop the others' work, nor be hidden.
        logger.exception("execution.act_failed", extra={"id": str(same[0].claim)})
        return [TryAgain(_BROKE)]
