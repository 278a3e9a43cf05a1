"""The filters that templates may use, each with a guard on what it takes and gives."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import wraps
from typing import Any, Final

from liquid.builtin.filters import array, math, misc, string
from liquid.exceptions import (
    FilterArgumentError,
    FilterValueError,
    LiquidError,
    ResourceLimitError,
)
from liquid.filter import math_filter
from liquid.undefined import is_undefined

from tasks.saying import say
from tasks.templating import dates
from tasks.templating.limits import ITEMS_MAX, TEXT_MAX, check_size

Filter = Callable[..., Any]
_DIGITS_MAX: Final = 15


@math_filter
def _round(number: float, digits: object = 0) -> float:
    """Round to ``digits`` places; Liquid's own computes powers of any size."""
    places = digits if isinstance(digits, int) else 0
    if abs(places) > _DIGITS_MAX:
        raise FilterArgumentError(say("round to at most 15 places"), token=None)
    return round(number, places) if places else round(number)


#: Name -> function.  Left out on purpose: ``safe`` (undoes escaping), ``strip_html``
#: and ``uniq`` (quadratic), ``base64_*``, and what only makes sense on big lists.
_PLAIN: Final[Mapping[str, Filter]] = {
    "append": string.append,
    "capitalize": string.capitalize,
    "downcase": string.downcase,
    "escape": string.escape,
    "escape_once": string.escape_once,
    "lstrip": string.lstrip,
    "newline_to_br": string.newline_to_br,
    "prepend": string.prepend,
    "remove": string.remove,
    "remove_first": string.remove_first,
    "replace": string.replace,
    "replace_first": string.replace_first,
    "rstrip": string.rstrip,
    "slice": string.slice_,
    "split": string.split,
    "squish": string.squish,
    "strip": string.strip,
    "strip_newlines": string.strip_newlines,
    "truncate": string.truncate,
    "truncatewords": string.truncatewords,
    "upcase": string.upcase,
    "url_decode": string.url_decode,
    "url_encode": string.url_encode,
    "compact": array.compact,
    "first": array.first,
    "join": array.join,
    "last": array.last,
    "map": array.map_,
    "reverse": array.reverse,
    "sort": array.sort,
    "where": array.where,
    "abs": math.abs_,
    "at_least": math.at_least,
    "at_most": math.at_most,
    "ceil": math.ceil,
    "divided_by": math.divided_by,
    "floor": math.floor,
    "minus": math.minus,
    "modulo": math.modulo,
    "plus": math.plus,
    "round": _round,
    "times": math.times,
    "default": misc.default,
    "size": misc.size,
    "date": dates.date,
    "local_time": dates.local_time,
}


def _guarded(name: str, function: Filter) -> Filter:
    """Return ``function`` with limits, and with a missing value passed through."""

    @wraps(function)
    def guarded(value: object, *args: object, **kwargs: object) -> object:
        given = (value, *args)
        missing = next((each for each in given if is_undefined(each)), None)
        if missing is not None and name != "default":
            return missing  # stays missing, so that the end of the line can say so
        for each in given:
            check_size(each)
        _BEFORE.get(name, _nothing)(value, args)
        result = _call(name, function, value, *args, **kwargs)
        check_size(result)
        return result

    for mark in ("with_context", "with_environment"):
        if getattr(function, mark, False):
            setattr(guarded, mark, True)
    return guarded


def _call(name: str, function: Filter, *args: object, **kwargs: object) -> object:
    try:
        return function(*args, **kwargs)
    except (LiquidError, TypeError):  # Liquid makes sentences of these
        raise
    except (ArithmeticError, ValueError, LookupError) as error:
        raise FilterValueError(
            say("%(filter)s cannot work with this value", filter=name), token=None
        ) from error


def _nothing(value: object, args: Sequence[object]) -> None:
    """Most filters cannot give much more than they take."""


def _before_replace(value: object, args: Sequence[object]) -> None:
    if not args:
        return
    text, seq = str(value), str(args[0])
    sub = str(args[1]) if len(args) > 1 else ""
    grown = len(text) + text.count(seq) * (len(sub) - len(seq))
    _refuse_if(grown > TEXT_MAX)


def _before_join(value: object, args: Sequence[object]) -> None:
    if not isinstance(value, list | tuple | range):
        return
    separator = len(str(args[0])) if args else 1
    _refuse_if(sum(len(str(item)) + separator for item in value) > TEXT_MAX)


def _before_split(value: object, args: Sequence[object]) -> None:
    text, separator = str(value), str(args[0]) if args else ""
    pieces = text.count(separator) if separator else len(text)
    _refuse_if(pieces > ITEMS_MAX)


def _refuse_if(too_big: bool) -> None:
    if too_big:
        raise ResourceLimitError(say("a value grows too big"), token=None)


_BEFORE: Final[Mapping[str, Callable[[object, Sequence[object]], None]]] = {
    "replace": _before_replace,
    "join": _before_join,
    "split": _before_split,
}

FILTERS: Final[Mapping[str, Filter]] = {
    name: _guarded(name, function) for name, function in _PLAIN.items()
}
