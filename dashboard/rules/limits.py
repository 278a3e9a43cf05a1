"""What a rule's page tells of its limits: attempts, rate, and what waits for a turn."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from dashboard.filters import duration, plural
from tasks.automation import condition_rows
from tasks.lane import COUNT_CAP
from tasks.models import Decision, RateSlot, Reason, Rule
from tasks.saying import say

#: A loop is told of for so long after the guard stopped it.
LOOP_SHOWN: Final = timedelta(days=1)


@dataclass(frozen=True, slots=True)
class Waiting:
    """What waits because of the rule's rate limit."""

    n: int = 0  # up to COUNT_CAP
    next_at: datetime | None = None


def waiting(session: Session, rule: Rule, now: datetime) -> Waiting:
    """Return what waits for its turn; no query for a rule without a limit."""
    if rule.rate_limit is None:
        return Waiting()
    ahead = (
        select(RateSlot.at)
        .where(
            RateSlot.rule_id == rule.id, RateSlot.at > now, RateSlot.used_by.is_(None)
        )
        .order_by(RateSlot.at)
        .limit(COUNT_CAP)
        .subquery()
    )
    n, next_at = session.execute(select(func.count(), func.min(ahead.c.at))).one()
    return Waiting(n, next_at)


def retries(rule: Rule) -> str:
    """Return how a rule tries again.

    >>> retries(Rule(max_attempts=5, retry_first_seconds=30,
    ...     retry_longest_minutes=360))
    'up to 5 attempts, pauses of up to 30 s, then growing to 6 h'
    """
    if rule.max_attempts == 1:
        return say("it is not tried again")
    first = duration(timedelta(seconds=rule.retry_first_seconds))
    longest = duration(timedelta(minutes=rule.retry_longest_minutes))
    attempts = plural(rule.max_attempts, "attempt")
    return say(
        "up to %(attempts)s, pauses of up to %(first)s, then growing to %(longest)s",
        attempts=attempts,
        first=first,
        longest=longest,
    )


def rate(rule: Rule) -> str:
    """Return how often a rule acts at most; empty when it has no limit.

    >>> rate(Rule(rate_limit=1, rate_window_minutes=90))
    'once in 1 h 30 min; what is above waits'
    """
    if rule.rate_limit is None:
        return ""
    window = duration(timedelta(minutes=rule.rate_window_minutes))
    if rule.rate_limit == 1:
        return say("once in %(window)s; what is above waits", window=window)
    return say(
        "%(n)s times in %(window)s; what is above waits",
        n=str(rule.rate_limit),
        window=window,
    )


def looped_at(noes: Sequence[Decision], now: datetime) -> datetime | None:
    """Return when the loop guard stopped the rule last, if that is not long ago.

    Args:
        noes: the newest times the rule did nothing, newest first.
    """
    stopped = (
        no.created_at
        for no in noes
        if no.reason == Reason.LOOP_GUARD and no.created_at > now - LOOP_SHOWN
    )
    return next(stopped, None)


def limits(session: Session, rule: Rule, now: datetime) -> dict[str, object]:
    """Return everything of this for the page."""
    return {
        "only_if": condition_rows.sentence(rule.conditions),
        "retries": retries(rule),
        "rate": rate(rule),
        "waiting": waiting(session, rule, now),
    }
