"""One rule and one event: whether an execution is to come of it, or why not."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from sqlalchemy.orm import Session

from tasks.automation import conditions, loops
from tasks.automation.executions import NewExecution
from tasks.automation.payloads import Report
from tasks.models.base import Json
from tasks.models.reason import Reason
from tasks.models.rule import Rule
from tasks.saying import in_english


@dataclass(frozen=True, slots=True)
class Case:
    """One rule and one event; ``execution`` is there unless a reason forbids it."""

    report: Report
    rule: Rule
    reason: Reason | None = None
    execution: NewExecution | None = None
    detail: str | None = None  # what was seen, beyond what the reason says


def why_unmet(rule: Rule, report: Report, context: Json, now: datetime) -> str | None:
    """Return why the rule's conditions do not hold; ``None``: they do."""
    if not rule.conditions:
        return None
    told = conditions.with_event(context, report.trigger_type, now)
    with in_english():  # decisions keep it
        return conditions.unmet(rule.conditions, told)


def without_loops(session: Session, cases: list[Case], now: datetime) -> list[Case]:
    """Return the cases, those without an execution that would go on for ever."""
    suspects = [
        case.execution
        for case in cases
        if case.execution and loops.could_loop(case.rule, case.report)
    ]
    if not suspects:
        return cases
    stopped = loops.stopped(session, suspects, now)
    return [
        Case(case.report, case.rule, Reason.LOOP_GUARD, detail=stopped.detail)
        if case.execution and case.execution.id in stopped.ids
        else case
        for case in cases
    ]
