"""What the terms of a search mean in SQL, whatever the list.

A list says for each of its fields how one term becomes a condition.  Terms of one field
that ask for it mean any of them; everything else must hold all together.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Container, Iterable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from operator import ge, gt, le, lt
from typing import Any, Final, NamedTuple
from uuid import UUID

from sqlalchemy import (
    ColumnElement,
    Text,
    and_,
    func,
    literal_column,
    or_,
    select,
    true,
)
from sqlalchemy.orm import aliased

from tasks.idn import spellings
from tasks.models import Congregation
from tasks.models.base import born_from
from tasks.search.moments import day_of, span
from tasks.search.parsing import Query, Term
from tasks.search.window import Rows

Condition = ColumnElement[bool]
#: Returns the condition of one term that asks for its field.
Meaning = Callable[[Term], Condition]

#: Rows among which is looked for what no index serves: the newest that the rest of the
#: filter leaves.  No page may read a big table to its end.
SEARCH_WINDOW: Final = 5_000
#: Contacts and accounts of which a text may be part of the name.
NAMED_MAX: Final = 1_000
_COMPARE: Final = {"<": lt, "<=": le, ">": gt, ">=": ge}
#: Terms are settled before they come here, so what counts from now does not matter.
_NOT_USED: Final = datetime(2026, 1, 1, tzinfo=UTC)


class Named(NamedTuple):
    """What has a name that is looked for, and how rows say that they are about it."""

    table: Any  # a model
    name: Any  # its column with the name
    id: str  # the name of the rows' column with its id


@dataclass(frozen=True, slots=True)
class Meanings:
    """What the fields of one list mean."""

    of: Mapping[str, Meaning]
    #: Fields that an index serves, or that are a bound of the list's own order.
    early: frozenset[str]


@dataclass(slots=True)
class Conditions:
    """What must hold: what an index serves, and what is looked for in a window."""

    early: list[Condition] = field(default_factory=list)
    late: list[Condition] = field(default_factory=list)


def conditions(query: Query, meanings: Meanings) -> Conditions:
    """Return what a search asks of each row."""
    early, late = apart(query, meanings.early)
    return Conditions(all_of(early, meanings.of), all_of(late, meanings.of))


def apart(query: Query, early: Container[str]) -> tuple[list[Term], list[Term]]:
    """Return the terms that an index serves, and those looked for in a window."""
    first = [term for term in query.terms if term.field in early and not term.is_not]
    return first, [term for term in query.terms if term not in first]


def all_of(terms: Iterable[Term], of: Mapping[str, Meaning]) -> list[Condition]:
    """Return what terms ask of each row, all together."""
    found: list[Condition] = []
    wanted: dict[str, list[Condition]] = defaultdict(list)
    for term in terms:
        condition = of[term.field](term)
        if term.is_not:
            # Also true of what has no value at all.
            found.append(condition.is_not(true()))
        elif term.sign:
            found.append(condition)
        else:
            wanted[term.field].append(condition)
    return found + [or_(*any_of) for any_of in wanted.values()]


def contains(column: Any) -> Meaning:  # noqa: ANN401  # any column of text
    """Return the meaning: the column has the text in it, in any case."""
    return lambda term: has(column, term.value)


def has(column: Any, text: str) -> Condition:  # noqa: ANN401  # any column of text
    """Return whether a column has ``text`` in it, in any case.

    The domain of an address is found by its letters, and as it is kept.
    """
    ways = (column.icontains(each, autoescape=True) for each in spellings(text))
    return or_(*ways)


#: Between columns that are looked at as one text; nobody can type it.
_APART: Final[ColumnElement[str]] = literal_column("'\n'", Text)
_NOTHING: Final[ColumnElement[str]] = literal_column("''", Text)


def any_contains(columns: Iterable[Any], text: str) -> Condition:
    """Return whether one of the columns has ``text`` in it, in any case.

    They are put together first: PostgreSQL makes the pattern small anew for each column
    of each row, which takes most of a search.
    """
    first, *others = (func.coalesce(column, _NOTHING) for column in columns)
    together: ColumnElement[str] = first
    for column in others:
        together = together.concat(_APART).concat(column)
    return has(together, text)


def equals(column: Any) -> Meaning:  # noqa: ANN401  # any column of text
    """Return the meaning: the column is the value."""
    return lambda term: column == term.value


def is_id(column: Any) -> Meaning:  # noqa: ANN401  # any column of ids
    """Return the meaning: the column is the id."""
    return lambda term: column == UUID(term.value)


def is_word(column: Any) -> Meaning:  # noqa: ANN401  # any column of words
    """Return the meaning: the column is the word, written into the statement.

    Neither database uses a partial index for a parameter; the word is one of ours.
    """
    return lambda term: column == literal_column(f"'{term.value}'")


def number(column: Any) -> Meaning:  # noqa: ANN401  # any column of numbers
    """Return the meaning: the column is the number, or more, or less."""

    def mean(term: Term) -> Condition:
        n = int(term.value)
        condition: Condition = (
            _COMPARE[term.sign](column, n) if term.sign else column == n
        )
        return condition

    return mean


def moment(column: Any) -> Meaning:  # noqa: ANN401  # any column of instants
    """Return the meaning: the column lies in the moment, or before, or after it."""

    def mean(term: Term) -> Condition:
        begin, end = span(term.value, _NOT_USED)
        bounds: dict[str, Callable[[], Condition]] = {
            "<": lambda: column < begin,
            "<=": lambda: column < end,
            ">": lambda: column >= end,
            ">=": lambda: column >= begin,
            "": lambda: and_(column >= begin, column < end),
        }
        return bounds[term.sign]()

    return mean


def day(column: Any) -> Meaning:  # noqa: ANN401  # any column of days
    """Return the meaning: the column is the moment's day, or before, or after it."""

    def mean(term: Term) -> Condition:
        on = day_of(term.value)
        condition: Condition = (
            _COMPARE[term.sign](column, on) if term.sign else column == on
        )
        return condition

    return mean


def born(id_: Any) -> Meaning:  # noqa: ANN401  # any column of ids
    """Return the meaning: the row was made then; ids rise with time, so they tell."""

    def mean(term: Term) -> Condition:
        begin, end = (born_from(at) for at in span(term.value, _NOT_USED))
        bounds: dict[str, Callable[[], Condition]] = {
            "<": lambda: id_ < begin,
            "<=": lambda: id_ < end,
            ">": lambda: id_ >= end,
            ">=": lambda: id_ >= begin,
            "": lambda: and_(id_ >= begin, id_ < end),
        }
        return bounds[term.sign]()

    return mean


def in_congregation(column: Any) -> Meaning:  # noqa: ANN401  # any column of ids
    """Return the meaning: the row belongs to the congregation of that short name."""
    return lambda term: column.in_(
        select(Congregation.id).where(Congregation.slug == term.value)
    )


def named(rows: Any, *tables: Named) -> Meaning:  # noqa: ANN401  # a model, or rows of it
    """Return the meaning: what the row is about has the text in its name, or is it.

    Args:
        rows: the model, or some rows of it, that were found first.
        tables: what may be named.
    """

    def mean(term: Term) -> Condition:
        is_id = (getattr(rows, table.id) == term.value for table in tables)
        names = [name_of(rows, table) for table in tables]
        return or_(*is_id, any_contains(names, term.value))

    return mean


def name_of(rows: Any, named: Named) -> ColumnElement[str]:  # noqa: ANN401  # as above
    """Return the name of what a row is about; null where it names nothing.

    Args:
        rows: the model, or some rows of it, that were found first.
        named: what may be named.
    """
    if isinstance(rows, Rows):
        return rows.name(named.table, named.name, named.id)
    other = aliased(named.table)  # the list may show names of the same table
    # PostgreSQL would answer "exists" for all names at once, and read all of them.
    found = select(getattr(other, named.name.key)).where(
        other.congregation_id == rows.congregation_id,
        other.id == getattr(rows, named.id),
    )
    return found.scalar_subquery()
