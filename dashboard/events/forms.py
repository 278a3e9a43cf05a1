"""The filter of the events; it reads the address, so a filtered list is a link."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from flask import request
from werkzeug.datastructures import MultiDict
from wtforms import Form, SearchField, SelectChoice, SelectField, StringField
from wtforms.validators import Length

from dashboard.filter_fields import MomentField, clean
from dashboard.rules.scope import Place, RuleScope, scope_choices
from tasks.automation.triggers import TRIGGERS
from tasks.models.base import EXTERNAL_ID_MAX
from tasks.operations.event_matching import EventMatching

_ANY: Final = SelectChoice("", "Any")


class EventFilterForm(Form):  # type: ignore[misc]  # WTForms has no types
    """Which events to list; every field may be empty."""

    text = SearchField(
        "Search",
        [Length(max=120)],
        filters=[clean],
        render_kw={
            "placeholder": "Name, address or id",
            "maxlength": 120,
            "aria-describedby": "search-help",
        },
    )
    type = SelectField(
        "Type",
        choices=[
            _ANY,
            *(
                SelectChoice(one.name, one.title)
                for one in TRIGGERS.values()
                if not one.is_time
            ),
        ],
        default="",
    )
    podcast = SelectField("Where", validate_choice=False)
    booking = StringField(
        "Booking’s id", [Length(max=EXTERNAL_ID_MAX)], filters=[clean]
    )

    since = MomentField("From (UTC)")
    until = MomentField("Until (UTC)")

    @classmethod
    def of(cls, args: MultiDict[str, str], found: Sequence[Place]) -> EventFilterForm:
        """Return the form filled from an address; what is wrong has its errors."""
        form = cls(args)
        form.podcast.choices = [_ANY, *scope_choices(found)]
        form.validate()
        return form

    def wanted(self) -> EventMatching:
        """Return what is asked for; a field with an error does not count."""
        scope = RuleScope.of(self._text("podcast"))
        return EventMatching(
            type=self._text("type"),
            congregation_id=scope.congregation_id if scope else None,
            podcast_id=scope.podcast_id if scope else None,
            booking_id=self._text("booking"),
            text=self._text("text"),
            since=None if self.since.errors else self.since.data,
            until=None if self.until.errors else self.until.data,
        )

    def query(self) -> dict[str, Any]:
        """Return the query string's values, without those that say nothing."""
        values = {name: request.args.get(name, "") for name in self.data}
        return {name: value for name, value in values.items() if value}

    def _text(self, name: str) -> str:
        field = self[name]
        return "" if field.errors else (field.data or "")
