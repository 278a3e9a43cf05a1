"""Holding rules that make far more executions than usual."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Final
from uuid import UUID

from sqlalchemy import select
from sqlalchemy.orm import Session

from tasks.bulk import among
from tasks.errors import InvalidInput
from tasks.holds.setting import audit
from tasks.holds.volumes import Usual, counts_of, hour_of, usual_of
from tasks.models import Hold, HoldKind, VolumeLimit
from tasks.operations.audit import SYSTEM, Actor, Subject, record
from tasks.operations.rule_rows import find_rule
from tasks.saying import say

HELD_BY: Final = "Carillon"
#: The largest limit that can be set for a rule.
LIMIT_MAX: Final = 10_000_000


def hold_unusual(
    session: Session, rule_ids: Sequence[UUID], now: datetime
) -> list[UUID]:
    """Hold those of the rules that make too many; return them.  Caller commits."""
    counts = counts_of(session, rule_ids, hour_of(now))
    usual = usual_of(session, list(counts), now)
    over = {
        rule_id: n
        for rule_id, (n, _) in counts.items()
        if (above := usual[rule_id].above) is not None and n > above
    }
    held = _held(session, list(over))
    new = [rule_id for rule_id in over if rule_id not in held]
    for rule_id in new:
        _hold(session, rule_id, counts[rule_id], usual[rule_id], now)
    session.flush()
    return new


def _held(session: Session, rule_ids: Sequence[UUID]) -> set[UUID]:
    rows = session.scalars(
        select(Hold.rule_id).where(
            among(session, Hold.rule_id, rule_ids),
            Hold.kind == HoldKind.VOLUME,
            Hold.lifted_at.is_(None),
        )
    )
    return {rule_id for rule_id in rows if rule_id is not None}


def _hold(
    session: Session,
    rule_id: UUID,
    counted: tuple[int, UUID],
    usual: Usual,
    now: datetime,
) -> None:
    n, congregation_id = counted
    row = Hold(
        kind=HoldKind.VOLUME,
        congregation_id=congregation_id,
        rule_id=rule_id,
        why=why_of(n, usual),
        held_by=HELD_BY,
        held_at=now,
        n_seen=n,
        n_usual=usual.busiest,
    )
    session.add(row)
    audit(session, row, SYSTEM, "set", f"Held a rule for its volume: {row.why}")


def why_of(n: int, usual: Usual) -> str:
    """Return why a rule is held.

    >>> why_of(1200, Usual(500, 100))
    '1200 executions within an hour; the busiest hour before had 100.'
    >>> why_of(51, Usual(50, None))
    '51 executions within an hour; more than 50 are held.'
    """
    said = f"{n} executions within an hour"
    if usual.busiest is None:
        return f"{said}; more than {usual.above} are held."
    return f"{said}; the busiest hour before had {usual.busiest}."


def limit_volume(
    session: Session,
    rule_id: UUID,
    hold_above: int | None,
    actor: Actor,
    *,
    now: datetime,
) -> None:
    """Say from how many executions an hour on a rule is held; None: never.

    Raises:
        NotFound: the session sees no such rule.
        Conflict: the rule was deleted.
        InvalidInput: the number is out of bounds.
    """
    rule = find_rule(session, rule_id)
    if hold_above is not None and not 1 <= hold_above <= LIMIT_MAX:
        raise InvalidInput(
            "limit_out_of_bounds",
            say(
                "Give a number of executions an hour from 1 to %(max)s.",
                max=str(LIMIT_MAX),
            ),
            field="hold_above",
        )
    row = session.get(VolumeLimit, rule_id) or VolumeLimit(
        rule_id=rule_id, congregation_id=rule.congregation_id
    )
    row.hold_above, row.set_by, row.set_at = hold_above, actor.name, now
    session.add(row)
    session.flush()
    said = "never" if hold_above is None else f"above {hold_above} an hour"
    _record(session, rule_id, rule.congregation_id, actor, f"Held for volume {said}.")


def watch_volume(session: Session, rule_id: UUID, actor: Actor) -> None:
    """Let a rule's history decide again when it is held.

    Raises:
        NotFound: the session sees no such rule.
        Conflict: the rule was deleted.
    """
    rule = find_rule(session, rule_id)
    row = session.get(VolumeLimit, rule_id)
    if row is None:
        return
    session.delete(row)
    session.flush()
    told = "Held for volume when it is unusual."
    _record(session, rule_id, rule.congregation_id, actor, told)


def _record(
    session: Session, rule_id: UUID, of: UUID, actor: Actor, summary: str
) -> None:
    subject = Subject("rule", str(rule_id), of)
    record(session, actor, "rule.volume_limited", subject, summary)
