"""The filter of a list that a search alone narrows, and what is read by it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any, ClassVar, Self

from sqlalchemy import ColumnElement
from wtforms import Form, SearchField

from dashboard.filter_fields import clean
from dashboard.search.reading import Search, read_search
from dashboard.search.searched import Searched
from tasks.errors import InvalidInput
from tasks.models.base import Json
from tasks.saying import later, say
from tasks.search.parsing import Term, parse
from tasks.search.plain import asked_conditions
from tasks.search.plain_lists import PLAIN


class PlainFilter(Form):  # type: ignore[misc]  # WTForms has no types
    """A search box, and whatever subclasses offer beside it.

    It reads the address, so a filtered list is a link.
    """

    searched: ClassVar[Searched]
    #: What the list's addresses had before it had a search -> the field that asks so.
    former: ClassVar[Mapping[str, str]] = {}
    search: Search
    q = SearchField(later("Search"), filters=[clean])

    @classmethod
    def read(cls, args: Mapping[str, Any], *, is_strict: bool = True) -> Self:
        """Return the filter that an address's values say.

        Args:
            args: the address's values.
            is_strict: refuse what cannot be read beside the search; else its field has
                an error, and does not count.

        Raises:
            InvalidInput: ``bad_search``; or ``bad_filter``, something else in the
                address cannot be read.
        """
        search = read_search(cls.searched, cls, _with_former(cls, args))
        form = cls(search.given)
        form.search = search
        if not form.validate() and is_strict:
            name = next(iter(form.errors))
            raise bad_filter(name)
        return form

    def conditions(
        self,
        now: datetime,
        others: Sequence[ColumnElement[bool]] = (),
        *,
        within: str = "",
    ) -> list[ColumnElement[bool]]:
        """Return what must hold of each row.

        Args:
            now: what counts from now, counts from here.
            others: what else must hold, of the list's own table alone.
            within: another search that must hold as well: what the open tab is.
        """
        of, asked = PLAIN[self.searched.word], self.as_json(now, within=within)
        return [*others, *asked_conditions(of, asked, others)]

    def as_json(self, now: datetime, *, within: str = "") -> Json:
        """Return the search as operations keep it, with instants for what is near now.

        Args:
            now: what counts from now, counts from here.
            within: another search that must hold as well.
        """
        fields, query = self.searched.fields, self.search.settled(now)
        asked = {
            "within": str(parse(within, fields).settled(fields, now)),
            "query": str(replace(query, text="")),
            "text": query.text,
        }
        return {name: value for name, value in asked.items() if value}

    @property
    def is_narrow(self) -> bool:
        """Whether anything but the tab and the place narrows the list."""
        others = dict.fromkeys([self.searched.tab, *self.searched.place])
        return bool(self.search.params(**others))


def bad_filter(name: str) -> InvalidInput:
    """Return the refusal of an address that was changed by hand."""
    return InvalidInput(
        "bad_filter",
        say(
            "The filter in this address cannot be read: “%(name)s” is wrong.", name=name
        ),
        field=name,
    )


def _with_former(form: type[PlainFilter], args: Mapping[str, Any]) -> dict[str, Any]:
    """Return an address's values with terms in place of what it had before."""
    values = {name: args[name] for name in args}
    terms = [
        str(Term(field, text))
        for name, field in form.former.items()
        if (text := clean(values.pop(name, "")))
    ]
    box = form.searched.box
    values[box] = " ".join([*terms, values.get(box, "")]).strip()
    return values
