"""Values of columns as they stand in archives, and back, with every doubt told."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from datetime import UTC, date, datetime
from enum import Enum as PyEnum
from enum import StrEnum
from typing import Any, Final
from uuid import UUID

from sqlalchemy import (
    JSON,
    BigInteger,
    Boolean,
    Column,
    Date,
    Enum,
    Float,
    Integer,
    LargeBinary,
    String,
    Uuid,
)
from sqlalchemy.types import TypeEngine

from tasks.automation.checks import YEARS
from tasks.congregation.texts import FIRST_DAY, LAST_DAY
from tasks.models.base import UtcDateTime
from tasks.saying import mark
from tasks.saying.kept import kept

#: Reads a value of an archive; raises ValueError with the end of a sentence.
Read = Callable[[Any], Any]

#: Signs that a database does not keep: NUL, and halves of pairs.
_UNKEPT: Final = re.compile("[\x00\ud800-\udfff]")
#: Signs that steer: in one line, such as a name, they have no place.
_CONTROL: Final = re.compile("[\x00-\x1f\x7f-\x9f]")
#: Longer texts may have several lines.
_LINE_MAX: Final = 500
_HEX: Final = re.compile("[0-9a-f]*")


def to_json(value: Any) -> Any:  # noqa: ANN401  # any column's value
    """Return a column's value as JSON has it."""
    if isinstance(value, StrEnum):
        return value.value
    if isinstance(value, datetime):
        return value.astimezone(UTC).isoformat().replace("+00:00", "Z")
    if isinstance(value, date):
        return value.isoformat()
    if isinstance(value, UUID):
        return str(value)
    if isinstance(value, bytes):
        return value.hex()
    return value


def reader(column: Column[Any]) -> Read:
    """Return what reads the values of a column; None is for the caller to judge."""
    return _reader_of(column.type)


def _reader_of(kind: TypeEngine[Any]) -> Read:
    if isinstance(kind, Enum):
        return _word(kind)
    if isinstance(kind, String):  # behind Enum, which is a kind of String
        return _text(kind.length)
    if isinstance(kind, UtcDateTime):
        return _instant
    for known, read in _BY_KIND:
        if isinstance(kind, known):
            return read
    raise TypeError(f"no values of {kind!r} travel yet")


def _text(most: int | None) -> Read:
    is_line = most is not None and most <= _LINE_MAX

    def read(value: Any) -> str:  # noqa: ANN401  # from JSON
        if not isinstance(value, str):
            raise ValueError(mark("is not a text"))
        if most is not None and len(value) > most:
            raise ValueError(kept("is longer than %(max)s characters", max=str(most)))
        if _UNKEPT.search(value):
            raise ValueError(mark("holds a sign that cannot be kept"))
        if is_line and _CONTROL.search(value):
            line = " ".join(value.split())  # such as an address in several lines
            if _CONTROL.search(line):
                raise ValueError(mark("holds a control character"))
            return line
        return value

    return read


def _word(kind: Enum) -> Read:
    words: dict[str, PyEnum] = {each.value: each for each in kind.enum_class or ()}
    known = ", ".join(words)

    def read(value: Any) -> PyEnum:  # noqa: ANN401  # from JSON
        found = words.get(value) if isinstance(value, str) else None
        if found is None:
            raise ValueError(kept("is none of these: %(known)s", known=known))
        return found

    return read


def _flag(value: Any) -> bool:  # noqa: ANN401  # from JSON
    if not isinstance(value, bool):
        raise ValueError(mark("is neither true nor false"))
    return value


def _number(bits: int) -> Read:
    def read(value: Any) -> int:  # noqa: ANN401  # from JSON
        if not isinstance(value, int) or isinstance(value, bool):
            raise ValueError(mark("is not a whole number"))
        if not -(1 << bits - 1) <= value < 1 << bits - 1:
            raise ValueError(mark("is too large a number"))
        return value

    return read


def _real(value: Any) -> float:  # noqa: ANN401  # from JSON
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise ValueError(mark("is not a number"))
    try:
        found = float(value)
    except OverflowError:  # a whole number of hundreds of digits
        found = math.inf
    if not math.isfinite(found):
        raise ValueError(mark("is not a number"))
    return found


def _day(value: Any) -> date:  # noqa: ANN401  # from JSON
    try:
        found = date.fromisoformat(value)
    except (TypeError, ValueError) as error:
        raise ValueError(mark("is not a day such as 2026-03-10")) from error
    if not FIRST_DAY <= found <= LAST_DAY:  # some days are added to it now and then
        years = {"first": f"{FIRST_DAY:%Y}", "last": f"{LAST_DAY:%Y}"}
        raise ValueError(kept("must lie between %(first)s and %(last)s", **years))
    return found


def _instant(value: Any) -> datetime:  # noqa: ANN401  # from JSON
    try:
        found = datetime.fromisoformat(value)
    except (TypeError, ValueError):
        found = None
    if found is None or found.tzinfo is None:
        raise ValueError(mark("is not an instant such as 2026-03-10T12:00:00Z"))
    if found.year not in YEARS:  # the first and last ones are none by other clocks
        years = {"first": str(YEARS[0]), "last": str(YEARS[-1])}
        raise ValueError(kept("must lie between %(first)s and %(last)s", **years))
    return found.astimezone(UTC)


def _id(value: Any) -> UUID:  # noqa: ANN401  # from JSON
    try:
        return UUID(value)
    except (TypeError, ValueError, AttributeError) as error:
        raise ValueError(mark("is not an id")) from error


def _bytes(value: Any) -> bytes:  # noqa: ANN401  # from JSON
    if isinstance(value, str) and _HEX.fullmatch(value) and len(value) == 64:
        return bytes.fromhex(value)
    raise ValueError(mark("is not a SHA-256 in hex"))


def _json(value: Any) -> Any:  # noqa: ANN401  # from JSON
    if _has_unkept(value):
        raise ValueError(mark("holds a sign that cannot be kept"))
    return value


def _has_unkept(value: Any) -> bool:  # noqa: ANN401  # from JSON
    if isinstance(value, str):
        return bool(_UNKEPT.search(value))
    if isinstance(value, float):
        return not math.isfinite(value)  # 1e999 is
    if isinstance(value, dict):
        return any(_has_unkept(k) or _has_unkept(v) for k, v in value.items())
    return isinstance(value, list) and any(map(_has_unkept, value))


_BY_KIND: Final[tuple[tuple[type[TypeEngine[Any]], Read], ...]] = (
    (Boolean, _flag),
    (BigInteger, _number(64)),
    (Integer, _number(32)),
    (Float, _real),
    (Date, _day),
    (Uuid, _id),
    (LargeBinary, _bytes),
    (JSON, _json),
)
