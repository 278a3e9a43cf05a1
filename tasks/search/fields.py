"""What a field of a search takes, and the sentences for what it does not take."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from enum import StrEnum
from typing import Final
from uuid import UUID

from tasks.errors import InvalidInput
from tasks.saying import say
from tasks.search.moments import is_instant, span

_SOME_NOON: Final = datetime(2026, 3, 10, 12, tzinfo=UTC)
_NUMBER_MAX: Final = 1_000_000
_WORDS_NAMED: Final = 12


class Kind(StrEnum):
    """How a field's value is read."""

    WORD = "word"  # one of a few
    TEXT = "text"  # a part of it, in any case
    ID = "id"  # the whole of it, as a producer chose it
    UUID = "uuid"  # an id of ours
    NUMBER = "number"
    MOMENT = "moment"
    FLAG = "flag"  # yes, or no


#: What can be more or less.
ORDERED: Final = frozenset({Kind.NUMBER, Kind.MOMENT})
_EXAMPLES: Final = {
    Kind.NUMBER: ">3",
    Kind.MOMENT: ">-24h",
    Kind.FLAG: "yes",
    Kind.TEXT: '"two words"',
    Kind.ID: "b-17",
}


@dataclass(frozen=True, slots=True)
class Field:
    """One field of a list."""

    name: str
    kind: Kind
    says: str  # marked: what it looks at, for operators
    words: tuple[str, ...] = ()  # of a WORD
    example: str = ""

    @property
    def shown(self) -> str:
        """A value that it takes, as one types it."""
        first = self.words[0] if self.words else ""
        return self.example or first or _EXAMPLES.get(self.kind, "…")


Fields = Mapping[str, Field]


def check(field: Field, value: str, sign: str) -> None:
    """Refuse a value that the field cannot have.

    Raises:
        InvalidInput: ``bad_search``.
    """
    if not value:
        example = f"{field.name}:{field.shown}"
        raise bad(
            say(
                "“%(field)s:” needs a value, as in %(example)s",
                field=field.name,
                example=example,
            )
        )
    if sign and field.kind not in ORDERED:
        raise bad(
            say(
                "“%(field)s” cannot be more or less; leave out the “%(sign)s”.",
                field=field.name,
                sign=sign,
            )
        )
    if (problem := _CHECKS.get(field.kind, _anything)(field, value, sign)) is not None:
        raise bad(
            say(
                "“%(term)s” cannot be read: %(problem)s",
                term=f"{field.name}:{value}",
                problem=problem,
            )
        )


def bad(sentence: str) -> InvalidInput:
    """Return the refusal of a search."""
    return InvalidInput("bad_search", sentence, field="q")


def _anything(_field: Field, _value: str, _sign: str) -> None:
    return None


def _word(field: Field, value: str, _sign: str) -> str | None:
    if value.lower() in field.words:
        return None
    named = ", ".join(field.words[:_WORDS_NAMED])
    more = " …" if len(field.words) > _WORDS_NAMED else "."
    return say("“%(field)s” is one of %(words)s", field=field.name, words=named + more)


def _flag(field: Field, value: str, _sign: str) -> str | None:
    if value.lower() in ("yes", "no"):
        return None
    return say("“%(field)s” is yes or no.", field=field.name)


def _uuid(_field: Field, value: str, _sign: str) -> str | None:
    try:
        UUID(value)
    except ValueError:
        return say("it must be a whole id, as the address of its page has it.")
    return None


def _number(_field: Field, value: str, _sign: str) -> str | None:
    if value.isascii() and value.isdecimal() and int(value) <= _NUMBER_MAX:
        return None
    return say("it must be a number up to %(max)s.", max=str(_NUMBER_MAX))


def _moment(field: Field, value: str, sign: str) -> str | None:
    try:
        span(value, _SOME_NOON)
    except (ValueError, OverflowError):
        return say(
            "it must be a day such as 2026-12-01 or today, a time such as "
            "2026-12-01T10:30, or a span from now such as -24h or +7d."
        )
    if is_instant(value) and not sign:
        return say(
            "write %(later)s or %(earlier)s.",
            later=f"{field.name}:>{value}",
            earlier=f"{field.name}:<{value}",
        )
    return None


_CHECKS: Final[Mapping[Kind, Callable[[Field, str, str], str | None]]] = {
    Kind.WORD: _word,
    Kind.FLAG: _flag,
    Kind.UUID: _uuid,
    Kind.NUMBER: _number,
    Kind.MOMENT: _moment,
}
