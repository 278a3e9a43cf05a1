"""What people type about members and territories is checked here."""

from __future__ import annotations

from datetime import date
from enum import StrEnum
from typing import Final, TypeVar
from unicodedata import category

from tasks.errors import InvalidInput
from tasks.saying import say

Word = TypeVar("Word", bound=StrEnum)
NOTES_MAX: Final = 2_000
#: Days before it are slips of the keyboard, and so are years of five digits.
FIRST_DAY: Final = date(1900, 1, 1)
LAST_DAY: Final = date(2999, 12, 31)
#: They join letters, and pictures such as that of a family, to one sign.
_JOINERS: Final = "\N{ZERO WIDTH NON-JOINER}\N{ZERO WIDTH JOINER}"


def line(
    value: str, field: str, most: int, *, what: str, required: bool = False
) -> str:
    """Return one line of text without blanks around it.

    Args:
        what: how the sentence calls it, as it is said, such as "A name".

    Raises:
        InvalidInput: it is empty and required, too long, or does not print.
    """
    found = " ".join(value.split())
    if required and not found:
        raise InvalidInput(
            "missing", say("%(what)s is needed.", what=what), field=field
        )
    _refuse_long(found, field, most, what)
    if not all(map(_prints, found)):
        raise InvalidInput(
            "unprintable",
            say(
                "%(what)s holds characters that do not print; type it anew.", what=what
            ),
            field=field,
        )
    return found


def notes(value: str, field: str = "notes") -> str:
    """Return several lines of text.

    Raises:
        InvalidInput: it is too long, or holds control characters.
    """
    found = value.replace("\r\n", "\n").strip()
    _refuse_long(found, field, NOTES_MAX, say("The text"))
    if not all(char in "\n\t" or _prints(char) for char in found):
        raise InvalidInput(
            "unprintable",
            say("The text holds characters that do not print; type it anew."),
            field=field,
        )
    return found


def day(value: date | None, field: str, *, what: str) -> date | None:
    """Return a day of our time.

    Raises:
        InvalidInput: it is before ``FIRST_DAY`` or after ``LAST_DAY``.
    """
    if value is not None and not FIRST_DAY <= value <= LAST_DAY:
        raise InvalidInput(
            "day_out_of_range",
            say(
                "%(what)s must lie between %(first)s and %(last)s.",
                what=what,
                first=f"{FIRST_DAY:%Y}",
                last=f"{LAST_DAY:%Y}",
            ),
            field=field,
        )
    return value


def some_day(value: date | None, field: str, *, what: str) -> date:
    """Return a day that must be given.

    Raises:
        InvalidInput: it is missing or out of range.
    """
    found = day(value, field, what=what)
    if found is None:
        raise InvalidInput(
            "missing", say("%(what)s is needed.", what=what), field=field
        )
    return found


def one_of(value: str, words: type[Word], field: str) -> Word:
    """Return the word of an enum.

    Raises:
        InvalidInput: it is none of them.
    """
    if value not in {*words}:
        known = ", ".join(words)
        raise InvalidInput(
            "unknown_word",
            say("Choose one of these: %(known)s.", known=known),
            field=field,
        )
    return words(value)


def _prints(char: str) -> bool:
    """Return whether it may stand in a text: French has blanks that are not plain."""
    return char.isprintable() or char in _JOINERS or category(char) == "Zs"


def _refuse_long(text: str, field: str, most: int, what: str) -> None:
    if len(text) > most:
        raise InvalidInput(
            "too_long",
            say(
                "%(what)s has at most %(max)s characters; this one has %(length)s.",
                what=what,
                max=str(most),
                length=str(len(text)),
            ),
            field=field,
        )
