"""Which conditions a rule may have; forms, imports and verbs ask here."""

from __future__ import annotations

import re
from collections.abc import Mapping
from difflib import get_close_matches
from typing import Any, Final

from tasks.automation.comparing import moment_of, number_of
from tasks.automation.condition_fields import (
    OPERATORS,
    Kind,
    fields_of,
    is_told,
    kind_of,
    values_of,
)
from tasks.automation.condition_rows import (
    WITHOUT_VALUE,
    WORDS,
    Condition,
    Match,
    Operator,
    choices,
    match_of,
    rows_of,
)
from tasks.automation.triggers import Trigger
from tasks.models.base import Json
from tasks.saying import mark, say

CONDITIONS_MAX: Final = 20
VALUE_MAX: Final = 500
FIELD_MAX: Final = 100
#: Field names between dots; what producers tell may be deeper than our own records.
_FIELD: Final = re.compile(r"[A-Za-z_][\w-]*(\.[\w-]+){0,5}", re.ASCII)

_WRONG_KIND: Final[Mapping[Kind, str]] = {
    Kind.TEXT: mark("%(field)s is text; it can be compared so: %(words)s."),
    Kind.NUMBER: mark("%(field)s is a number; it can be compared so: %(words)s."),
    Kind.DATE: mark("%(field)s is a date; it can be compared so: %(words)s."),
    Kind.TOLD: "",  # every comparison fits
}


def clean_conditions(conditions: Mapping[str, Any]) -> Json:
    """Return conditions as they are kept; ``problems_of`` found nothing before."""
    rows = rows_of(conditions)
    if not rows:
        return {}
    kept = [
        Condition(row.field.strip(), row.operator, row.value.strip()).as_json
        for row in rows
    ]
    return {"match": match_of(conditions).value, "rows": kept}


def problems_of(conditions: Mapping[str, Any], trigger: Trigger) -> dict[str, str]:
    """Return what is wrong: ``conditions.0.value`` -> sentence; empty means good.

    Rows are counted from 0.
    """
    if not conditions:
        return {}
    rows = conditions.get("rows", [])
    if conditions.keys() - {"match", "rows"} or not isinstance(rows, list):
        return {"conditions": say("Conditions have a “match” and a list of “rows”.")}
    if conditions.get("match", Match.ALL) not in list(Match):
        return {
            "conditions": say("Say whether all or any of the conditions must hold.")
        }
    if len(rows) > CONDITIONS_MAX:
        return {
            "conditions": say(
                "A rule has at most %(max)s conditions.", max=CONDITIONS_MAX
            )
        }
    problems: dict[str, str] = {}
    for number, row in enumerate(rows):
        for part, sentence in _problems_of_row(row, trigger).items():
            problems[f"conditions.{number}.{part}"] = sentence
    return problems


def _problems_of_row(row: object, trigger: Trigger) -> dict[str, str]:
    if not isinstance(row, Mapping) or row.keys() - {"field", "operator", "value"}:
        return {"field": say("A condition has a field, an operator and a value.")}
    field, operator, value = (row.get(n, "") for n in ("field", "operator", "value"))
    if sentence := _wrong_field(field, trigger):
        return {"field": sentence}
    kind = kind_of(field.strip(), trigger)
    if sentence := _wrong_operator(operator, field.strip(), kind):
        return {"operator": sentence}
    sentence = _wrong_value(value, Operator(operator), field.strip(), kind)
    return {"value": sentence} if sentence else {}


def _wrong_field(field: object, trigger: Trigger) -> str | None:
    name = field.strip() if isinstance(field, str) else ""
    if not name:
        return say("Choose a field.")
    if len(name) > FIELD_MAX or not _FIELD.fullmatch(name):
        return say(
            "A field is a name such as booking.status: letters, digits, _ and dots."
        )
    if name in fields_of(trigger):
        return None
    if not is_told(name, trigger):
        near = get_close_matches(name, fields_of(trigger), n=1, cutoff=0.75)
        none = say("There is no field %(name)s here.", name=name)
        return f"{none} {say('Did you mean %(name)s?', name=near[0])}" if near else none
    if trigger.is_time:
        return say(
            "Nothing tells %(name)s: a date comes without values of an application's "
            "own. Choose one of the fields offered.",
            name=name,
        )
    return None


def _wrong_operator(operator: object, field: str, kind: Kind) -> str | None:
    if not isinstance(operator, str) or operator not in set(Operator):
        return say("Choose how to compare.")
    fitting = OPERATORS[kind]
    if operator in fitting:
        return None
    words = ", ".join(say(WORDS[each]) for each in fitting)
    return say(_WRONG_KIND[kind], field=field, words=words)


def _wrong_value(
    value: object, operator: Operator, field: str, kind: Kind
) -> str | None:
    if operator in WITHOUT_VALUE:
        return None
    text = value.strip() if isinstance(value, str) else ""
    if not text or (operator is Operator.ONE_OF and not choices(text)):
        return say("Say what to compare with.")
    if len(text) > VALUE_MAX:
        return say(
            "A value has at most %(max)s characters; this one has %(n)s.",
            max=VALUE_MAX,
            n=str(len(text)),
        )
    if not text.isprintable():
        return say("The value holds characters that do not print; type it anew.")
    if operator in {Operator.BEFORE, Operator.AFTER}:
        if moment_of(text) is not None:
            return None
        return say("Write a date such as 2026-03-12 or 2026-03-12 14:00.")
    parts = choices(text) if operator is Operator.ONE_OF else [text]
    if kind is Kind.NUMBER or operator in {Operator.LESS, Operator.MORE}:
        wrong = [each for each in parts if number_of(each) is None]
        return (
            say("“%(value)s” is no number; write it as 7 or 2.5.", value=wrong[0])
            if wrong
            else None
        )
    return _never(parts, operator, field)


def _never(parts: list[str], operator: Operator, field: str) -> str | None:
    """Return a sentence when a field of few values is compared with none of them."""
    known = values_of(field)
    if not known or operator not in {Operator.IS, Operator.IS_NOT, Operator.ONE_OF}:
        return None
    wrong = [each for each in parts if each.casefold() not in known]
    if not wrong:
        return None
    return say(
        "%(field)s is never “%(value)s”; it is one of: %(values)s.",
        field=field,
        value=wrong[0],
        values=", ".join(known),
    )
