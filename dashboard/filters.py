"""Values as operators read them: times in words, spans, numbers, reasons."""

from __future__ import annotations

import json
from datetime import date, datetime, timedelta
from typing import Final

from flask import Flask, g
from markupsafe import Markup

from dashboard.states import look
from dashboard.tallies import AtLeast
from dashboard.web import icon
from dashboard.zones import here
from tasks.automation.recipients import named
from tasks.clock import utcnow
from tasks.idn import in_letters
from tasks.models import SENTENCES, Reason
from tasks.saying import mark, say, say_many, written
from tasks.saying.formats import dated, decimal, sign_of

#: (seconds in the unit, its sign), largest first.
_UNITS: Final = (
    (86_400, mark("d")),
    (3_600, mark("h")),
    (60, mark("min")),
    (1, mark("s")),
)
#: (bytes in the unit, its sign), largest first.
_SIZES: Final = (
    (1_000_000_000, mark("GB")),
    (1_000_000, mark("MB")),
    (1_000, mark("kB")),
)
#: A number and its unit stay on one line.
_GAP: Final = "\N{NO-BREAK SPACE}"
#: A relative time further away than this says the date instead.
_RELATIVE_FOR: Final = timedelta(days=30)


def _now() -> datetime:
    """Return one instant for the whole page, so that its times agree."""
    if "page_now" not in g:
        g.page_now = utcnow()
    now: datetime = g.page_now
    return now


def relative(moment: datetime, now: datetime | None = None) -> str:
    r"""Return a moment in words.

    >>> from datetime import UTC
    >>> noon = datetime(2026, 3, 10, 12, tzinfo=UTC)
    >>> relative(noon + timedelta(hours=2, minutes=10), noon)
    'in 2\xa0h'
    >>> relative(noon - timedelta(minutes=3), noon)
    '3\xa0min ago'
    >>> relative(noon - timedelta(days=90), noon)
    '10 Dec 2025'
    """
    away = moment - (now or _now())
    if abs(away) < timedelta(seconds=5):
        return say("now")
    if abs(away) > _RELATIVE_FOR:
        return dated(here(moment), "d MMM y")
    words = duration(abs(away), parts=1)
    if away > timedelta(0):
        return say("in %(span)s", span=words)
    return say("%(span)s ago", span=words)


def absolute(moment: datetime) -> str:
    """Return a moment to the second by the operator's clock, with its zone.

    >>> from datetime import UTC
    >>> absolute(datetime(2026, 3, 10, 12, tzinfo=UTC))
    'Tue 10 Mar 2026, 12:00:00 UTC'
    """
    there = here(moment)
    return f"{dated(there, 'EEE d MMM y, HH:mm:ss')} {sign_of(there)}"


def shortly(moment: datetime) -> str:
    """Return day and hour by the operator's clock, as in ``10 Mar, 12:00``."""
    return dated(here(moment), "d MMM, HH:mm")


def duration(span: timedelta, parts: int = 2) -> str:
    r"""Return a span with its largest units; less than a second in milliseconds.

    >>> duration(timedelta(seconds=95)), duration(timedelta(seconds=0.25))
    ('1\xa0min 35\xa0s', '250\xa0ms')
    """
    seconds = abs(span.total_seconds())
    if seconds < 1:
        return f"{round(seconds * 1000)}{_GAP}ms"
    whole = int(seconds)
    found = []
    for size, sign in _UNITS:
        count, whole = divmod(whole, size)
        if count:
            found.append(f"{count}{_GAP}{say(sign)}")
    return " ".join(found[:parts])


def number(count: int, cap: int | None = None) -> str:
    r"""Return a count with thin gaps; one that stopped early says "or more".

    >>> number(1234567), number(10000, cap=10000)
    ('1\u202f234\u202f567', '10\u202f000+')
    >>> number(AtLeast(12)), number(AtLeast(0))
    ('12+', '?')
    """
    text = written(count)
    if isinstance(count, AtLeast):
        return f"{text}+" if count else "?"
    return f"{text}+" if cap is not None and count >= cap else text


def day(value: date) -> str:
    """Return a day of a calendar in words.

    >>> day(date(2026, 3, 1))
    '1 March 2026'
    """
    return dated(value, "d MMMM y")


def size(count: int) -> str:
    r"""Return a number of bytes in words.

    >>> size(900), size(50_000_000), size(1_250_000)
    ('900 bytes', '50\xa0MB', '1.2\xa0MB')
    """
    for unit, sign in _SIZES:
        if count >= unit:
            return f"{decimal(count / unit)}{_GAP}{say(sign)}"
    return plural(count, "byte")


def reason(code: str | None) -> str:
    """Return the sentence for a reason code; an empty text for None."""
    if code is None:
        return ""
    try:
        return say(SENTENCES[Reason(code)])
    except ValueError:
        return code.replace("_", " ").capitalize() + "."


def pretty(value: object) -> str:
    """Return a JSON value indented, for a ``<pre>``."""
    return json.dumps(value, indent=2, ensure_ascii=False, sort_keys=True, default=str)


def plural(count: int, one: str, many: str | None = None) -> str:
    """Return a count with its noun.

    >>> plural(1, "rule"), plural(3, "rule"), plural(2, "entry", "entries")
    ('1 rule', '3 rules', '2 entries')
    """
    return f"{number(count)} {say_many(count, one, many or one + 's')}"


def letters(text: str | None) -> str | None:
    """Return a text with the domains of its addresses as people write them."""
    if not text:
        return text
    read = in_letters(text)  # letters and digits alone: nothing to be escaped
    return Markup(read) if isinstance(text, Markup) else read  # noqa: S704


def whom(action: str, recipient: str | None) -> str:
    """Return a recipient as people read it; empty: nobody yet."""
    return in_letters(named(action, recipient))


def init_app(app: Flask) -> None:
    """Give templates these filters."""
    for one in (
        relative,
        absolute,
        shortly,
        duration,
        number,
        reason,
        pretty,
        plural,
        size,
        day,
        letters,
    ):
        app.jinja_env.filters[one.__name__] = one
    app.jinja_env.filters["svg"] = icon
    app.jinja_env.globals.update(state_look=look, utcnow=_now, whom=whom)
