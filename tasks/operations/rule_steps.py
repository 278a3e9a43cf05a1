"""What may stand in a rule's later steps, and which number each gets."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any, Final

from tasks.automation.actions import ACTIONS
from tasks.automation.triggers import Trigger
from tasks.models import Rule
from tasks.models.base import Json
from tasks.operations.rule_limits import ATTEMPTS_MAX
from tasks.operations.rule_texts import unprintable
from tasks.saying import say

#: Steps after the rule's own action.
STEPS_MAX: Final = 10
#: The longest delay, in minutes: a year.
DELAY_MAX: Final = timedelta(days=365) // timedelta(minutes=1)


@dataclass(frozen=True, slots=True)
class StepChange:
    """What an operator may say about one later step."""

    action: str
    delay: int  # minutes after the rule fired
    settings: Mapping[str, Any] = field(default_factory=dict)
    max_attempts: int = 5
    number: int | None = None  # of a step that the rule has; None: a new one


def problems_of_steps(
    steps: Sequence[StepChange], trigger: Trigger | None
) -> dict[str, str]:
    """Return what is wrong: ``steps.<place from 0>.<field>`` -> sentence."""
    if len(steps) > STEPS_MAX:
        return {"steps": say("A rule has at most %(max)s later steps.", max=STEPS_MAX)}
    return {
        f"steps.{place}.{name}": sentence
        for place, step in enumerate(steps)
        for name, sentence in _problems_of(step, trigger).items()
    }


def clean_steps(steps: Sequence[StepChange]) -> list[Json]:
    """Return checked steps as a rule keeps them; ``number_steps`` ends it."""
    return [
        {
            "number": step.number,
            "delay": step.delay,
            "action": step.action,
            "settings": dict(step.settings),
            "max_attempts": step.max_attempts,
        }
        for step in steps
    ]


def number_steps(values: dict[str, Any], rule: Rule | None) -> None:
    """Give each new step a number that no other step of the rule had or will have.

    Args:
        values: a rule's columns; ``steps`` is changed, ``n_steps`` is added.
        rule: as it is; None: it is about to be made.
    """
    free = {each["number"] for each in rule.steps} if rule else set()
    n_steps = rule.n_steps if rule else 0
    for step in values["steps"]:
        if step["number"] in free:
            free.remove(step["number"])
        else:
            n_steps += 1
            step["number"] = n_steps
    values["n_steps"] = n_steps


def _problems_of(step: StepChange, trigger: Trigger | None) -> dict[str, str]:
    problems: dict[str, str] = {}
    if not 0 <= step.delay <= DELAY_MAX:
        problems["delay"] = say("Choose a time from 0 minutes to 365 days.")
    if not 1 <= step.max_attempts <= ATTEMPTS_MAX:
        problems["max_attempts"] = say(
            "Choose 1 to %(max)s attempts.", max=ATTEMPTS_MAX
        )
    if step.action not in ACTIONS:
        problems["action"] = say("Choose what the step does.")
    elif trigger is not None:
        problems.update(ACTIONS[step.action].check(step.settings, trigger.name))
    problems.update(unprintable(step.settings))
    return problems
