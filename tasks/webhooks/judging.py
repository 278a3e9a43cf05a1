"""What becomes of a delivery after an attempt: a pure decision."""

from __future__ import annotations

import random
from datetime import datetime, timedelta
from typing import Final, NamedTuple

from tasks.automation.actions.base import Done, GiveUp, Outcome, TryAgain
from tasks.backoff import Chance
from tasks.models.delivery import DeliveryState
from tasks.models.execution import AttemptOutcome
from tasks.models.reason import Reason

#: The waits of the Standard Webhooks specification: ten attempts in three days.
WAITS: Final = (
    timedelta(seconds=5),
    timedelta(minutes=5),
    timedelta(minutes=30),
    timedelta(hours=2),
    timedelta(hours=5),
    timedelta(hours=10),
    timedelta(hours=14),
    timedelta(hours=20),
    timedelta(hours=24),
)
#: What failed together comes back spread: each wait is up to so much longer or shorter.
JITTER: Final = 0.2
_GONE: Final = 410


class Verdict(NamedTuple):
    """The state that a running delivery goes to, and what its attempt says."""

    state: DeliveryState
    outcome: AttemptOutcome
    reason: Reason | None = None
    error: str | None = None
    status_code: int | None = None
    response: str | None = None
    run_at: datetime | None = None  # only of pending: when to try again

    @property
    def is_gone(self) -> bool:
        """Whether the endpoint said that it will never answer again."""
        return self.status_code == _GONE and self.state is DeliveryState.FAILED


def wait_after(failures: int, chance: Chance = random.random) -> timedelta | None:
    """Return the wait after ``failures`` failures, from 1 on; None: there is no more.

    >>> [str(wait_after(n, lambda: 0.5)) for n in (1, 2, 9, 10)]
    ['0:00:05', '0:05:00', '1 day, 0:00:00', 'None']
    """
    if failures > len(WAITS):
        return None
    return WAITS[failures - 1] * (1 + JITTER * (2 * chance() - 1))


def judge(
    outcome: Outcome,
    *,
    failures: int,
    now: datetime,
    why_no_more: Reason | None = None,
    chance: Chance = random.random,
) -> Verdict:
    """Return what an attempt's outcome leads to.

    Args:
        failures: Failures before this attempt, since the delivery was last asked for.
        why_no_more: Why its endpoint gets no further attempt; None: it does.
    """
    match outcome:
        case Done():
            return Verdict(
                DeliveryState.DELIVERED,
                AttemptOutcome.SUCCEEDED,
                status_code=outcome.status_code,
                response=outcome.response,
            )
        case GiveUp():
            return Verdict(
                DeliveryState.FAILED,
                AttemptOutcome.FAILED,
                outcome.reason,
                outcome.error,
                outcome.status_code,
                outcome.response,
            )
        case TryAgain():
            return _try_again(outcome, failures + 1, now, why_no_more, chance)


def _try_again(
    outcome: TryAgain,
    failures: int,
    now: datetime,
    why_no_more: Reason | None,
    chance: Chance,
) -> Verdict:
    wait = wait_after(failures, chance)
    if why_no_more is not None:
        state, reason, wait = DeliveryState.DISABLED, why_no_more, None
    elif wait is None:
        state, reason = DeliveryState.FAILED, Reason.ATTEMPTS_USED_UP
    else:
        state, reason = DeliveryState.PENDING, None
        wait = max(wait, outcome.after or timedelta(0))
    word = AttemptOutcome.FAILED if wait is None else AttemptOutcome.RETRY
    return Verdict(
        state,
        AttemptOutcome.UNKNOWN if outcome.is_unknown else word,
        reason,
        outcome.error,
        outcome.status_code,
        outcome.response,
        run_at=None if wait is None else now + wait,
    )
