"""Dates in templates: written in the local time of the booking."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from typing import Final
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from liquid import RenderContext
from liquid.exceptions import FilterArgumentError, FilterValueError
from liquid.filter import with_context

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
        raise FilterArgumentError("a date format has at most 100 signs", token=None)
    if "%" in _DIRECTIVES.sub("", pattern):
        raise FilterArgumentError(
            f"{pattern!r} is not a date format; write for example '%d.%m.%Y %H:%M'",
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
            raise FilterValueError(
                f"{value[:40]!r} is not a date", token=None
            ) from error
    if isinstance(value, int | float) and not isinstance(value, bool):
        try:
            return datetime.fromtimestamp(value, UTC)
        except (ValueError, OverflowError, OSError) as error:
            raise FilterValueError("the number is not a date", token=None) from error
    raise FilterValueError("this value is not a date", token=None)


def _local(moment: datetime, zone: ZoneInfo | None) -> datetime:
    if moment.tzinfo is None:
        return moment  # a date without a time zone is local already
    try:
        return moment.astimezone(zone or UTC)
    except OverflowError as error:
        raise FilterValueError("the date is out of range", token=None) from error


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
        raise FilterArgumentError(
            f"{name[:64]!r} is not a time zone", token=None
        ) from error
