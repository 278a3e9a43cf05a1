"""Lists that a search alone narrows, besides their tabs: what each of them takes.

A row here is all that the box, its chips, saved views, exports and verbs on all that
match need to know of a list.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from sqlalchemy import ColumnElement, Select, select, true

from tasks.idn import in_ascii
from tasks.saying import mark
from tasks.search.conditions import (
    SEARCH_WINDOW,
    Condition,
    Meaning,
    Meanings,
    conditions,
)
from tasks.search.fields import Field, Fields, Kind
from tasks.search.parsing import Term, parse
from tasks.search.window import is_among_first

#: What nearly every list can be searched for.
WHERE: Final = Field(
    "congregation", Kind.ID, mark("The congregation’s short name"), example="st-mary"
)
ID: Final = Field("id", Kind.UUID, mark("Its own id"))


@dataclass(frozen=True, slots=True)
class Plain:
    """A list, and what its search means."""

    fields: Fields
    meanings: Meanings
    words: Meaning  # of text that belongs to no field
    id: Any  # the column with the rows' ids
    #: The window's order, newest first; empty: such rows are few, all are looked at.
    order: tuple[Any, ...] = ()
    has_early_words: bool = False  # an index finds the text


def table(*fields: Field) -> Fields:
    """Return fields by their names, in their order."""
    return {field.name: field for field in fields}


def flag(condition: ColumnElement[bool]) -> Meaning:
    """Return the meaning: it is so, or is not; what is unknown is not so."""
    is_not = condition.is_not(true())
    return lambda term: condition if term.value == "yes" else is_not


def begins(column: Any) -> Meaning:  # noqa: ANN401  # any column of small letters
    """Return the meaning: the column begins with the text."""
    return lambda term: column.startswith(in_ascii(term.value.lower()), autoescape=True)


def asked_conditions(
    of: Plain, asked: Mapping[str, str], others: Sequence[Condition] = ()
) -> list[Condition]:
    """Return what a list's filter asks of each row, as operations keep the filter.

    Raises:
        InvalidInput: ``bad_search``.
    """
    within, query, text = (asked.get(name, "") for name in ("within", "query", "text"))
    first = plain_conditions(of, within, "", others) if within else []
    return [*first, *plain_conditions(of, query, text, [*others, *first])]


def plain_conditions(
    of: Plain, query: str, text: str, others: Sequence[Condition] = ()
) -> list[Condition]:
    """Return what a search asks of each row.

    Args:
        of: the list.
        query: the search's terms, settled.
        text: the words of the search that belong to no field.
        others: what else must hold, of the list's own table alone; the window is taken
            from what they leave.

    Raises:
        InvalidInput: ``bad_search``.
    """
    found = conditions(parse(query, of.fields), of.meanings)
    if text:
        words = of.words(Term("text", text))
        (found.early if of.has_early_words else found.late).append(words)
    if not (found.late and of.order):
        return [*found.early, *found.late]
    newest: Select[Any] = select(of.id).where(*others, *found.early)
    window = newest.order_by(*of.order).limit(SEARCH_WINDOW)
    return [is_among_first(of.id, window), *found.late]
