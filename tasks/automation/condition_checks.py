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

CONDITIONS_MAX: Final = 20
VALUE_MAX: Final = 500
FIELD_MAX: Final = 100
#: Field names between dots; what producers tell may be deeper than our own records.
_FIELD: Final = re.compile(r"[A-Za-z_][\w-]*(\.[\w-]+){0,5}", re.ASCII)


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
        return {"conditions": "Conditions have a “match” and a list of “rows”."}
    if conditions.get("match", Match.ALL) not in list(Match):
        return {"conditions": "Say whether all or any of the conditions must hold."}
    if len(rows) > CONDITIONS_MAX:
        return {"conditions": f"A rule has at most {CONDITIONS_MAX} conditions."}
    problems: dict[str, str] = {}
    for number, row in enumerate(rows):
        for part, sentence in _problems_of_row(row, trigger).items():
            problems[f"conditions.{number}.{part}"] = sentence
    return problems


def _problems_of_row(row: object, trigger: Trigger) -> dict[str, str]:
    if not isinstance(row, Mapping) or row.keys() - {"field", "operator", "value"}:
        return {"field": "A condition has a field, an operator and a value."}
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
        return "Choose a field."
    if len(name) > FIELD_MAX or not _FIELD.fullmatch(name):
        return "A field is a name such as booking.status: letters, digits, _ and dots."
    if name in fields_of(trigger):
        return None
    if not is_told(name, trigger):
        near = get_close_matches(name, fields_of(trigger), n=1, cutoff=0.75)
        hint = f" Did you mean {near[0]}?" if near else ""
        return f"There is no field {name} here.{hint}"
    if trigger.is_time:
        return (
            f"Nothing tells {name}: a date comes without values of an application's "
            "own. Choose one of the fields offered."
        )
    return None


def _wrong_operator(operator: object, field: str, kind: Kind) -> str | None:
    if not isinstance(operator, str) or operator not in set(Operator):
        return "Choose how to compare."
    fitting = OPERATORS[kind]
    if operator in fitting:
        return None
    words = ", ".join(WORDS[each] for each in fitting)
    noun = "text" if kind is Kind.TEXT else f"a {kind}"
    return f"{field} is {noun}; it can be compared so: {words}."


def _wrong_value(
    value: object, operator: Operator, field: str, kind: Kind
) -> str | None:
    if operator in WITHOUT_VALUE:
        return None
    text = value.strip() if isinstance(value, str) else ""
    if not text or (operator is Operator.ONE_OF and not choices(text)):
        return "Say what to compare with."
    if len(text) > VALUE_MAX:
        return f"A value has at most {VALUE_MAX} characters; this one has {len(text)}."
    if not text.isprintable():
        return "The value holds characters that do not print; type it anew."
    if operator in {Operator.BEFORE, Operator.AFTER}:
        is_good = moment_of(text) is not None
        return (
            None if is_good else "Write a date such as 2026-03-12 or 2026-03-12 14:00."
        )
    parts = choices(text) if operator is Operator.ONE_OF else [text]
    if kind is Kind.NUMBER or operator in {Operator.LESS, Operator.MORE}:
        wrong = [each for each in parts if number_of(each) is None]
        return f"“{wrong[0]}” is no number; write it as 7 or 2.5." if wrong else None
    return _never(parts, operator, field)


def _never(parts: list[str], operator: Operator, field: str) -> str | None:
    """Return a sentence when a field of few values is compared with none of them."""
    known = values_of(field)
    if not known or operator not in {Operator.IS, Operator.IS_NOT, Operator.ONE_OF}:
        return None
    wrong = [each for each in parts if each.casefold() not in known]
    if not wrong:
        return None
    return f"{field} is never “{wrong[0]}”; it is one of: {', '.join(known)}."
