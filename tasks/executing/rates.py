"""Rate limits of rules: each execution gets a turn; who comes early waits for it.

Turns are given in the order in which executions are due, never taken away and never
overtaken: so nobody starves.  Between a turn and the one that is ``rate_limit`` places
behind it lies the whole window, so no window, wherever it begins, sees more.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final
from uuid import UUID

from sqlalchemy import select
from sqlalchemy.orm import Session

from tasks.bulk import BulkUpdate, among, is_postgres
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


def hold(
    session: Session, rules: Iterable[Rule], *, holds_rows: bool
) -> dict[UUID, bool]:
    """Let nobody else give turns of the rules until the transaction ends.

    Returns the rules with a limit, and whether each is ours.  To be asked before the
    last look at what they act on: that may take as long as whoever changes a rule.
    No statement unless one has a limit.

    Args:
        holds_rows: the transaction has locked the executions.  Then it cannot wait for
            a rule, whose holder may wait for them: some may not be ours.
    """
    ids = sorted({rule.id for rule in rules if rule.rate_limit is not None})
    if not ids or not is_postgres(session):
        return dict.fromkeys(ids, True)  # SQLite has one writer, and we are it
    wanted = (
        select(Rule.id)
        .where(among(session, Rule.id, ids))
        .order_by(Rule.id)
        # New executions of the rules may be made.
        .with_for_update(key_share=True, skip_locked=holds_rows)
    )
    return dict.fromkeys(ids, False) | dict.fromkeys(session.scalars(wanted), True)


def waits(
    session: Session,
    claims: Sequence[Claim],
    rules: Mapping[UUID, Rule],
    now: datetime,
    held: Mapping[UUID, bool],
) -> dict[UUID, Wait | None]:
    """Return which executions have to wait for their turn; the others may act.

    ``None``: somebody else gives turns of its rule, or changes it, right now.
    Asked again about the same attempt it answers the same.  No query unless a rule
    has a limit, four for the executions of up to 500 rules otherwise.  Caller commits.

    Args:
        claims: in the order in which they are due.
        rules: by execution.
        held: what ``hold`` said.  A rule that got its limit since is not in it; what
            was looked at before goes out as it would have then.
    """
    limited = [
        claim
        for claim in claims
        if (rule := rules[claim.execution_id]).rate_limit is not None
        and rule.id in held
    ]
    ours = [claim for claim in limited if held[rules[claim.execution_id].id]]
    busy = [each for each in limited if not held[rules[each.execution_id].id]]
    turns = _turns_of(session, ours, rules, now)
    return {**dict.fromkeys(each.execution_id for each in busy), **turns}


def _turns_of(
    session: Session,
    claims: Sequence[Claim],
    rules: Mapping[UUID, Rule],
    now: datetime,
) -> dict[UUID, Wait]:
    if not claims:
        return {}
    turns = _turns(session, claims)
    kept = {id_: slot.at for id_, slot in turns.items() if slot.used_by is None}
    asking = [claim for claim in claims if claim.execution_id not in turns]
    given = give(session, asking, rules, now)
    _take_due(session, claims, turns, now)
    return {
        id_: Wait(at, _sentence(rules[id_]))
        for id_, at in (kept | given).items()
        if at > now
    }


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
