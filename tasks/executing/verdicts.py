"""What becomes of an execution after an attempt: a pure decision."""

from __future__ import annotations

import random
from datetime import datetime
from typing import Final, NamedTuple

from tasks.automation.actions.base import Done, GiveUp, Outcome, TryAgain
from tasks.backoff import USUAL, Chance, Pauses, wait_after
from tasks.held import Claim
from tasks.models.execution import AttemptOutcome, ExecutionState
from tasks.models.reason import Reason

#: Reasons for which there was nothing to send; the others are failures to look at.
_NOTHING_TO_DO: Final = frozenset(Reason) - {
    Reason.MISSING_VARIABLE,
    Reason.BAD_MESSAGE,
    Reason.REFUSED,
    Reason.BLOCKED_ADDRESS,
}


class Verdict(NamedTuple):
    """The state that a claimed execution goes to, and what its attempt says."""

    claim: Claim
    state: ExecutionState
    outcome: AttemptOutcome
    reason: Reason | None = None
    error: str | None = None
    status_code: int | None = None
    response: str | None = None
    run_at: datetime | None = None  # only of pending: when to try again
    adds_failure: bool = False
    nobody_at: str | None = None  # the address where mails find no mailbox


def refuse(claim: Claim, reason: Reason, sentence: str | None = None) -> Verdict:
    """Return the verdict on an execution that must not, or cannot, go ahead."""
    if reason in _NOTHING_TO_DO:
        return Verdict(
            claim, ExecutionState.SKIPPED, AttemptOutcome.SKIPPED, reason, sentence
        )
    return Verdict(
        claim, ExecutionState.FAILED, AttemptOutcome.FAILED, reason, sentence
    )


def release(claim: Claim, now: datetime) -> Verdict:
    """Return the verdict on an execution given back before it began, due at ``now``."""
    return Verdict(claim, ExecutionState.PENDING, AttemptOutcome.RELEASED, run_at=now)


def stop(claim: Claim, why: Reason | datetime) -> Verdict:
    """Return the verdict on what must not act now: why it ends, or until when to wait.

    Waiting uses up none of the rule's attempts.
    """
    return refuse(claim, why) if isinstance(why, Reason) else release(claim, why)


def defer(claim: Claim, until: datetime, sentence: str) -> Verdict:
    """Return the verdict on what waits for its turn; it uses up no attempt."""
    return Verdict(
        claim,
        ExecutionState.PENDING,
        AttemptOutcome.DEFERRED,
        error=sentence,
        run_at=until,
    )


def judge(
    claim: Claim,
    outcome: Outcome,
    *,
    failures: int,
    max_attempts: int,
    now: datetime,
    pauses: Pauses = USUAL,
    chance: Chance = random.random,
) -> Verdict:
    """Return what an action's outcome leads to.

    Args:
        failures: Failures before this attempt; crashes and stops do not count.
        max_attempts: How many failures end it; from the rule.
        pauses: How long to wait between two attempts; from the rule.
        chance: Jitter, from 0 to 1.
    """
    match outcome:
        case Done():
            return Verdict(
                claim,
                ExecutionState.SUCCEEDED,
                AttemptOutcome.SUCCEEDED,
                status_code=outcome.status_code,
                response=outcome.response,
            )
        case GiveUp():
            return Verdict(
                claim,
                ExecutionState.FAILED,
                AttemptOutcome.FAILED,
                outcome.reason,
                outcome.error,
                outcome.status_code,
                outcome.response,
                adds_failure=True,
                nobody_at=outcome.nobody_at,
            )
        case TryAgain():
            is_last = failures + 1 >= max_attempts
            wait = wait_after(
                failures + 1, pauses=pauses, at_least=outcome.after, chance=chance
            )
            return _try_again(claim, outcome, None if is_last else now + wait)


def _try_again(claim: Claim, outcome: TryAgain, again_at: datetime | None) -> Verdict:
    is_last = again_at is None
    word = AttemptOutcome.FAILED if is_last else AttemptOutcome.RETRY
    return Verdict(
        claim,
        ExecutionState.FAILED if is_last else ExecutionState.PENDING,
        AttemptOutcome.UNKNOWN if outcome.is_unknown else word,
        Reason.ATTEMPTS_USED_UP if is_last else None,
        outcome.error,
        outcome.status_code,
        outcome.response,
        run_at=again_at,
        adds_failure=True,
    )
