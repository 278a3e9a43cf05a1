"""Giving turns: the next instants at which a rule with a rate limit may act."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import Final
from uuid import UUID

from sqlalchemy import insert, select, union_all
from sqlalchemy.orm import Session

from tasks.automation.records import chunks
from tasks.held import Claim
from tasks.models.rate import RateSlot
from tasks.models.rule import Rule

#: No turn is given further away; until then the execution waits, and asks again.
HORIZON: Final = timedelta(days=30)
_SLOTS: Final = RateSlot.metadata.tables[RateSlot.__tablename__]


def give(
    session: Session,
    claims: Sequence[Claim],
    rules: Mapping[UUID, Rule],
    now: datetime,
) -> dict[UUID, datetime]:
    """Give each claim the next turn of its rule and keep it; caller holds the rules.

    Two statements for the claims of up to 500 rules.
    """
    by_rule: dict[UUID, list[Claim]] = defaultdict(list)
    for claim in claims:
        by_rule[rules[claim.execution_id].id].append(claim)
    given: dict[UUID, datetime] = {}
    new: list[dict[str, object]] = []
    before = _before(session, by_rule, rules, now)
    for rule_id, own in by_rule.items():
        rule = rules[own[0].execution_id]
        turns = next_turns(
            before[rule_id],
            len(own),
            limit=rule.rate_limit or 1,
            window=timedelta(minutes=rule.rate_window_minutes),
            now=now,
        )
        for claim, at in zip(own, turns, strict=True):
            given[claim.execution_id] = at
            if at < now + HORIZON:
                new.append(_slot(claim, rule_id, at, now))
    if new:
        session.execute(insert(_SLOTS), new)
    return given


def next_turns(
    before: Sequence[datetime],
    n: int,
    *,
    limit: int,
    window: timedelta,
    now: datetime,
) -> list[datetime]:
    """Return the next ``n`` turns, soonest first.

    Args:
        before: the newest turns within the window and ahead, oldest first, up to
            ``limit`` of them.
    """
    turns = list(before)
    first = len(turns)
    for place in range(first, first + n):
        behind = place - limit
        free = turns[behind] + window if behind >= 0 else now
        turns.append(min(max(free, now), now + HORIZON))
    return turns[first:]


def _before(
    session: Session,
    by_rule: Mapping[UUID, Sequence[Claim]],
    rules: Mapping[UUID, Rule],
    now: datetime,
) -> dict[UUID, list[datetime]]:
    """Return each rule's newest turns that still count, oldest first."""
    own_rules = [rules[own[0].execution_id] for own in by_rule.values()]
    newest = [
        select(RateSlot.rule_id, RateSlot.at)
        .where(
            RateSlot.rule_id == rule.id,
            RateSlot.at > now - timedelta(minutes=rule.rate_window_minutes),
        )
        .order_by(RateSlot.at.desc())
        .limit(rule.rate_limit)
        .subquery()
        for rule in own_rules
    ]
    found: dict[UUID, list[datetime]] = {rule_id: [] for rule_id in by_rule}
    for some in chunks(newest):  # SQLite puts no more SELECTs together
        together = union_all(*(select(each) for each in some))
        for rule_id, at in session.execute(together):
            found[rule_id].append(at)
    return {rule_id: sorted(turns) for rule_id, turns in found.items()}


def _slot(
    claim: Claim, rule_id: UUID, at: datetime, now: datetime
) -> dict[str, object]:
    return {
        "congregation_id": claim.congregation_id,
        "execution_id": claim.execution_id,
        "number": claim.attempt,
        "rule_id": rule_id,
        "at": at,
        "used_by": claim.attempt if at <= now else None,
    }
