"""What a condition is: field, operator and value, as it is kept and as it is told."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Final

from tasks.models.base import Json
from tasks.saying import mark, say


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

#: Operators as they stand in a sentence, and in the form's select; say them.
WORDS: Final[Mapping[Operator, str]] = {
    _O.IS: mark("is"),
    _O.IS_NOT: mark("is not"),
    _O.CONTAINS: mark("contains"),
    _O.CONTAINS_NOT: mark("does not contain"),
    _O.STARTS_WITH: mark("starts with"),
    _O.ONE_OF: mark("is one of"),
    _O.LESS: mark("is less than"),
    _O.MORE: mark("is more than"),
    _O.BEFORE: mark("is before"),
    _O.AFTER: mark("is after"),
    _O.TRUE: mark("is true"),
    _O.FALSE: mark("is false"),
    _O.EMPTY: mark("is empty"),
    _O.NOT_EMPTY: mark("is not empty"),
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
        words = f"{self.field} {say(WORDS[self.operator])}"
        if self.operator in WITHOUT_VALUE:
            return words
        return say("%(condition)s “%(value)s”", condition=words, value=self.value)

    @property
    def as_json(self) -> Json:
        """Return it as it is kept."""
        return {"field": self.field, "operator": self.operator.value} | (
            {} if self.operator in WITHOUT_VALUE else {"value": self.value}
        )


def sentence(conditions: Mapping[str, Any]) -> str:
    """Return the conditions as the middle of a sentence; empty when there are none.

    >>> sentence({"match": "any", "rows": [{"field": "guest.email", "operator":
    ...     "empty"}, {"field": "booking.status", "operator": "is", "value": "x"}]})
    'guest.email is empty or booking.status is “x”'
    """
    word = say("or") if match_of(conditions) is Match.ANY else say("and")
    return f" {word} ".join(map(str, rows_of(conditions)))


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


def choices(value: str) -> list[str]:
    """Return what ``is one of`` chooses from.

    >>> choices("fr, en,")
    ['fr', 'en']
    """
    return [each for part in value.split(",") if (each := part.strip())]
