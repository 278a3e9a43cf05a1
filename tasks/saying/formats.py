"""Dates and decimals as the present language writes them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from datetime import UTC, date, datetime, tzinfo
from functools import lru_cache
from typing import Final

from babel import Locale
from babel.dates import format_date, format_datetime
from babel.numbers import format_decimal

from tasks.saying import language

#: By whose clock sentences of the engine tell times; what nobody asks for is in UTC.
_clock: Final[ContextVar[tzinfo]] = ContextVar("clock", default=UTC)
#: The day of the month in a pattern, which French writes ``1er`` on the first.
_DAY = re.compile(r"(?<!d)d(?!d)")
#: A pattern that ends in a time of the day, which every language writes alike.
_CLOCK = re.compile(r"(.*?)HH:mm(:ss)?", re.DOTALL)


@lru_cache
def _of(sign: str) -> Locale:
    """Return a language as Babel knows it: it would look for it at every date."""
    return Locale.parse(sign)


def dated(moment: date, pattern: str) -> str:
    """Return a date, or an instant by its own zone, as a pattern of CLDR says it.

    >>> dated(datetime(2026, 3, 10, 12), "EEE d MMM y, HH:mm")
    'Tue 10 Mar 2026, 12:00'
    """
    now = language.get()
    if not isinstance(moment, datetime):
        return _day(moment, pattern, now)
    if clock := _CLOCK.fullmatch(pattern):
        # Babel takes longer for a time than a list for its row; days come again.
        time = moment.time().isoformat("seconds" if clock[2] else "minutes")
        return _day(moment.date(), clock[1], now) + time
    # Without its zone: Babel would turn it to another one.
    alone = moment.replace(tzinfo=None)
    return format_datetime(alone, _in_words(alone, pattern, now), locale=_of(now))


@lru_cache(maxsize=1_024)
def _day(day: date, pattern: str, sign: str) -> str:
    return format_date(day, _in_words(day, pattern, sign), locale=_of(sign))


def _in_words(day: date, pattern: str, sign: str) -> str:
    """Return the pattern as the language writes this day."""
    return _DAY.sub("d'er'", pattern) if sign == "fr" and day.day == 1 else pattern


@contextmanager
def by_clock(zone: tzinfo) -> Iterator[None]:
    """Let sentences tell times by the clock of who reads them."""
    before = _clock.set(zone)
    try:
        yield
    finally:
        _clock.reset(before)


def instant(moment: datetime) -> str:
    """Return an instant as it stands in a sentence, by the present clock.

    >>> instant(datetime(2026, 3, 10, 12, 0, tzinfo=UTC))
    'Tue 10 Mar 2026, 12:00 UTC'
    """
    there = moment.astimezone(_clock.get())
    return f"{dated(there, 'EEE d MMM y, HH:mm')} {sign_of(there)}"


def sign_of(moment: datetime) -> str:
    """Return the sign of an instant's own zone: ``CET``, ``UTC+03``."""
    sign = moment.tzname() or ""
    return f"UTC{sign}" if sign[:1] in {"+", "-"} else sign


def decimal(value: float, places: int = 1) -> str:
    """Return a number with at most so many decimals.

    >>> decimal(1.25), decimal(3.0), decimal(0.125, places=2)
    ('1.2', '3', '0.12')
    """
    pattern = f"0.{'#' * places}"
    return format_decimal(value, pattern, locale=_of(language.get()))
