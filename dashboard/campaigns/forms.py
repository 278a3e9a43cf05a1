"""The form of a campaign."""

from __future__ import annotations

from collections.abc import Set
from typing import Final, Self
from uuid import UUID

from wtforms import (
    BooleanField,
    IntegerField,
    RadioField,
    SelectChoice,
    SelectMultipleField,
    StringField,
    TextAreaField,
)
from wtforms.validators import Optional
from wtforms.widgets import CheckboxInput, ListWidget

from dashboard.office import DayField, OfficeForm, chosen_id
from tasks.congregation.campaigns.drafts import NAME_MAX, REST_DAYS_MAX, CampaignDraft
from tasks.congregation.territories.resting import REST_DAYS
from tasks.congregation.texts import NOTES_MAX
from tasks.models import Campaign, EndAction, StartAction
from tasks.saying import later, mark

#: What becomes of regular work -> how operators read it.
STARTS: Final = {
    StartAction.PAUSE: mark("is paused"),
    StartAction.CLOSE: mark("is closed"),
    StartAction.LEAVE: mark("goes on"),
}
ENDS: Final = {
    EndAction.RESUME: mark("goes on, due as many days later as it was paused"),
    EndAction.KEEP_PAUSED: mark("stays paused until somebody resumes it"),
    EndAction.CLOSE: mark("is closed"),
}


class CampaignForm(OfficeForm):
    """What an operator may say about a campaign."""

    name = StringField(later("Name"), render_kw={"maxlength": NAME_MAX})
    starts_on = DayField(later("First day"))
    ends_on = DayField(
        later("Last day"), description=later("It still belongs to the campaign.")
    )
    start_action = RadioField(
        later("When it starts, regular work …"),
        choices=[
            SelectChoice(word.value, later(text)) for word, text in STARTS.items()
        ],
        default=StartAction.PAUSE.value,
        validate_choice=False,
    )
    reassigns = BooleanField(
        later("Who is paused gets the same territory for the campaign"),
        description=later("Only when regular work is paused."),
    )
    closes_work = BooleanField(
        later("When it ends, its own work is closed"), default=True
    )
    end_action = RadioField(
        later("When it ends, the work that it paused …"),
        choices=[SelectChoice(word.value, later(text)) for word, text in ENDS.items()],
        default=EndAction.RESUME.value,
        validate_choice=False,
    )
    rest_days = IntegerField(
        later("Days of rest afterwards"),
        [Optional()],
        description=later("Empty: %(days)s, as usual.", days=REST_DAYS),
        render_kw={"min": 0, "max": REST_DAYS_MAX, "type": "number"},
    )
    territory_ids = SelectMultipleField(
        later("Territories"),
        validate_choice=False,
        widget=ListWidget(prefix_label=False),
        option_widget=CheckboxInput(),
        description=later("None chosen: every territory, also those made later."),
    )
    notes = TextAreaField(later("Notes"), render_kw={"maxlength": NOTES_MAX})

    def draft(self) -> CampaignDraft:
        """Return the input in the engine's words."""
        ids = [chosen_id(text) for text in self.territory_ids.data or ()]
        return CampaignDraft(
            name=self.name.data or "",
            starts_on=self.starts_on.data,
            ends_on=self.ends_on.data,
            notes=self.notes.data or "",
            rest_days=self.rest_days.data,
            start_action=self.start_action.data or "",
            reassigns=bool(self.reassigns.data),
            closes_work=bool(self.closes_work.data),
            end_action=self.end_action.data or "",
            territory_ids=frozenset(id_ for id_ in ids if id_ is not None),
        )

    @classmethod
    def of(cls, row: Campaign, scope: Set[UUID]) -> Self:
        """Return the form filled with what is known."""
        return cls(
            name=row.name,
            starts_on=row.starts_on,
            ends_on=row.ends_on,
            notes=row.notes,
            rest_days=row.rest_days,
            start_action=row.start_action.value,
            reassigns=row.reassigns,
            closes_work=row.closes_work,
            end_action=row.end_action.value,
            territory_ids=[str(id_) for id_ in scope],
        )
