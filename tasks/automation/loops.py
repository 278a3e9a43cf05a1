"""The loop guard: chains of rules, and a rule that acts on one thing again and again.

What a rule does may come back as an event: a webhook's receiver reports a change, a
guest who was mailed responds.  When that event starts the same rule, it never ends.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final
from uuid import UUID

from sqlalchemy import func, select, union_all
from sqlalchemy.orm import Session

from tasks.automation.executions import NewExecution
from tasks.automation.payloads import Report
from tasks.automation.records import chunks
from tasks.automation.triggers import TRIGGERS
from tasks.config import LOOP_RATE
from tasks.lookups import among_keys
from tasks.models.base import born_from
from tasks.models.execution import Execution
from tasks.models.rule import Rule

#: An event that more rules than this led to fires none.
DEPTH_MAX: Final = 3
#: How far back a rule's executions are counted.
SPAN: Final = timedelta(hours=1)
#: Of a rule's executions that are about no booking, the newest so many are counted: a
#: loop is fast enough to be among them, and no index is read to its end.  Ids rise with
#: time, and the rule's index has them.
NEWEST: Final = 1_000

#: A rule, and the booking, or else the episode and the guest, that it acts on.
Turn = tuple[UUID, str | None, str | None, str | None]


@dataclass(frozen=True, slots=True)
class Stopped:
    """Executions that the guard keeps from being made."""

    ids: frozenset[UUID]
    detail: str


def is_too_deep(report: Report) -> bool:
    """Whether too many rules led to the event."""
    return report.depth > DEPTH_MAX


def could_loop(rule: Rule, report: Report) -> bool:
    """Whether what the rule does may come back as the event that starts it.

    An event without an id of its own fires a rule once a day, which ends any loop.  A
    mail is answered by people, and what they do are the events about guests.
    """
    if report.external_id is None:
        return False
    trigger = TRIGGERS.get(report.trigger_type)
    actions = {rule.action, *(str(step["action"]) for step in rule.steps)}
    is_about_guests = trigger is not None and trigger.subject == "guest"
    return report.depth > 0 or is_about_guests or actions != {"email"}


def stopped(session: Session, wanted: Sequence[NewExecution], now: datetime) -> Stopped:
    """Return what must not be made, since its rule acted too often on the same.

    Two queries for up to 500 executions of rules that could loop; none for others.
    """
    limit = session.get_bind().get_execution_options().get("loop_rate", LOOP_RATE)
    turns = {each.id: turn for each in wanted if (turn := _turn(each)) is not None}
    counted = _counted(session, wanted, set(turns.values()), now)
    ids: set[UUID] = set()
    for each in wanted:
        turn = turns.get(each.id)
        if turn is None:
            continue
        if counted[turn] >= limit:
            ids.add(each.id)
        counted[turn] += 1
    detail = f"It had acted on the same {limit} times within an hour."
    return Stopped(frozenset(ids), detail)


def _turn(of: NewExecution | Execution) -> Turn | None:
    if of.booking_id:
        return of.rule_id, of.booking_id, None, None
    if of.episode_id or of.guest_id:
        return of.rule_id, None, of.episode_id, of.guest_id
    return None


def _counted(
    session: Session, wanted: Sequence[NewExecution], turns: set[Turn], now: datetime
) -> Counter[Turn]:
    bookings = {
        (each.congregation_id, each.booking_id) for each in wanted if each.booking_id
    }
    others = {rule_id for rule_id, booking, _, _ in turns if booking is None}
    counted: Counter[Turn] = Counter()
    counted.update(_of_bookings(session, bookings, now - SPAN))
    counted.update(_of_rules(session, others, now - SPAN))
    return counted


def _of_bookings(
    session: Session, keys: Iterable[tuple[UUID, str]], since: datetime
) -> dict[Turn, int]:
    found: dict[Turn, int] = {}
    for chunk in chunks(sorted(keys)):
        rows = session.execute(
            select(Execution.rule_id, Execution.booking_id, func.count())
            .where(
                among_keys(
                    session, (Execution.congregation_id, Execution.booking_id), chunk
                ),
                Execution.created_at > since,
                Execution.step == 0,
            )
            .group_by(Execution.rule_id, Execution.booking_id)
        )
        found.update({(rule, booking, None, None): n for rule, booking, n in rows})
    return found


def _of_rules(
    session: Session, rule_ids: Iterable[UUID], since: datetime
) -> dict[Turn, int]:
    newest = [
        select(Execution.rule_id, Execution.episode_id, Execution.guest_id)
        .where(
            Execution.rule_id == rule_id,
            Execution.id >= born_from(since),
            Execution.booking_id.is_(None),
            Execution.step == 0,
        )
        .order_by(Execution.id.desc())
        .limit(NEWEST)
        .subquery()
        for rule_id in sorted(rule_ids)
    ]
    found: dict[Turn, int] = {}
    for some in chunks(newest):  # SQLite puts no more SELECTs together
        rows = union_all(*(select(each) for each in some)).subquery()
        counted = session.execute(select(*rows.c, func.count()).group_by(*rows.c))
        found.update({(row[0], None, row[1], row[2]): row[3] for row in counted})
    return found
