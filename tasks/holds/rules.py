"""What is overdue when a rule is switched on again, and what is to become of it."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any, Final
from uuid import UUID

from sqlalchemy import select
from sqlalchemy.orm import Session

from tasks.automation.guard import why_not
from tasks.errors import Conflict, NotFound
from tasks.holds.plans import SAMPLES, Chosen, Outlook, Plan, begin
from tasks.models import (
    SENTENCES,
    Execution,
    ExecutionState,
    Operation,
    OperationKind,
    OperationState,
    Rule,
    ScheduledJob,
)
from tasks.models.base import Json
from tasks.models.operation import OPEN
from tasks.operations.audit import Actor
from tasks.operations.kinds import THEN_ENABLE, Asked, rows_of
from tasks.operations.many import n_meant
from tasks.operations.pieces import PIECE
from tasks.operations.rule_rows import RuleSaved, find_rule
from tasks.operations.rule_switches import enable_rule
from tasks.operations.starting import start

#: Rows of each kind that are looked at before somebody decides.
LOOK_MAX: Final = 200
#: What the lanes are about to take anyway asks for no plan.
_OVERDUE_AFTER: Final = timedelta(minutes=1)
_KINDS: Final[tuple[tuple[OperationKind, type[Any]], ...]] = (
    (OperationKind.RELEASE_EXECUTIONS, Execution),
    (OperationKind.CANCEL_JOBS, ScheduledJob),
)


@dataclass(frozen=True, slots=True)
class Switched:
    """A rule with a plan."""

    saved: RuleSaved | None  # None: it goes on when the operation is done
    operation: Operation | None  # None: there was nothing to be done


def overdue_of(session: Session, rule_id: UUID, now: datetime) -> tuple[int, Outlook]:
    """Return how much of a rule is overdue, and what would happen to the first of it.

    It is looked at as if the rule were on.  Counted to the cap, of each kind.

    Raises:
        NotFound: the session sees no such rule.
        Conflict: it was deleted.
    """
    rule = find_rule(session, rule_id, locked=False)
    n, n_looked, stops = 0, 0, Counter[str]()
    samples: list[UUID] = []
    for kind, model in _KINDS:
        asked = Asked(kind, _overdue(rule_id, now), now)
        n += n_meant(session, asked)
        ids = session.scalars(
            rows_of(session, asked).order_by(model.run_at, model.id).limit(LOOK_MAX)
        )
        rows = session.scalars(select(model).where(model.id.in_(ids.all()))).all()
        found = why_not(session, rows, now=now, rules={rule_id: _as_on(rule)})
        stops.update(SENTENCES[reason] for reason in found.values())
        n_looked += len(rows)
        samples += [row.id for row in rows if row.id not in found][:SAMPLES]
    return n, Outlook(n_looked, n_looked - stops.total(), stops, samples, LOOK_MAX)


def enable_with(
    session: Session,
    rule_id: UUID,
    chosen: Chosen,
    actor: Actor,
    *,
    now: datetime,
    also_coming: bool = False,
) -> Switched:
    """Switch a rule on; what is overdue is sent, spread, or dropped before that.

    Scheduled jobs are not spread: they become executions when their lane takes them.

    Raises:
        NotFound: the session sees no such rule.
        Conflict: it was deleted.
        InvalidInput: the minutes are out of bounds.
    """
    find_rule(session, rule_id)
    matching = _overdue(rule_id, chosen.high_water)
    if chosen.plan is Plan.DROP:
        then = matching | {THEN_ENABLE: str(rule_id)}
        operation = _drop(session, then, chosen, actor, now)
        if operation is not None and operation.state is not OperationState.DONE:
            return Switched(None, operation)
    saved = enable_rule(session, rule_id, actor, now=now, also_coming=also_coming)
    asked = Asked(OperationKind.RELEASE_EXECUTIONS, matching, chosen.high_water)
    if chosen.plan is not Plan.SPREAD or not n_meant(session, asked, 1):
        return Switched(saved, None)
    return Switched(saved, begin(session, matching, chosen, actor, now=now))


def enable_afterwards(session: Session, operation: Operation, now: datetime) -> None:
    """Switch the rule on that waited for an operation to be done, if there is one."""
    if (text := operation.matching.get(THEN_ENABLE)) is None:
        return
    others = select(Operation.id).where(
        Operation.id != operation.id,
        Operation.state.in_(OPEN),
        Operation.matching[THEN_ENABLE].as_string() == text,
    )
    if session.scalar(others.limit(1)) is not None:
        return  # the last of them does it
    try:
        enable_rule(session, UUID(text), Actor(operation.actor), now=now)
    except (NotFound, Conflict):
        return  # it was deleted meanwhile


def _drop(
    session: Session, matching: Json, chosen: Chosen, actor: Actor, now: datetime
) -> Operation | None:
    """Begin to cancel what is overdue; returns what of it is shown, if anything is."""
    kinds = (OperationKind.CANCEL_JOBS, OperationKind.DROP_EXECUTIONS)
    asked = [Asked(kind, matching, chosen.high_water) for kind in kinds]
    counted = [(each, n) for each in asked if (n := n_meant(session, each))]
    operation = None
    for place, (each, n) in enumerate(counted, 1):
        is_last = place == len(counted)
        if not is_last and n <= PIECE:  # done at once, and then there is more to do
            rest = {name: v for name, v in matching.items() if name != THEN_ENABLE}
            each = replace(each, matching=rest)
        # Pressed twice, each of them has the id that it had.
        id_ = UUID(int=chosen.operation_id.int ^ (not is_last))
        operation = start(session, id_, each, actor, now=now)
    return operation


def _overdue(rule_id: UUID, now: datetime) -> Json:
    return {
        "state": ExecutionState.PENDING.value,
        "rule_id": str(rule_id),
        "late_before": (now - _OVERDUE_AFTER).isoformat(),
    }


def _as_on(rule: Rule) -> Rule:
    """Return a copy of a rule, of no session, that is switched on."""
    names = (each.key for each in Rule.__mapper__.column_attrs)
    return Rule(**{name: getattr(rule, name) for name in names} | {"enabled": True})
