"""The form of a group."""

from __future__ import annotations

from collections.abc import Sequence
from uuid import UUID

from wtforms import SelectChoice, SelectField, StringField

from dashboard.office import OfficeForm, chosen_id
from tasks.congregation.people.groups import NAME_MAX, GroupDraft
from tasks.saying import later


class GroupForm(OfficeForm):
    """What an operator may say about a group."""

    name = StringField(later("Name"), render_kw={"maxlength": NAME_MAX})
    responsible_id = SelectField(later("Responsible"), validate_choice=False)
    deputy_id = SelectField(
        later("Deputy"),
        validate_choice=False,
        description=later("Stands in; may be nobody."),
    )

    def offer(self, members: Sequence[SelectChoice]) -> None:
        """Say who may be chosen."""
        self.responsible_id.choices = [SelectChoice("", later("Choose …")), *members]
        self.deputy_id.choices = [SelectChoice("", later("Nobody")), *members]

    def chosen(self) -> tuple[UUID | None, ...]:
        """Return who is chosen already."""
        return chosen_id(self.responsible_id.data), chosen_id(self.deputy_id.data)

    def draft(self) -> GroupDraft:
        """Return the input in the engine's words."""
        responsible_id, deputy_id = self.chosen()
        return GroupDraft(self.name.data or "", responsible_id, deputy_id)
