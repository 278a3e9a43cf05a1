"""The forms of suppressions: the filter, and a new entry."""

from __future__ import annotations

from collections.abc import Sequence
from uuid import UUID

from flask_wtf import FlaskForm
from wtforms import RadioField, SelectChoice, SelectField, StringField
from wtforms.validators import InputRequired

from dashboard.search.kinds import SEARCHED
from dashboard.search.plain import PlainFilter
from tasks.errors import InvalidInput
from tasks.models import Congregation, SuppressionReason
from tasks.operations.suppression_rows import NOTE_MAX
from tasks.operations.suppressions import BY_HAND
from tasks.saying import later


class SuppressionFilter(PlainFilter):
    """Which addresses to list."""

    searched = SEARCHED["suppressions"]


class SuppressionForm(FlaskForm):  # type: ignore[misc]  # WTForms has no types
    """What an operator says about an address that is to get no mails."""

    address = StringField(
        later("E-mail address"), render_kw={"inputmode": "email", "autocomplete": "off"}
    )
    congregation_id = SelectField(
        later("Congregation"),
        [InputRequired(later("Choose a congregation."))],
        invalid_choice_message=later("Choose a congregation."),
        description=later("Others may still write to the address."),
    )
    agent = StringField(
        later("For this agent alone"),
        description=later(
            "Optional: an agent’s address. Others may still write, and rules’ "
            "mails go out."
        ),
        render_kw={"inputmode": "email", "autocomplete": "off"},
    )
    reason = RadioField(
        later("Why"),
        invalid_choice_message=later("Choose why."),
        choices=[
            SelectChoice(reason.value, later(text)) for reason, text in BY_HAND.items()
        ],
        default=SuppressionReason.ASKED.value,
    )
    note = StringField(
        later("Note"), description=later("Optional."), render_kw={"maxlength": NOTE_MAX}
    )

    def offer(self, congregations: Sequence[Congregation]) -> None:
        """Say which congregations may be chosen."""
        self.congregation_id.choices = [
            SelectChoice(str(one.id), one.name) for one in congregations
        ]

    @property
    def congregation(self) -> UUID:
        """The chosen congregation; only asked for when the form is valid."""
        return UUID(self.congregation_id.data)

    @property
    def why(self) -> SuppressionReason:
        """The chosen reason; only asked for when the form is valid."""
        return SuppressionReason(self.reason.data)

    def refuse(self, refused: InvalidInput) -> None:
        """Show the engine's refusal at the field that it names."""
        name = refused.field if refused.field in self.data else "address"
        self[name].errors = [*self[name].errors, refused.message]
