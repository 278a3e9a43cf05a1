"""What every rule made of one event, and why those that said nothing did not."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final
from uuid import UUID

from sqlalchemy import Select, case, exists, func, select
from sqlalchemy.orm import Session

from dashboard.paging import Page, paginate
from tasks.automation.explaining.events import why_undecided
from tasks.lane import COUNT_CAP
from tasks.models import Decision, DecisionOutcome, Event, Execution, Rule

#: Rules of the event's trigger without a decision that are named.
SILENT_MAX: Final = 20


@dataclass(frozen=True, slots=True)
class Verdict:
    """What one rule made of the event, and what became of that."""

    decision: Decision
    rule: Rule
    execution: Execution | None  # None: there is none, or it is gone by now


@dataclass(frozen=True, slots=True)
class Silence:
    """The rules that left no decision."""

    rules: Sequence[tuple[Rule, str]]  # of the same trigger, each with the reason
    n_same: int  # of the same trigger; counting stops at COUNT_CAP
    n_other: int  # of other triggers; counting stops at COUNT_CAP


def verdicts(
    session: Session, event_id: UUID, cursor: str | None, limit: int
) -> Page[Verdict]:
    """Return a page of what the rules made of the event: the yes first.

    Raises:
        InvalidInput: ``bad_cursor``.
    """
    is_no = case((Decision.outcome == DecisionOutcome.NO, 1), else_=0)
    statement = (
        select(Decision, Rule, Execution)
        .join(Rule, Rule.id == Decision.rule_id)
        .outerjoin(Execution, Execution.id == Decision.execution_id)
        .where(Decision.event_id == event_id)
    )
    page = paginate(session, statement, (is_no, Decision.id), cursor, limit)
    rows = [Verdict(*row) for row in page.rows]
    return Page(rows, page.next_cursor, page.previous_cursor)


def silence(session: Session, event: Event) -> Silence:
    """Return the rules that left no decision; three queries."""
    is_same = Rule.trigger_type == event.type
    decided = exists().where(Decision.event_id == event.id, Decision.rule_id == Rule.id)
    rules = select(Rule).where(
        Rule.congregation_id == event.congregation_id, Rule.deleted_at.is_(None)
    )
    silent = rules.where(is_same, ~decided)
    named = session.scalars(silent.order_by(Rule.name, Rule.id).limit(SILENT_MAX))
    return Silence(
        rules=[(rule, why_undecided(rule, event)) for rule in named],
        n_same=_count(session, silent),
        n_other=_count(session, rules.where(~is_same)),
    )


def _count(session: Session, rules: Select[Rule]) -> int:
    some = rules.with_only_columns(Rule.id).limit(COUNT_CAP).subquery()
    return session.scalar(select(func.count()).select_from(some)) or 0
