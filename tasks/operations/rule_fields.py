"""What may stand in a rule; forms and verbs ask here."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any, Final

from tasks.automation.actions import ACTIONS
from tasks.automation.condition_checks import clean_conditions
from tasks.automation.condition_checks import problems_of as problems_of_conditions
from tasks.automation.triggers import TRIGGERS, Trigger
from tasks.errors import InvalidInput
from tasks.models import LatePolicy, OffsetUnit, QuietPolicy
from tasks.operations.rule_limits import clean_limits, problems_of_limits
from tasks.operations.rule_steps import StepChange, clean_steps, problems_of_steps
from tasks.operations.rule_texts import unprintable
from tasks.operations.rule_times import clean_times, problems_of_times
from tasks.saying import mark, say

NAME_MAX: Final = 120
#: The longest offset: nothing is planned further away than ten years.
OFFSET_MAX: Final = timedelta(days=3652)
#: The largest value of each unit within ``OFFSET_MAX``.
OFFSET_LIMITS: Final[Mapping[OffsetUnit, int]] = {
    OffsetUnit.MINUTES: OFFSET_MAX // timedelta(minutes=1),
    OffsetUnit.HOURS: OFFSET_MAX // timedelta(hours=1),
    OffsetUnit.DAYS: OFFSET_MAX // timedelta(days=1),
}

_TEN_YEARS: Final[Mapping[OffsetUnit, str]] = {
    OffsetUnit.MINUTES: mark("At most %(max)s minutes, which are ten years."),
    OffsetUnit.HOURS: mark("At most %(max)s hours, which are ten years."),
    OffsetUnit.DAYS: mark("At most %(max)s days, which are ten years."),
}


@dataclass(frozen=True, slots=True)
class RuleChange:
    """What an operator may say about a rule."""

    name: str
    trigger_type: str
    action: str
    settings: Mapping[str, Any] = field(default_factory=dict)
    podcast_ids: tuple[str, ...] | None = None  # None: every one of the congregation
    offset_value: int = 0  # counts for time.* triggers only
    offset_unit: OffsetUnit = OffsetUnit.HOURS
    offset_at: str | None = None  # "18:00"; counts for calendar days only
    late_policy: LatePolicy = LatePolicy.SKIP  # counts before a date only
    late_limit: int | None = None  # minutes; None: while it helps, 0: not at all
    quiet_from: str | None = None  # "22:00", the recipient's local time
    quiet_until: str | None = None
    quiet_policy: QuietPolicy = QuietPolicy.WAIT
    conditions: Mapping[str, Any] = field(default_factory=dict)  # empty: none
    max_attempts: int = 5
    retry_first_seconds: int = 30
    retry_longest_minutes: int = 360
    rate_limit: int | None = None  # None: as often as it is asked to
    rate_window_minutes: int = 60
    steps: tuple[StepChange, ...] = ()  # after the rule's own action, in their order


class InvalidRule(InvalidInput):
    """A rule cannot be accepted; ``problems`` has a sentence for each wrong field.

    Fields are those of ``RuleChange``, and those of the action's settings.
    """

    def __init__(self, problems: Mapping[str, str]) -> None:
        name, sentence = next(iter(problems.items()))
        super().__init__("invalid_rule", sentence, field=name)
        self.problems = dict(problems)


def clean(change: RuleChange) -> dict[str, Any]:
    """Return a rule's columns as they are kept, without the podcast.

    What does not count for the trigger is put back to its default, so that two rules
    that do the same look the same.

    Raises:
        InvalidRule: with everything that is wrong, not only the first.
    """
    problems = problems_of(change)
    if problems:
        raise InvalidRule(problems)
    trigger = TRIGGERS[change.trigger_type]
    return {
        "name": change.name.strip(),
        "trigger_type": trigger.name,
        "offset_value": change.offset_value if trigger.is_time else 0,
        "offset_unit": change.offset_unit if trigger.is_time else OffsetUnit.HOURS,
        **clean_times(change, trigger),
        "action": change.action,
        "settings": dict(change.settings),
        "conditions": clean_conditions(change.conditions),
        **clean_limits(change),
        "steps": clean_steps(change.steps),
    }


def problems_of(change: RuleChange) -> dict[str, str]:
    """Return what is wrong: field -> sentence; empty means good."""
    problems: dict[str, str] = {}
    if sentence := _wrong_name(change.name):
        problems["name"] = sentence
    trigger = TRIGGERS.get(change.trigger_type)
    if trigger is None:
        problems["trigger_type"] = say("Choose what starts the rule.")
    elif trigger.is_time and (sentence := _wrong_offset(change, trigger)):
        problems["offset_value"] = sentence
    if trigger is not None:
        problems.update(problems_of_times(change, trigger))
        problems.update(problems_of_conditions(change.conditions, trigger))
    problems.update(problems_of_limits(change))
    if change.action not in ACTIONS:
        problems["action"] = say("Choose what the rule does.")
    elif trigger is not None:
        action = ACTIONS[change.action]
        problems.update(action.check(change.settings, change.trigger_type))
    problems.update(unprintable(change.settings))
    problems.update(problems_of_steps(change.steps, trigger))
    return problems


def _wrong_name(text: str) -> str | None:
    name = text.strip()
    if not name:
        return say("Give the rule a name, such as “Reminder on the day before”.")
    if len(name) > NAME_MAX:
        return say(
            "A name has at most %(max)s characters; this one has %(n)s.",
            max=NAME_MAX,
            n=str(len(name)),
        )
    if not name.isprintable():
        return say("The name holds characters that do not print; type it anew.")
    return None


def _wrong_offset(change: RuleChange, trigger: Trigger) -> str | None:
    if change.offset_value < 0:
        if trigger.direction < 0:
            return say("The trigger already says “before”, so give a number from 0 up.")
        return say("The trigger already says “after”, so give a number from 0 up.")
    limit = OFFSET_LIMITS[change.offset_unit]
    if change.offset_value > limit:
        return say(_TEN_YEARS[change.offset_unit], max=str(limit))
    return None
