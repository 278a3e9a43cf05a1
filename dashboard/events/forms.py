"""The filter of the events; it reads the address, so a filtered list is a link."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any, Final

from wtforms import Form, SearchField, SelectChoice, SelectField, StringField
from wtforms.validators import Length

from dashboard.filter_fields import MomentField, by_own_clock, clean
from dashboard.rules.scope import Place, RuleScope, scope_choices
from dashboard.search.kinds import SEARCHED
from dashboard.search.reading import Search, read_search
from tasks.automation.triggers import TRIGGERS
from tasks.models.base import EXTERNAL_ID_MAX
from tasks.operations.event_matching import EventMatching
from tasks.saying import later, meant, say

_ANY: Final = SelectChoice("", later("Any"))
_ANYWHERE: Final = SelectChoice("", later(meant("a place", "Any")))


def _types() -> list[SelectChoice]:
    happenings = (one for one in TRIGGERS.values() if not one.is_time)
    return [_ANY, *(SelectChoice(one.name, say(one.title)) for one in happenings)]


class EventFilterForm(Form):  # type: ignore[misc]  # WTForms has no types
    """Which events to list; every field may be empty."""

    search: Search
    text = SearchField(later("Search"), filters=[clean])
    type = SelectField(later("Type"), choices=_types, default="")
    podcast = SelectField(later("Where"), validate_choice=False)
    booking = StringField(
        later("Booking’s id"), [Length(max=EXTERNAL_ID_MAX)], filters=[clean]
    )

    since = MomentField(by_own_clock(later(meant("a time", "From"))))
    until = MomentField(by_own_clock(later(meant("a time", "Until"))))

    @classmethod
    def of(cls, args: Mapping[str, Any], found: Sequence[Place]) -> EventFilterForm:
        """Return the form filled from an address; what is wrong has its errors.

        Raises:
            InvalidInput: ``bad_search``.
        """
        search = read_search(SEARCHED["events"], cls, args)
        form = cls(search.given)
        form.search = search
        form.podcast.choices = [_ANYWHERE, *scope_choices(found)]
        form.validate()
        return form

    def wanted(self, now: datetime) -> EventMatching:
        """Return what is asked for; a field with an error does not count."""
        query = self.search.settled(now)
        scope = RuleScope.of(self._text("podcast"))
        return EventMatching(
            type=self._text("type"),
            congregation_id=scope.congregation_id if scope else None,
            podcast_id=scope.podcast_id if scope else None,
            booking_id=self._text("booking"),
            text=query.text,
            query=str(replace(query, text="")),
            since=None if self.since.errors else self.since.data,
            until=None if self.until.errors else self.until.data,
        )

    def query(self) -> dict[str, Any]:
        """Return the query string's values, without those that say nothing."""
        return self.search.params()

    def _text(self, name: str) -> str:
        field = self[name]
        return "" if field.errors else (field.data or "")
