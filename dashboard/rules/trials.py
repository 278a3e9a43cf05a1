"""What a rule would do for a real record: nothing is sent, and nothing is written."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy.orm import Session

from tasks.automation.actions import ACTIONS
from tasks.automation.actions.base import CannotCompose, Message
from tasks.automation.composing import Ask, compose_all
from tasks.automation.entities import Record
from tasks.automation.explaining.evidence import look, planned, subject_of, trial
from tasks.automation.explaining.looking import find_rows
from tasks.automation.explaining.parts import sentence_of
from tasks.automation.planner import Wanted
from tasks.automation.quiet import clocks_of
from tasks.automation.recipients import named
from tasks.automation.records import load_records
from tasks.automation.steps import Step, all_steps
from tasks.automation.triggers import TIME_TRIGGERS
from tasks.models import Rule
from tasks.operations.rule_tests import TESTED
from tasks.outbound.layout import UNSUBSCRIBE, html_of
from tasks.saying import say


@dataclass(frozen=True, slots=True)
class StepTrial:
    """What one step of the rule would send."""

    step: Step
    title: str  # of the action
    message: Message | None  # None: it cannot be made
    recipient: str  # empty: nobody
    problem: str  # why the message cannot be made; empty: it can
    at: datetime | None  # None: the rule's date is not known

    @property
    def html(self) -> str:
        """The HTML of a mail as it arrives; empty when it has none."""
        if self.message is None or self.step.action != "email":
            return ""
        return html_of(
            self.message, UNSUBSCRIBE if self.message.get("optional") else None
        )

    @property
    def is_testable(self) -> bool:
        """Whether a test of it can be sent."""
        return self.message is not None and self.step.action in TESTED


@dataclass(frozen=True, slots=True)
class Trial:
    """What a rule would do for one record, if it were to act now."""

    steps: Sequence[StepTrial]
    timezone: str  # of the recipient
    why_not: str | None  # the guard's verdict; None: it would go out
    quiet_until: datetime | None  # it would wait for the quiet hours' end
    is_time: bool  # it counts from a date
    reference_at: datetime | None  # the date that it counts from
    late: str  # why its time would not do any more; empty: it would


def try_rule(session: Session, rule: Rule, record: Record, *, now: datetime) -> Trial:
    """Return what the rule would do for the record; a fixed number of queries.

    What the newest event about the record told besides is part of the messages.
    """
    found = find_rows(session, record, [rule])
    row = trial(rule, record, now, found.event(rule))
    present = look(session, [rule], {rule.id: row}, now)[rule.id]
    plan = planned(rule, subject_of(session, record), now)
    wanted = plan if isinstance(plan, Wanted) else None
    is_time = rule.trigger_type in TIME_TRIGGERS
    begins = wanted.run_at if wanted else None if is_time else now
    clocks = clocks_of(row, load_records(session, [row]))
    late = sentence_of(wanted.reason) if wanted and wanted.reason else ""
    return Trial(
        steps=_steps(rule, present.context, begins),
        timezone=clocks.of(rule.settings),
        why_not=present.why_not,
        quiet_until=present.quiet_until,
        is_time=is_time,
        reference_at=wanted.reference_at if wanted else None,
        late=late,
    )


def _steps(
    rule: Rule, context: dict[str, object], begins: datetime | None
) -> list[StepTrial]:
    steps = all_steps(rule)
    composed = compose_all([Ask(s.action, s.settings, context) for s in steps])
    made: list[StepTrial] = []
    for step, each in zip(steps, composed, strict=True):
        action = ACTIONS.get(step.action)
        made.append(
            StepTrial(
                step=step,
                title=say(action.title) if action else step.action,
                message=None if isinstance(each, CannotCompose) else each.message,
                recipient=""
                if isinstance(each, CannotCompose)
                else named(step.action, each.recipient),
                problem=each.sentence if isinstance(each, CannotCompose) else "",
                at=begins + step.delay if begins else None,
            )
        )
    return made
