"""Conditions of a rule: what must hold besides its trigger, and what was seen instead.

Kept in ``Rule.conditions`` as ``{"match": "all", "rows": [{"field": "booking.status",
"operator": "is", "value": "confirmed"}]}``; an empty object asks for nothing.  Texts
are compared without regard to case and to space around them.  A field that is missing
or has no value meets ``is empty`` only.  Nothing here raises, whatever the JSON is.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Any, Final

from tasks.automation import comparing
from tasks.models.base import Json

DETAIL_MAX: Final = 500
_SEEN_MAX: Final = 80


class Match(StrEnum):
    """How many of the conditions must hold."""

    ALL = "all"
    ANY = "any"


class Operator(StrEnum):
    """What is asked of a field's value."""

    IS = "is"
    IS_NOT = "is_not"
    CONTAINS = "contains"
    CONTAINS_NOT = "contains_not"
    STARTS_WITH = "starts_with"
    ONE_OF = "one_of"
    LESS = "less"
    MORE = "more"
    BEFORE = "before"
    AFTER = "after"
    TRUE = "true"
    FALSE = "false"
    EMPTY = "empty"
    NOT_EMPTY = "not_empty"


_O = Operator

#: Operators as they stand in a sentence, and in the form's select.
WORDS: Final[Mapping[Operator, str]] = {
    _O.IS: "is",
    _O.IS_NOT: "is not",
    _O.CONTAINS: "contains",
    _O.CONTAINS_NOT: "does not contain",
    _O.STARTS_WITH: "starts with",
    _O.ONE_OF: "is one of",
    _O.LESS: "is less than",
    _O.MORE: "is more than",
    _O.BEFORE: "is before",
    _O.AFTER: "is after",
    _O.TRUE: "is true",
    _O.FALSE: "is false",
    _O.EMPTY: "is empty",
    _O.NOT_EMPTY: "is not empty",
}
#: Operators that compare with nothing.
WITHOUT_VALUE: Final = frozenset({_O.TRUE, _O.FALSE, _O.EMPTY, _O.NOT_EMPTY})


@dataclass(frozen=True, slots=True)
class Condition:
    """One row: ``field`` is dotted, as in messages."""

    field: str
    operator: Operator
    value: str = ""

    def __str__(self) -> str:
        """Return it as a part of a sentence."""
        words = f"{self.field} {WORDS[self.operator]}"
        return words if self.operator in WITHOUT_VALUE else f"{words} “{self.value}”"

    @property
    def as_json(self) -> Json:
        """Return it as it is kept."""
        return {"field": self.field, "operator": self.operator.value} | (
            {} if self.operator in WITHOUT_VALUE else {"value": self.value}
        )


def unmet(conditions: Mapping[str, Any], context: Mapping[str, Any]) -> str | None:
    """Return why the conditions do not hold, in a sentence; ``None``: they hold.

    Args:
        context: what messages are made from, with its section ``event``.
    """
    if not conditions:
        return None
    rows = rows_of(conditions)
    if not rows:
        return "The rule's conditions cannot be read; save the rule anew."
    failed = [
        (row, seen)
        for row in rows
        if not _holds(row, seen := comparing.value_at(context, row.field))
    ]
    if match_of(conditions) is Match.ANY:
        if len(failed) < len(rows):
            return None
        each = "; ".join(f"{row} (seen: {_shown(seen)})" for row, seen in failed)
        return _cut(f"Wanted one of: {each}.")
    if not failed:
        return None
    row, seen = failed[0]
    return _cut(f"Wanted: {row}. Seen: {_shown(seen)}.")


def sentence(conditions: Mapping[str, Any]) -> str:
    """Return the conditions as the middle of a sentence; empty when there are none.

    >>> sentence({"match": "any", "rows": [{"field": "guest.email", "operator":
    ...     "empty"}, {"field": "booking.status", "operator": "is", "value": "x"}]})
    'guest.email is empty or booking.status is “x”'
    """
    word = " or " if match_of(conditions) is Match.ANY else " and "
    return word.join(map(str, rows_of(conditions)))


def with_event(context: Json, trigger_type: str, at: datetime) -> Json:
    """Return a context with its section ``event``, as conditions and messages see it.

    Args:
        at: when the rule was to act.
    """
    return context | {"event": {"type": trigger_type, "occurred_at": at.isoformat()}}


def match_of(conditions: Mapping[str, Any]) -> Match:
    """Return how many of the conditions must hold."""
    return Match.ANY if conditions.get("match") == Match.ANY else Match.ALL


def rows_of(conditions: Mapping[str, Any]) -> tuple[Condition, ...]:
    """Return the rows; none at all when one of them is no condition."""
    rows = conditions.get("rows")
    try:
        return tuple(_read(rows)) if isinstance(rows, list) else ()
    except (KeyError, TypeError, ValueError):
        return ()


def _read(rows: list[Any]) -> Iterator[Condition]:
    for row in rows:
        yield Condition(
            str(row["field"]), Operator(row["operator"]), str(row.get("value", ""))
        )


def _holds(row: Condition, seen: object) -> bool:
    match row.operator:
        case Operator.EMPTY:
            return comparing.is_empty(seen)
        case _ if comparing.is_empty(seen):
            return False
        case Operator.NOT_EMPTY:
            return True
        case Operator.TRUE | Operator.FALSE:
            return comparing.is_same(seen, row.operator.value)
        case Operator.LESS | Operator.MORE:
            order = comparing.order_of_numbers(seen, row.value)
        case Operator.BEFORE | Operator.AFTER:
            order = comparing.order_of_dates(seen, row.value)
        case _:
            return _text_holds(row, seen)
    wanted = 1 if row.operator in {Operator.MORE, Operator.AFTER} else -1
    return order == wanted


def _text_holds(row: Condition, seen: object) -> bool:
    match row.operator:
        case Operator.IS:
            return comparing.is_same(seen, row.value)
        case Operator.IS_NOT:
            return not comparing.is_same(seen, row.value)
        case Operator.CONTAINS:
            return comparing.contains(seen, row.value)
        case Operator.CONTAINS_NOT:
            return not comparing.contains(seen, row.value)
        case Operator.STARTS_WITH:
            return comparing.starts_with(seen, row.value)
        case _:
            return any(comparing.is_same(seen, each) for each in choices(row.value))


def choices(value: str) -> list[str]:
    """Return what ``is one of`` chooses from.

    >>> choices("fr, en,")
    ['fr', 'en']
    """
    return [each for part in value.split(",") if (each := part.strip())]


def _shown(seen: object) -> str:
    if comparing.is_empty(seen):
        return "no value" if comparing.is_known(seen) else "no such value"
    text = comparing.plain(seen)
    return f"“{text[:_SEEN_MAX]}{'…' if len(text) > _SEEN_MAX else ''}”"


def _cut(text: str) -> str:
    # Databases refuse NUL and lone surrogates, which JSON may carry.
    clean = text.replace("\x00", "�").encode("utf-8", "replace").decode()
    return clean if len(clean) <= DETAIL_MAX else f"{clean[: DETAIL_MAX - 1]}…"
