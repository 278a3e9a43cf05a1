"""What a rule does later: its steps, each an execution of its own.

The rule's own action is step 0, and happens at once.  A later step has a number that
no other step of the rule ever gets, so an execution knows its step whatever became of
the order; it is made together with that of step 0, due when its delay is over.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any, Final
from uuid import UUID

from sqlalchemy.orm import Session

from tasks.automation.executions import NewExecution, insert_executions
from tasks.automation.keys import step_key
from tasks.automation.recipients import recipient_of
from tasks.models.base import Json, new_id
from tasks.models.rule import Rule

#: The rule's own action.
FIRST: Final = 0


@dataclass(frozen=True, slots=True)
class Step:
    """One thing that a rule does."""

    number: int  # within the rule, for ever; FIRST is the rule's own action
    delay: timedelta  # after the rule fired
    action: str
    settings: Mapping[str, Any]
    max_attempts: int

    def as_json(self) -> Json:
        """Return it as a rule keeps it; the delay in whole minutes."""
        return {
            "number": self.number,
            "delay": self.delay // timedelta(minutes=1),
            "action": self.action,
            "settings": dict(self.settings),
            "max_attempts": self.max_attempts,
        }


def later_steps(rule: Rule) -> list[Step]:
    """Return what the rule does after its own action, in the operator's order."""
    return [
        Step(
            number=each["number"],
            delay=timedelta(minutes=each["delay"]),
            action=each["action"],
            settings=each["settings"],
            max_attempts=each["max_attempts"],
        )
        for each in rule.steps or ()  # None: not saved yet
    ]


def all_steps(rule: Rule) -> list[Step]:
    """Return everything that the rule does, its own action first."""
    return [_first(rule), *later_steps(rule)]


def step_of(rule: Rule, number: int) -> Step | None:
    """Return one step; ``None`` when it was taken out of the rule."""
    if number == FIRST:
        return _first(rule)
    return next((each for each in later_steps(rule) if each.number == number), None)


def place_of(rule: Rule, number: int) -> int | None:
    """Return the step's place as operators count, from 1; ``None``: taken out."""
    numbers = [FIRST, *(each["number"] for each in rule.steps)]
    return numbers.index(number) + 1 if number in numbers else None


def secret_of(rule: Rule, number: int) -> str | None:
    """Return what one step keeps sealed: its own secret, else the signing secret."""
    kept = rule.step_secrets  # most rules have none
    sealed: str | None = kept.get(str(number), rule.secret) if kept else rule.secret
    return sealed


def follow_up(
    session: Session, fired: Iterable[tuple[Rule, NewExecution]], now: datetime
) -> set[UUID]:
    """Insert the later steps of rules that just fired; returns the new ids.

    Costs nothing where no rule has steps.  Caller commits.

    Args:
        fired: each rule with the execution of its own action, which is really new.
    """
    rows: Sequence[NewExecution] = [
        _follower(first, step, now)
        for rule, first in fired
        if rule.steps
        for step in later_steps(rule)
    ]
    return insert_executions(session, rows) if rows else set()


def _first(rule: Rule) -> Step:
    return Step(
        FIRST, timedelta(0), rule.action, rule.settings, max_attempts=rule.max_attempts
    )


def _follower(first: NewExecution, step: Step, now: datetime) -> NewExecution:
    due = now + step.delay
    return replace(
        first,
        id=new_id(now),
        step=step.number,
        action=step.action,
        recipient=recipient_of(step, first.context),
        idempotency_key=step_key(first.idempotency_key, step.number),
        due_at=due,
        run_at=due,
        max_attempts=step.max_attempts,
    )
