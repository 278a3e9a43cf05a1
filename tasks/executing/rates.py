"""Rate limits of rules: each execution gets a turn; who comes early waits for it.

Turns are given in the order in which executions are due, never taken away and never
overtaken: so nobody starves.  Between a turn and the one that is ``rate_limit`` places
behind it lies the whole window, so no window, wherever it begins, sees more.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final
from uuid import UUID

from sqlalchemy import select
from sqlalchemy.orm import Session

from tasks.bulk import BulkUpdate, among
from tasks.executing.turns import give
from tasks.held import Claim
from tasks.models.rate import RateSlot
from tasks.models.rule import Rule

_SLOTS: Final = RateSlot.metadata.tables[RateSlot.__tablename__]
_take: Final = BulkUpdate(_SLOTS, keys=("execution_id", "number"), columns=("used_by",))


@dataclass(frozen=True, slots=True)
class Wait:
    """Until when an execution waits for its turn, in a sentence too."""

    until: datetime
    sentence: str


def waits(
    session: Session,
    claims: Sequence[Claim],
    rules: Mapping[UUID, Rule],
    now: datetime,
) -> dict[UUID, Wait]:
    """Return which executions have to wait for their turn; the others may act.

    Asked again about the same attempt it answers the same.  No query unless a rule
    has a limit, five for the executions of up to 500 rules otherwise.  Caller commits.

    Args:
        claims: in the order in which they are due.
        rules: by execution.
    """
    limited = [
        claim for claim in claims if rules[claim.execution_id].rate_limit is not None
    ]
    if not limited:
        return {}
    _lock(session, {rules[claim.execution_id].id for claim in limited})
    turns = _turns(session, limited)
    kept = {id_: slot.at for id_, slot in turns.items() if slot.used_by is None}
    asking = [claim for claim in limited if claim.execution_id not in turns]
    given = give(session, asking, rules, now)
    _take_due(session, limited, turns, now)
    return {
        id_: Wait(at, _sentence(rules[id_]))
        for id_, at in (kept | given).items()
        if at > now
    }


def _lock(session: Session, rule_ids: set[UUID]) -> None:
    """Let one worker at a time give turns; new executions of the rules may be made."""
    session.execute(
        select(Rule.id)
        .where(among(session, Rule.id, sorted(rule_ids)))
        .order_by(Rule.id)
        .with_for_update(key_share=True)
    )


def _turns(session: Session, claims: Sequence[Claim]) -> dict[UUID, RateSlot]:
    """Return the turns that are kept for claims, or taken by this very attempt."""
    attempts = {claim.execution_id: claim.attempt for claim in claims}
    rows = session.scalars(
        select(RateSlot)
        .where(among(session, RateSlot.execution_id, list(attempts)))
        .execution_options(populate_existing=True)
    )
    return {
        row.execution_id: row
        for row in rows
        if row.used_by in {None, attempts[row.execution_id]}
    }


def _take_due(
    session: Session,
    claims: Sequence[Claim],
    turns: Mapping[UUID, RateSlot],
    now: datetime,
) -> None:
    due = [
        {
            "execution_id": claim.execution_id,
            "number": slot.number,
            "used_by": claim.attempt,
        }
        for claim in claims
        if (slot := turns.get(claim.execution_id))
        and slot.used_by is None
        and slot.at <= now
    ]
    _take(session, due)


def _sentence(rule: Rule) -> str:
    return (
        f"Waits for its turn: the rule acts at most {rule.rate_limit} times in "
        f"{rule.rate_window_minutes} minutes."
    )
