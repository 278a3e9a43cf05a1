"""What becomes of a mail after an attempt: a pure decision."""

from __future__ import annotations

import random
from datetime import datetime, timedelta
from typing import Final, NamedTuple

from tasks.automation.actions.base import Done, GiveUp, Outcome, TryAgain
from tasks.backoff import Chance, Pauses, wait_after
from tasks.models.notification import MailState
from tasks.models.reason import Reason

#: So often a mail server may refuse one mail for now.
ATTEMPTS: Final = 3
PAUSES: Final = Pauses(timedelta(seconds=5), timedelta(minutes=15), is_kept=True)
#: A mail server that is not there uses up no attempt, for this long.
AWAY_MAX: Final = timedelta(hours=24)
#: Answers that are about us or the server, not about the mail (RFC 5321, RFC 4954).
_ABOUT_SERVER: Final = frozenset({421, 454, 530, 534, 535, 538})


class Verdict(NamedTuple):
    """The state that a running mail goes to."""

    state: MailState
    reason: Reason | None = None
    error: str | None = None
    run_at: datetime | None = None  # only of pending: when to try again
    is_failure: bool = False  # whether it counts against ATTEMPTS


def judge(
    outcome: Outcome,
    *,
    attempt: int,
    failures: int,
    asked_at: datetime,
    now: datetime,
    chance: Chance = random.random,
) -> Verdict:
    """Return what an attempt's outcome leads to.

    Args:
        attempt: The number of this attempt; the waits grow with it.
        failures: Failures before it, since the mail was last asked for.
        asked_at: When it was asked for.
    """
    if isinstance(outcome, Done):
        return Verdict(MailState.SENT)
    if isinstance(outcome, GiveUp):
        return Verdict(MailState.FAILED, outcome.reason, outcome.error)
    counts = not _is_away(outcome)
    is_last = failures + 1 >= ATTEMPTS if counts else now - asked_at >= AWAY_MAX
    if is_last:
        used_up = Reason.ATTEMPTS_USED_UP
        return Verdict(MailState.FAILED, used_up, outcome.error, None, counts)
    wait = wait_after(
        failures + 1 if counts else attempt,
        pauses=PAUSES,
        at_least=outcome.after,
        chance=chance,
    )
    return Verdict(MailState.PENDING, None, outcome.error, now + wait, counts)


def _is_away(outcome: TryAgain) -> bool:
    """Whether the mail server had nothing to say about this mail.

    When the answer to a whole mail was lost it may have arrived: such a try counts, or
    somebody would get the same mail for a day.
    """
    if outcome.is_unknown:
        return False
    return outcome.status_code is None or outcome.status_code in _ABOUT_SERVER
