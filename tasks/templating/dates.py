"""Dates in templates: written in the local time of the booking."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from typing import Final
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from liquid import RenderContext
from liquid.exceptions import FilterArgumentError, FilterValueError
from liquid.filter import with_context

from tasks.saying import say

_FORMAT_MAX: Final = 100  # characters
#: The directives that mean the same on every system.
_DIRECTIVES: Final = re.compile(r"%(-?[dmyHIMSj]|[aAbBcpUwWxXYzZeFT%])")
_LOCAL_TIME: Final = "%-d %B %Y, %H:%M (%Z)"
#: Where the local time zone is looked for, in this order.
_ZONES: Final = ("booking", "episode", "podcast", "congregation")


@with_context
def date(
    value: object,
    format: object = "%d.%m.%Y",  # noqa: A002  # the name that Liquid users know
    *,
    timezone: object = None,
    context: RenderContext,
) -> str:
    """Write an instant as ``format`` says, for example ``%d.%m.%Y %H:%M``.

    The time is that of ``timezone``, else of the booking, the episode, the podcast or
    the congregation, whichever says one first; else UTC.
    """
    pattern = str(format)
    _check_format(pattern)
    moment = _local(_instant(value), _zone(timezone, context))
    return moment.strftime(_portable(pattern, moment))


@with_context
def local_time(
    value: object, *, timezone: object = None, context: RenderContext
) -> str:
    """Write an instant in full, for example ``10 March 2026, 14:00 (CET)``."""
    moment = _local(_instant(value), _zone(timezone, context))
    return moment.strftime(_portable(_LOCAL_TIME, moment))


def _check_format(pattern: str) -> None:
    if len(pattern) > _FORMAT_MAX:
        raise FilterArgumentError(
            say("a date format has at most 100 signs"), token=None
        )
    if "%" in _DIRECTIVES.sub("", pattern):
        raise FilterArgumentError(
            say(
                "%(pattern)s is not a date format; write for example "
                "'%%d.%%m.%%Y %%H:%%M'",
                pattern=repr(pattern),
            ),
            token=None,
        )


def _portable(pattern: str, moment: datetime) -> str:
    """Write out what not every system's C library knows: ``%-d`` and its like."""

    def written(found: re.Match[str]) -> str:
        directive = found.group(1)
        if directive.startswith("-"):
            digits = moment.strftime(f"%{directive[1:]}").lstrip("0")
            return digits or "0"
        return {"e": f"{moment.day:2}"}.get(directive, found.group())

    return _DIRECTIVES.sub(written, pattern)


def _instant(value: object) -> datetime:
    if isinstance(value, str):
        try:
            return datetime.fromisoformat(value.strip())
        except ValueError as error:
            problem = say("%(value)s is not a date", value=repr(value[:40]))
            raise FilterValueError(problem, token=None) from error
    if isinstance(value, int | float) and not isinstance(value, bool):
        try:
            return datetime.fromtimestamp(value, UTC)
        except (ValueError, OverflowError, OSError) as error:
            problem = say("the number is not a date")
            raise FilterValueError(problem, token=None) from error
    raise FilterValueError(say("this value is not a date"), token=None)


def _local(moment: datetime, zone: ZoneInfo | None) -> datetime:
    if moment.tzinfo is None:
        return moment  # a date without a time zone is local already
    try:
        return moment.astimezone(zone or UTC)
    except OverflowError as error:
        raise FilterValueError(say("the date is out of range"), token=None) from error


def _zone(named: object, context: RenderContext) -> ZoneInfo | None:
    names = [named]
    for noun in _ZONES:
        group = context.globals.get(noun)
        names.append(group.get("timezone") if isinstance(group, dict) else None)
    name = next((each for each in names if isinstance(each, str) and each), None)
    if name is None:
        return None
    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError) as error:
        problem = say("%(name)s is not a time zone", name=repr(name[:64]))
        raise FilterArgumentError(problem, token=None) from error
