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
from tasks.saying import later, mark, meant

#: How a territory is worked, as operators read it.
KINDS: Final = {
    TerritoryKind.DOOR_TO_DOOR: mark("Door to door"),
    TerritoryKind.CAMPUS: mark("Campus"),
    TerritoryKind.SHOPS: mark("Shops"),
    TerritoryKind.PHONE: mark("Phone"),
    TerritoryKind.HOTEL: mark("Hotel"),
}


class TerritoryForm(OfficeForm):
    """What an operator may say about a territory."""

    number = StringField(
        later("Number"),
        description=later("As it is printed on its card."),
        render_kw={"maxlength": territories.NUMBER_MAX},
    )
    name = StringField(later("Name"), render_kw={"maxlength": territories.NAME_MAX})
    kind = SelectField(
        later("Kind"),
        choices=[
            SelectChoice(word.value, later(title)) for word, title in KINDS.items()
        ],
        validate_choice=False,
    )
    notes = TextAreaField(later("Notes"), render_kw={"maxlength": NOTES_MAX})

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

    member_id = SelectField(later("Member"), validate_choice=False)
    started_on = DayField(later(meant("a time", "From")))
    due_on = DayField(
        later("Due on"), description=later("The last day that is not late.")
    )
    method = SelectField(
        later("How"),
        choices=[
            SelectChoice("default", later("As usual")),
            SelectChoice("phone", later("Phone")),
        ],
        validate_choice=False,
    )
    notes = StringField(later("Note"), render_kw={"maxlength": 200})
    for_campaign = BooleanField(later("For the campaign that is active"))
    despite_rest = BooleanField(later("Although it rests"))

    def offer(self, members: Sequence[SelectChoice]) -> None:
        """Say who may be chosen."""
        self.member_id.choices = [SelectChoice("", later("Choose …")), *members]

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
