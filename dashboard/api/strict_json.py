"""Reads JSON and refuses whatever two readers could understand differently."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator
from typing import Any, Final, NoReturn

from tasks.saying import say

DEPTH_MAX: Final = 20  # nested objects and lists
KEYS_MAX: Final = 1_000  # of one object, or of one member of a batch
#: Longer whole numbers do not fit into 64 bits, and parsing them costs time.
_DIGITS_MAX: Final = 18
#: Where a batch stands that is sent as an object.
_BATCHES: Final = ("events", "contacts")
#: A text, also one that never ends: so no quote is looked at twice.
_STRING: Final = re.compile(r'"[^"\\]*(?:\\.[^"\\]*)*(?:"|\\?\Z)', re.DOTALL)
_BRACKET: Final = re.compile(r"[\[\]{}]")
_SURROGATE: Final = re.compile(r"[\ud800-\udfff]")


class JsonRefused(Exception):
    """The body is not JSON that we accept; ``message`` is a sentence."""

    def __init__(
        self, code: str, message: str, *, line: int | None = None, column: int = 1
    ) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.line = line  # None: no single place is to blame
        self.column = column


def loads(body: bytes) -> Any:  # noqa: ANN401  # any JSON value
    """Return the value that ``body`` holds.

    Raises:
        JsonRefused: malformed, not UTF-8, too deep, too many keys, a key twice, a
            number that is none or too big, or text that no database can keep.
    """
    text = _decoded(body)
    if not text.strip():
        raise JsonRefused(
            "json_invalid", say("The body is empty; send a JSON object."), line=1
        )
    _check_depth(text)
    value = _parsed(text)
    for unit in _units(value):
        _check_contents(unit)
    return value


def _decoded(body: bytes) -> str:
    try:
        return body.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise JsonRefused(
            "json_encoding",
            say(
                "The body is not UTF-8: byte %(number)s does not belong there.",
                number=str(error.start + 1),
            ),
        ) from error


def _check_depth(text: str) -> None:
    # Before parsing, since the parser itself recurses.
    depth = 0
    for bracket in _BRACKET.finditer(_STRING.sub('""', text)):
        depth += 1 if bracket[0] in "[{" else -1
        if depth > DEPTH_MAX:
            raise JsonRefused(
                "json_too_deep",
                say(
                    "The JSON is nested more than %(max)s levels deep; flatten it.",
                    max=DEPTH_MAX,
                ),
            )


def _parsed(text: str) -> Any:  # noqa: ANN401  # any JSON value
    try:
        return json.loads(
            text,
            object_pairs_hook=_object,
            parse_constant=_no_constant,
            parse_int=_whole_number,
            parse_float=_number,
        )
    except json.JSONDecodeError as error:
        raise JsonRefused(
            "json_invalid",
            say(
                "The body is not valid JSON: %(what)s at line %(line)s, column "
                "%(column)s.",
                what=error.msg,
                line=str(error.lineno),
                column=str(error.colno),
            ),
            line=error.lineno,
            column=error.colno,
        ) from error


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        seen: set[str] = set()
        for key, _ in pairs:
            if key in seen:
                raise JsonRefused(
                    "json_duplicate_key",
                    say(
                        "The key %(key)s stands twice in one object; keep one.",
                        key=repr(key[:80]),
                    ),
                )
            seen.add(key)
    return found


def _no_constant(word: str) -> NoReturn:
    raise JsonRefused(
        "json_number",
        say(
            "%(word)s is not a JSON number; leave the value out or send null.",
            word=word,
        ),
    )


def _whole_number(digits: str) -> int:
    if len(digits.lstrip("-")) > _DIGITS_MAX:
        raise JsonRefused(
            "json_number",
            say(
                "A whole number may have at most %(max)s digits; send it as text.",
                max=_DIGITS_MAX,
            ),
        )
    return int(digits)


def _number(digits: str) -> float:
    number = float(digits)
    if not math.isfinite(number):
        raise JsonRefused(
            "json_number", say("The number %(number)s is too big.", number=digits[:80])
        )
    return number


def _units(value: object) -> list[object]:
    """Return what the limit of keys counts for: a batch's members, else the whole."""
    if not isinstance(value, dict):
        return list(value) if isinstance(value, list) else [value]
    for name in _BATCHES:
        members = value.get(name)
        if isinstance(members, list) and members:
            return [*members, {**value, name: []}]
    return [value]


def _check_contents(unit: object) -> None:
    n_keys = 0
    for is_key, text in _texts(unit):
        n_keys += is_key
        if "\0" in text or _SURROGATE.search(text):
            raise JsonRefused(
                "json_text",
                say("A text holds a NUL or half of a surrogate pair; remove it."),
            )
        if n_keys > KEYS_MAX:
            raise JsonRefused(
                "json_too_many_keys",
                say(
                    "An object may hold at most %(max)s keys in all; send less.",
                    max=str(KEYS_MAX),
                ),
            )


def _texts(value: object) -> Iterator[tuple[bool, str]]:
    """Yield every text within ``value``, and whether it is a key."""
    if isinstance(value, str):
        yield False, value
    elif isinstance(value, dict):
        for key, member in value.items():
            yield True, key
            yield from _texts(member)
    elif isinstance(value, list):
        for member in value:
            yield from _texts(member)
