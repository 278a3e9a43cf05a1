"""What the terms of a search mean in SQL, whatever the list.

A list says for each of its fields how one term becomes a condition.  Terms of one field
that ask for it mean any of them; everything else must hold all together.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from operator import ge, gt, le, lt
from typing import Any, Final
from uuid import UUID

from sqlalchemy import (
    ColumnElement,
    Subquery,
    and_,
    literal_column,
    or_,
    select,
    true,
)
from sqlalchemy.orm import aliased

from tasks.models import Congregation
from tasks.models.base import born_from
from tasks.search.moments import day_of, span
from tasks.search.parsing import Query, Term

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
    found = Conditions()
    wanted: dict[str, list[Condition]] = defaultdict(list)
    for term in query.terms:
        condition = meanings.of[term.field](term)
        if term.is_not:
            # Also true of what has no value at all.
            found.late.append(condition.is_not(true()))
        elif term.sign:
            _put(found, meanings, term.field, condition)
        else:
            wanted[term.field].append(condition)
    for name, any_of in wanted.items():
        _put(found, meanings, name, or_(*any_of))
    return found


def _put(
    found: Conditions, meanings: Meanings, name: str, condition: Condition
) -> None:
    (found.early if name in meanings.early else found.late).append(condition)


def contains(column: Any) -> Meaning:  # noqa: ANN401  # any column of text
    """Return the meaning: the column has the text in it, in any case."""
    return lambda term: column.icontains(term.value, autoescape=True)


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


def named(owner: Any, *tables: tuple[Any, Any, Any]) -> Meaning:  # noqa: ANN401
    """Return the meaning: what the row is about has the text in its name, or is it.

    Args:
        owner: the row's congregation.
        tables: model, its column with the name, the row's column with its id.
    """

    def mean(term: Term) -> Condition:
        return or_(*_named(owner, tables, term.value))

    return mean


def _named(
    owner: Any,  # noqa: ANN401  # a column
    tables: Iterable[tuple[Any, Any, Any]],
    text: str,
) -> Iterable[Condition]:
    for table, name, id_ in tables:
        yield id_ == text
        yield has_name(table, name, owner, id_, text)


def has_name(table: Any, name: Any, owner: Any, id_: Any, text: str) -> Condition:  # noqa: ANN401  # a model, and columns
    """Return whether the row of ``table`` that is named has ``text`` in its name.

    Args:
        id_: the row's column with the id of what it names; if its rows were joined
            ``with_names``, the name is read there.
    """
    joined = id_.table.c.get(_name_of(table))
    if joined is not None:
        return joined.icontains(text, autoescape=True)  # type: ignore[no-any-return]  # any column
    other = aliased(table)  # the list may show names of the same table
    # PostgreSQL would answer "exists" for all names at once, and read all of them.
    found = select(getattr(other, name.key)).where(
        other.congregation_id == owner, other.id == id_
    )
    return found.scalar_subquery().icontains(text, autoescape=True)


def with_names(window: Subquery, tables: Iterable[tuple[Any, Any, str]]) -> Any:  # noqa: ANN401  # columns, as attributes
    """Return the columns of a window's rows, with the names of what they are about.

    Looked up by key or hashed, as the database likes; one by one for each row takes
    twice as long.  No alias of the model: making one takes longer than the search.

    Args:
        window: some rows of a table, with all its columns.
        tables: model, its column with the name, the name of the row's column with its
            id; each at most once.
    """
    rows: Any = select(*window.c).select_from(window)
    for table, name, id_ in tables:
        other = aliased(table)
        # A join of entities: a session with a scope narrows it where it joins, so that
        # a row which names nothing stays.
        rows = rows.outerjoin(
            other,
            and_(
                other.congregation_id == window.c.congregation_id,
                other.id == window.c[id_],
            ),
        ).add_columns(getattr(other, name.key).label(_name_of(table)))
    return rows.subquery("newest").c


def _name_of(table: Any) -> str:  # noqa: ANN401  # a model
    return f"name_in_{table.__tablename__}"
