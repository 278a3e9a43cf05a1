"""The search of a request: what its address asks for, and addresses that ask for less.

A term that the list's own filter knows as well, such as ``state:failed``, is read as if
it had been chosen there: so tabs, selects and search never say different things.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime, tzinfo
from typing import Any, Final
from uuid import UUID

from sqlalchemy import select
from sqlalchemy.orm import Session
from werkzeug.datastructures import MultiDict
from wtforms import Form

from dashboard.filter_fields import MomentField, clean
from dashboard.search.searched import Searched
from dashboard.zones import own_zone
from tasks.models import Congregation, Rule
from tasks.search.parsing import Query, Term, parse

#: Asked by the pages themselves.
_NO_FILTERS: Final = frozenset({"newest", "csrf_token"})
_FLAGGED: Final = {"yes": "1"}


@dataclass(frozen=True, slots=True)
class Search:
    """A search of one list."""

    of: Searched
    query: Query  # without what was lifted
    given: MultiDict[str, str]  # the filter's values, with what was lifted
    moments: frozenset[str] = frozenset()  # which of them are instants

    def settled(self, now: datetime) -> Query:
        """Return the search with the days and times of the operator's own clock.

        What counts from now becomes an instant.
        """
        return self.query.settled(self.of.fields, now, own_zone())

    def anchored(self) -> dict[str, Any]:
        """Return the filter as an address's values that mean the same to everybody.

        What counts from now goes on counting from now.
        """
        zone = own_zone()
        query = self.query.anchored(self.of.fields, zone)
        changed: dict[str, str | None] = {self.of.box: str(query)}
        for name in self.moments & set(self.given):
            changed[name] = _instant(self.given[name], zone)
        return self.params(**changed)

    @property
    def place(self) -> dict[str, str]:
        """Whose list it is, as its address has it; empty for what stands alone."""
        return {name: self.given[name] for name in self.of.place}

    def is_of(self, params: Mapping[str, Any]) -> bool:
        """Whether an address's values are of the same place."""
        return all(params.get(name) == value for name, value in self.place.items())

    @property
    def terms(self) -> str:
        """The terms alone, written."""
        return str(replace(self.query, text=""))

    def params(self, **changes: str | None) -> dict[str, Any]:
        """Return the filter as an address's values; a change to None leaves one out."""
        names = set(self.given) - _NO_FILTERS
        values = {name: self.given[name] for name in names}
        changed: Mapping[str, str | None] = {**values, **changes}
        return {name: value for name, value in changed.items() if value}

    def without(self, term: Term | None) -> dict[str, Any]:
        """Return the address's values without one term; None: without the text."""
        less = self.query.without(term) if term else replace(self.query, text="")
        return self.params(**{self.of.box: str(less)})


def read_search(of: Searched, form: type[Form], args: Mapping[str, Any]) -> Search:
    """Return what an address asks for, of what the list's form knows.

    Raises:
        InvalidInput: ``bad_search``, with a sentence for who typed it.
    """
    known = _fields_of(form)
    given = MultiDict({name: args[name] for name in args if name in known})
    query = parse(clean(given.get(of.box)), of.fields)
    for field, name in of.lifts.items():
        term = query.only(field)
        if term is None or (name == "late" and term.value not in _FLAGGED):
            continue
        given[name] = _FLAGGED.get(term.value, term.value)
        query = query.without(term)
    given[of.box] = str(query)
    is_moment = (name for name, kind in known.items() if kind is MomentField)
    return Search(of, query, given, frozenset(is_moment))


def _fields_of(form: type[Form]) -> dict[str, Any]:
    """Return what a form's fields are called, and their classes."""
    found = ((name, getattr(form, name)) for name in dir(form))
    return {
        name: field.field_class for name, field in found if hasattr(field, "_formfield")
    }


def _instant(text: str, zone: tzinfo) -> str:
    """Return what a form's instant is in UTC; what is none stays as it is."""
    try:
        given = datetime.fromisoformat(text.strip())
        aware = given if given.tzinfo else given.replace(tzinfo=zone)
        return aware.astimezone(UTC).isoformat()
    except (ValueError, OverflowError):
        return text


def rule_meant(session: Session, query: Query) -> tuple[UUID | None, Query]:
    """Return the rule that a search names, when it is exactly one, and what is left.

    An index finds the rows of one rule, however old; of several, only new ones.
    """
    if (term := query.only("rule")) is None:
        return None, query
    like = Rule.name.icontains(term.value, autoescape=True)
    found = session.execute(select(Rule.id, Rule.name).where(like).limit(100)).all()
    exact = [row for row in found if row.name.lower() == term.value.lower()]
    meant = exact or found
    return (meant[0].id, query.without(term)) if len(meant) == 1 else (None, query)


def congregation_meant(session: Session, query: Query) -> tuple[UUID | None, Query]:
    """Return the congregation that a search names, if it is seen, and what is left."""
    if (term := query.only("congregation")) is None:
        return None, query
    found = session.scalar(
        select(Congregation.id).where(Congregation.slug == term.value)
    )
    return found, query.without(term) if found else query
