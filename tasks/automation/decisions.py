"""Writing down what every rule made of an event or a date."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from datetime import datetime
from typing import Final
from uuid import UUID

from sqlalchemy.orm import Session

from tasks.bulk import insert_many
from tasks.models.base import new_id
from tasks.models.event import Decision, DecisionOutcome
from tasks.models.reason import Reason
from tasks.models.rule import Rule

#: Rules of other podcasts noted for one event or one plan: enough to explain, without
#: a row for every rule of a large congregation.
OUT_OF_SCOPE_MAX: Final = 20


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """One evaluation of one rule."""

    congregation_id: UUID
    rule_id: UUID
    rule_version: int
    outcome: DecisionOutcome
    event_id: UUID | None = None
    entity_id: str | None = None
    reason: Reason | None = None  # None for a yes
    detail: str | None = None  # what was seen, in a sentence
    execution_id: UUID | None = None
    scheduled_job_id: UUID | None = None


def verdict(
    rule: Rule,
    outcome: DecisionOutcome,
    *,
    event_id: UUID | None = None,
    entity_id: str | None = None,
    reason: Reason | None = None,
    detail: str | None = None,
    execution_id: UUID | None = None,
    scheduled_job_id: UUID | None = None,
) -> Verdict:
    """Return a verdict of ``rule`` as it is now."""
    return Verdict(
        congregation_id=rule.congregation_id,
        rule_id=rule.id,
        rule_version=rule.version,
        outcome=outcome,
        event_id=event_id,
        entity_id=entity_id,
        reason=reason,
        detail=detail,
        execution_id=execution_id,
        scheduled_job_id=scheduled_job_id,
    )


def record(session: Session, verdicts: Sequence[Verdict], now: datetime) -> None:
    """Insert the verdicts in one statement; the caller commits."""
    if verdicts:
        table = Decision.metadata.tables[Decision.__tablename__]
        insert_many(session, table, [_row(each, now) for each in verdicts])


_NAMES: Final = tuple(each.name for each in fields(Verdict))


def _row(each: Verdict, now: datetime) -> dict[str, object]:
    # Not asdict: it copies deeply, which costs more than the rest of the batch.
    row: dict[str, object] = {name: getattr(each, name) for name in _NAMES}
    return row | {"id": new_id(), "created_at": now}
