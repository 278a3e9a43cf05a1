"""What operators may do to lateness budgets: set them, and take them away."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Final
from uuid import UUID

from sqlalchemy.orm import Session

from tasks.errors import InvalidInput, NotFound
from tasks.models import LaneBudget, Rule, RuleBudget
from tasks.operations.audit import Actor, Subject, record
from tasks.saying import say

#: Shares that may be promised, of 1 000.
SHARES: Final = (900, 950, 990, 995, 999)
#: Spans that may be promised, in seconds; each is a bound of the counted times.
SPANS: Final = (5, 10, 30, 60, 120, 300, 900, 3_600, 14_400)


@dataclass(frozen=True, slots=True)
class Promise:
    """So many of 1 000 begin within so many seconds after their time."""

    per_mille: int
    seconds: int
    by_mail: bool = True  # admins are told by mail before it breaks

    def as_text(self) -> str:
        """Return the promise in words.

        >>> Promise(950, 60, by_mail=False).as_text()
        '95 % within 60 seconds, without mails'
        """
        mails = "" if self.by_mail else ", without mails"
        return f"{self.per_mille / 10:g} % within {self.seconds} seconds{mails}"


def set_rule_budget(
    session: Session,
    rule_id: UUID,
    promise: Promise | None,
    actor: Actor,
    *,
    now: datetime,
) -> None:
    """Set a rule's budget; ``None`` takes it away.  Caller commits.

    Raises:
        InvalidInput: ``bad_promise``, it is none of those that can be measured.
        NotFound: the session sees no such rule.
    """
    rule = session.get(Rule, rule_id)
    if rule is None or rule.deleted_at is not None:
        raise NotFound("unknown_rule", say("There is no such rule."))
    found = session.get(RuleBudget, rule_id)
    fresh = RuleBudget(congregation_id=rule.congregation_id, rule_id=rule_id)
    _write(session, found, fresh, promise, now)
    subject = Subject("rule", str(rule_id), rule.congregation_id)
    _audit(session, actor, f"the rule “{rule.name}”", "rule", subject, promise)


def set_lane_budget(
    session: Session,
    lane: str,
    title: str,
    promise: Promise | None,
    actor: Actor,
    *,
    now: datetime,
) -> None:
    """Set a lane's budget; ``None`` takes it away.  Caller commits.

    Raises:
        InvalidInput: ``bad_promise``, it is none of those that can be measured.
    """
    found = session.get(LaneBudget, lane)
    _write(session, found, LaneBudget(lane=lane), promise, now)
    _audit(session, actor, f"the lane {title}", "lane", Subject("lane", lane), promise)


def _write(
    session: Session,
    found: RuleBudget | LaneBudget | None,
    fresh: RuleBudget | LaneBudget,
    promise: Promise | None,
    now: datetime,
) -> None:
    if promise is None:
        if found is not None:
            session.delete(found)
            session.flush()
        return
    if promise.per_mille not in SHARES or promise.seconds not in SPANS:
        told = say("Choose one of the offered shares and spans.")
        raise InvalidInput("bad_promise", told, field="share")
    budget = fresh if found is None else found
    budget.per_mille, budget.seconds = promise.per_mille, promise.seconds
    budget.by_mail = promise.by_mail
    # Of another promise nobody was told anything yet.
    budget.warned_at, budget.broken_at, budget.updated_at = None, None, now
    budget.is_near = False
    session.add(budget)
    session.flush()


def _audit(
    session: Session,
    actor: Actor,
    whose: str,
    noun: str,
    subject: Subject,
    promise: Promise | None,
) -> None:
    if promise is None:
        summary = f"Took away the lateness budget of {whose}."
    else:
        summary = f"Set the lateness budget of {whose}: {promise.as_text()}."
    record(session, actor, f"{noun}.budget_set", subject, summary)
