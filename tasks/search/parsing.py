"""What is typed into a search box, taken apart: ``field:value`` terms, and text."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from datetime import UTC, datetime, tzinfo
from typing import Final

from tasks.errors import InvalidInput
from tasks.saying import say
from tasks.search.fields import Fields, Kind, bad, check
from tasks.search.moments import anchored, settled

#: Longest search that is typed, in characters.
LENGTH_MAX: Final = 500
_TERMS_MAX: Final = 20
#: Nothing longer is read.  What we write anew of ``LENGTH_MAX`` signs stays below:
#: at worst each sign is escaped, and each term quoted, with an instant and a timezone.
WRITTEN_MAX: Final = 2 * LENGTH_MAX + 100 * _TERMS_MAX
#: The shortest that a moment is typed as, ``-1h``.
_MOMENT_MIN: Final = 3
#: ``-state:``, ``due:<``; an address such as ``https://…`` is text.
_HEAD: Final = re.compile(r"(-?)([A-Za-z][A-Za-z_]*):(?!//)([<>]=?)?")
_QUOTED: Final = re.compile(r'"((?:[^"\\]|\\.)*)"')
_PLAIN: Final = re.compile(r"\S*")


@dataclass(frozen=True, slots=True)
class Term:
    """One ``field:value``."""

    field: str
    value: str
    sign: str = ""  # "", "<", "<=", ">", ">="
    is_not: bool = False

    def __str__(self) -> str:
        return f"{'-' * self.is_not}{self.field}:{self.sign}{_written(self.value)}"


@dataclass(frozen=True, slots=True)
class Query:
    """A search, understood; it is written so that it reads back the same."""

    terms: tuple[Term, ...] = ()
    text: str = ""  # the words that belong to no field, in their order

    def __str__(self) -> str:
        is_plain = not _HEAD.search(self.text) and '"' not in self.text
        text = self.text if is_plain else _quoted(self.text)
        return " ".join([*map(str, self.terms), *([text] if text else [])])

    def only(self, field: str) -> Term | None:
        """Return the one plain term of a field; None: it has none, or is not simple."""
        of = [term for term in self.terms if term.field == field]
        if len(of) != 1 or of[0].is_not or of[0].sign:
            return None
        return of[0]

    def without(self, *terms: Term) -> Query:
        """Return the search without some of its terms."""
        return replace(self, terms=tuple(t for t in self.terms if t not in terms))

    def settled(self, fields: Fields, now: datetime, zone: tzinfo = UTC) -> Query:
        """Return the search with instants in place of what counts from now.

        Args:
            fields: those of the list.
            now: what counts from now, counts from here.
            zone: by whose clock its days and times are meant.
        """
        return self._with_moments(fields, lambda text: settled(text, now, zone))

    def anchored(self, fields: Fields, zone: tzinfo) -> Query:
        """Return the search with a timezone at each of its days and times."""
        return self._with_moments(fields, lambda text: anchored(text, zone))

    def _with_moments(self, fields: Fields, told: Callable[[str], str]) -> Query:
        return replace(
            self,
            terms=tuple(
                replace(term, value=told(term.value))
                if _is_moment(term, fields)
                else term
                for term in self.terms
            ),
        )


def parse(text: str, fields: Fields) -> Query:
    r"""Return what a search means.

    >>> from tasks.search.fields import Field
    >>> state = Field("state", Kind.WORD, "State", words=("failed", "pending"))
    >>> query = parse('anna -state:failed "berg: x"', {"state": state})
    >>> query.terms[0].is_not, query.text, str(query)
    (True, 'anna berg: x', '-state:failed "anna berg: x"')

    Raises:
        InvalidInput: ``bad_search``, with a sentence that says what would do.
    """
    if len(text) > WRITTEN_MAX:
        raise _too_long()
    terms: list[Term] = []
    words: list[str] = []
    for found in _tokens(text):
        if isinstance(found, str):
            words.append(found)
        else:
            terms.append(_checked(found, fields))
    if len(terms) > _TERMS_MAX:
        raise bad(
            say("A search has at most %(max)s terms; leave some out.", max=_TERMS_MAX)
        )
    query = Query(tuple(dict.fromkeys(terms)), " ".join(filter(None, words)))
    if _shortest(query, fields) > LENGTH_MAX:
        raise _too_long()
    return query


def _shortest(query: Query, fields: Fields) -> int:
    """Return how many characters a search takes at least, however it was written.

    So what was short enough when it was typed still is when a link of ours has it,
    with quotes, escapes, instants and timezones.
    """
    of_terms = sum(
        len(f"{'-' * term.is_not}{term.field}:{term.sign}")
        + (_MOMENT_MIN if _is_moment(term, fields) else len(term.value))
        for term in query.terms
    )
    return of_terms + len(query.text)


def _is_moment(term: Term, fields: Fields) -> bool:
    return fields[term.field].kind is Kind.MOMENT


def _too_long() -> InvalidInput:
    return bad(
        say(
            "A search has at most %(max)s characters; leave some out.",
            max=str(LENGTH_MAX),
        )
    )


def _tokens(text: str) -> Iterator[Term | str]:
    position = 0
    while position < len(text):
        if text[position].isspace():
            position += 1
            continue
        head = _HEAD.match(text, position)
        begin = head.end() if head else position
        value, position = _value(text, begin)
        if head is None:
            yield value
        else:
            yield Term(head[2].lower(), value.strip(), head[3] or "", bool(head[1]))


def _value(text: str, begin: int) -> tuple[str, int]:
    """Return the value that begins here, and where it ends."""
    if not text.startswith('"', begin):
        found = _PLAIN.match(text, begin)
        end = found.end() if found else begin
        return text[begin:end], end
    if (quoted := _QUOTED.match(text, begin)) is None:
        raise bad(
            say(
                'The quote in %(text)s is not closed; add a “"” at its end.',
                text=text[begin:],
            )
        )
    return re.sub(r"\\(.)", r"\1", quoted[1]), quoted.end()


def _checked(term: Term, fields: Fields) -> Term:
    if term.field not in fields:
        raise bad(
            say(
                "There is no field “%(field)s” here; the fields are %(fields)s. To "
                "look for the text itself, put it in quotes.",
                field=term.field,
                fields=", ".join(fields),
            )
        )
    field = fields[term.field]
    check(field, term.value, term.sign)
    is_word = field.kind in (Kind.WORD, Kind.FLAG)
    return replace(term, value=term.value.lower()) if is_word else term


def _written(value: str) -> str:
    is_plain = value and not re.search(r'[\s"]', value) and value[0] not in "<>"
    return value if is_plain else _quoted(value)


def _quoted(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'
