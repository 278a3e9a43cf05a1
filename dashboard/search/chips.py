"""What narrows a list, one chip each: pressed, it is gone."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final, Protocol

from flask import url_for
from wtforms import Field as FormField
from wtforms import HiddenField

from dashboard.search.reading import Search
from dashboard.zones import here
from tasks.saying import say

#: Asked by the pages themselves.
_HIDDEN: Final = frozenset({"newest", "csrf_token"})


class Searching(Protocol):
    """A list's filter that has a search."""

    search: Search

    def __iter__(self) -> Iterator[FormField]:
        """Yield its fields."""


@dataclass(frozen=True, slots=True)
class Chip:
    """One thing that narrows a list."""

    name: str
    value: str
    url: str  # of the list without it
    is_not: bool = False


def chips(form: Searching) -> list[Chip]:
    """Return what narrows a list, except for the tab of its state."""
    search = form.search
    found = [*_of_form(form), *_of_terms(search)]
    if search.query.text:
        url = url_for(search.of.endpoint, **search.without(None))
        found.append(Chip(say("text"), search.query.text, url))
    return found


def _of_form(form: Searching) -> Iterator[Chip]:
    search = form.search
    for field in form:
        name = field.name
        is_tab = name == search.of.tab and isinstance(field, HiddenField)
        is_own = name in _HIDDEN or name in {search.of.box, *search.of.place}
        if is_tab or is_own or not field.data:
            continue
        url = url_for(search.of.endpoint, **search.params(**{name: None}))
        yield Chip(field.label.text, _value(field), url)


def _of_terms(search: Search) -> Iterator[Chip]:
    for term in search.query.terms:
        url = url_for(search.of.endpoint, **search.without(term))
        yield Chip(term.field, f"{term.sign}{term.value}", url, term.is_not)


def _value(field: Any) -> str:  # noqa: ANN401  # WTForms has no types
    """Return what was chosen, in the words that were offered."""
    if field.name == "late":
        return say("yes")
    if isinstance(field.data, datetime):
        return f"{here(field.data):%Y-%m-%d %H:%M}"
    for choice in getattr(field, "choices", None) or ():
        if str(choice.value) == str(field.data):
            return str(choice.label)
    return str(field.data)
