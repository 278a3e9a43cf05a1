"""The forms of a territory, and of giving it out."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from wtforms import (
    BooleanField,
    SelectChoice,
    SelectField,
    StringField,
    TextAreaField,
)

from dashboard.office import DayField, OfficeForm, WithinForm, chosen_id
from tasks.congregation.territories import territories
from tasks.congregation.territories.giving import Gift
from tasks.congregation.territories.territories import TerritoryDraft
from tasks.congregation.texts import NOTES_MAX
from tasks.models import TerritoryKind

#: How a territory is worked, as operators read it.
KINDS: Final = {
    TerritoryKind.DOOR_TO_DOOR: "Door to door",
    TerritoryKind.CAMPUS: "Campus",
    TerritoryKind.SHOPS: "Shops",
    TerritoryKind.PHONE: "Phone",
    TerritoryKind.HOTEL: "Hotel",
}


class TerritoryForm(OfficeForm):
    """What an operator may say about a territory."""

    number = StringField(
        "Number",
        description="As it is printed on its card.",
        render_kw={"maxlength": territories.NUMBER_MAX},
    )
    name = StringField("Name", render_kw={"maxlength": territories.NAME_MAX})
    kind = SelectField(
        "Kind",
        choices=[SelectChoice(word.value, title) for word, title in KINDS.items()],
        validate_choice=False,
    )
    notes = TextAreaField("Notes", render_kw={"maxlength": NOTES_MAX})

    def draft(self) -> TerritoryDraft:
        """Return the input in the engine's words."""
        return TerritoryDraft(
            number=self.number.data or "",
            name=self.name.data or "",
            kind=self.kind.data or "",
            notes=self.notes.data or "",
        )


class NewTerritoryForm(TerritoryForm, WithinForm):
    """Another one: also of which congregation."""


class GiftForm(OfficeForm):
    """To whom a territory is given, and for how long."""

    member_id = SelectField("Member", validate_choice=False)
    started_on = DayField("From")
    due_on = DayField("Due on", description="The last day that is not late.")
    method = SelectField(
        "How",
        choices=[SelectChoice("default", "As usual"), SelectChoice("phone", "Phone")],
        validate_choice=False,
    )
    notes = StringField("Note", render_kw={"maxlength": 200})
    for_campaign = BooleanField("For the campaign that is active")
    despite_rest = BooleanField("Although it rests")

    def offer(self, members: Sequence[SelectChoice]) -> None:
        """Say who may be chosen."""
        self.member_id.choices = [SelectChoice("", "Choose …"), *members]

    def gift(self) -> Gift:
        """Return the input in the engine's words."""
        return Gift(
            member_id=chosen_id(self.member_id.data),
            started_on=self.started_on.data,
            due_on=self.due_on.data,
            method=self.method.data or "",
            notes=self.notes.data or "",
            for_campaign=bool(self.for_campaign.data),
            despite_rest=bool(self.despite_rest.data),
        )
