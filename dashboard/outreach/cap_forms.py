"""The forms of campaigns and daily caps."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Self
from uuid import UUID

from flask_wtf import FlaskForm
from wtforms import SelectChoice, SelectField, StringField

from dashboard.filter_fields import clean
from dashboard.filters import plural
from tasks.errors import InvalidInput
from tasks.models import Congregation
from tasks.outreach.checks import CAMPAIGN_MAX
from tasks.saying import later, say


class CapForm(FlaskForm):  # type: ignore[misc]  # WTForms has no types
    """How many wake-ups a day there may be."""

    daily_cap = StringField(
        later("Wake-ups a day"),
        description=later(
            "A whole number; empty for no cap. What goes beyond it waits for "
            "the next day."
        ),
        filters=[clean],
        render_kw={"inputmode": "numeric", "autocomplete": "off"},
    )

    @property
    def cap(self) -> int | str | None:
        """The cap; text that is no number is left to the engine to refuse."""
        text = self.daily_cap.data or ""
        is_number = text.isascii() and text.isdigit() and len(text) < 10
        return int(text) if is_number else text or None

    @property
    def told(self) -> str:
        """The cap for people; only asked for when it was accepted."""
        if not isinstance(self.cap, int):
            return say("any number of wake-ups a day")
        return say("at most %(wakeups)s a day", wakeups=plural(self.cap, "wake-up"))

    @classmethod
    def of(cls, cap: int | None) -> Self:
        """Return the form filled with what is known."""
        return cls(formdata=None, daily_cap="" if cap is None else str(cap))

    def refuse(self, refused: InvalidInput) -> None:
        """Show the engine's refusal at the field that it names."""
        name = refused.field if refused.field in self.data else "daily_cap"
        self[name].errors = [*self[name].errors, refused.message]


class CampaignForm(CapForm):
    """A new campaign."""

    congregation_id = SelectField(later("Congregation"), validate_choice=False)
    name = StringField(
        later("Name"),
        description=later("The word by which engagements say that they belong to it."),
        render_kw={"maxlength": CAMPAIGN_MAX, "autocomplete": "off"},
    )

    def offer(self, congregations: Sequence[Congregation]) -> None:
        """Say which congregations may be chosen."""
        self.congregation_id.choices = [
            SelectChoice(str(one.id), one.name) for one in congregations
        ]

    @property
    def congregation(self) -> UUID:
        """The chosen congregation.

        Raises:
            InvalidInput: none is chosen.
        """
        try:
            return UUID(self.congregation_id.data or "")
        except ValueError as error:
            raise InvalidInput(
                "required", say("Choose a congregation."), field="congregation_id"
            ) from error
