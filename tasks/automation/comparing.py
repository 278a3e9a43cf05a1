"""Comparing a value of any JSON kind with what an operator typed; nothing raises."""

from __future__ import annotations

import json
import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date, datetime
from decimal import Decimal
from typing import Any, Final, Literal

#: -1: the first comes before the second, 1: after it, 0: neither, None: they cannot
#: be compared.
Order = Literal[-1, 0, 1] | None

_MISSING: Final = object()
#: Digits of a number; a longer one is none.
_NUMBER_MAX: Final = 100


def value_at(context: Mapping[str, Any], field: str) -> object:
    """Return the value of a dotted field, or a mark that nothing is known of it."""
    value: object = context
    for name in field.split("."):
        if not isinstance(value, Mapping) or name not in value:
            return _MISSING
        value = value[name]
    return value


def is_known(value: object) -> bool:
    """Whether the field exists, though it may have no value."""
    return value is not _MISSING


def is_empty(value: object) -> bool:
    """Whether there is no value: missing, null, only space, or nothing in it."""
    if value is None or value is _MISSING:
        return True
    if isinstance(value, str):
        return not value.strip()
    return isinstance(value, list | Mapping) and not value


def is_same(seen: object, wanted: str) -> bool:
    """Whether a value is what was wanted; numbers by their size: 7 is 7.0."""
    if isinstance(seen, list | Mapping):
        return False
    number = number_of(seen) if not isinstance(seen, str) else None
    if number is not None and (other := number_of(wanted)) is not None:
        return number == other
    return _folded(plain(seen)) == _folded(wanted)


def contains(seen: object, wanted: str) -> bool:
    """Whether a text has a part, or a list has a member."""
    if isinstance(seen, list):
        return any(is_same(each, wanted) for each in seen)
    if isinstance(seen, Mapping):
        return False
    return _folded(wanted) in _folded(plain(seen))


def starts_with(seen: object, wanted: str) -> bool:
    """Whether a text begins so."""
    if isinstance(seen, list | Mapping):
        return False
    return _folded(plain(seen)).startswith(_folded(wanted))


def order_of_numbers(seen: object, wanted: str) -> Order:
    """Return how a number, also one written as text, stands to another."""
    number, other = number_of(seen), number_of(wanted)
    if number is None or other is None:
        return None
    return -1 if number < other else int(number > other)  # type: ignore[return-value]  # both are of one type by now


def number_of(value: object) -> Decimal | None:
    """Return a finite number; ``None``: it is none.

    >>> number_of(" 1.50 "), number_of(True), number_of("1e"), number_of("inf")
    (Decimal('1.50'), None, None, None)
    """
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return None
    try:
        text = value.strip() if isinstance(value, str) else repr(value)
        number = Decimal(text) if len(text) <= _NUMBER_MAX else None
    except (ArithmeticError, ValueError):
        return None
    return number if number is not None and number.is_finite() else None


@dataclass(frozen=True, slots=True)
class Moment:
    """A date as somebody wrote it."""

    at: datetime  # without an offset: by the clock on the wall
    is_day: bool  # no time of day was given


def moment_of(value: object) -> Moment | None:
    """Return a date, or a date and time with or without an offset.

    >>> moment_of("2026-03-12").is_day, moment_of("12.3.2026")
    (True, None)
    """
    if not isinstance(value, str):
        return None
    text = value.strip()
    try:
        day = date.fromisoformat(text)
    except ValueError:
        pass
    else:
        return Moment(datetime(day.year, day.month, day.day), is_day=True)  # noqa: DTZ001  # a day on the wall
    try:
        return Moment(datetime.fromisoformat(text), is_day=False)
    except ValueError:
        return None


def order_of_dates(seen: object, wanted: str) -> Order:
    """Return how a date stands to another.

    What is wanted without an offset is read on the wall clock of the value seen,
    which is the booking's or the episode's own.  A whole day is met by neither before
    nor after while it lasts.
    """
    one, other = moment_of(seen), moment_of(wanted)
    if one is None or other is None:
        return None
    if other.at.tzinfo is not None:
        if one.at.tzinfo is None:
            return None
        return _order(one.at, other.at)
    local = one.at.replace(tzinfo=None)
    if other.is_day:
        return _order(local.date(), other.at.date())
    return _order(local, other.at)


def _order(one: date, other: date) -> Order:
    if one == other:
        return 0
    return -1 if one < other else 1


def plain(value: object) -> str:
    """Return a value as text: true, 7, or JSON for what is made of parts."""
    if isinstance(value, str):
        return value
    try:
        return json.dumps(value, ensure_ascii=False, default=str)
    except (TypeError, ValueError, RecursionError):
        return "?"


def _folded(text: str) -> str:
    return unicodedata.normalize("NFC", text).casefold().strip()
