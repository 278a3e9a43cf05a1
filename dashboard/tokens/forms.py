"""The form of a new token."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Final
from uuid import UUID

from flask_wtf import FlaskForm
from wtforms import (
    RadioField,
    SelectChoice,
    SelectField,
    SelectMultipleField,
    StringField,
)
from wtforms.validators import InputRequired
from wtforms.widgets import CheckboxInput, ListWidget

from tasks.errors import InvalidInput
from tasks.models import Congregation
from tasks.operations.tokens import NAME_MAX, SCOPES
from tasks.saying import later, mark

#: Days until a token expires -> what operators read.  Empty: it does not.
LIFETIMES: Final = {
    "30": mark("30 days"),
    "90": mark("90 days"),
    "365": mark("One year"),
    "": mark("Until it is revoked"),
}


class TokenForm(FlaskForm):  # type: ignore[misc]  # WTForms has no types
    """What an admin says about a new token."""

    name = StringField(
        later("Name"),
        description=later("Which application will use it, such as “Website”."),
        render_kw={"maxlength": NAME_MAX, "autocomplete": "off"},
    )
    congregation_id = SelectField(
        later("Congregation"),
        [InputRequired(later("Choose a congregation."))],
        description=later("The token sees and changes nothing of any other."),
    )
    scopes = SelectMultipleField(
        later("It may"),
        choices=[SelectChoice(scope, later(text)) for scope, text in SCOPES.items()],
        # Who manages endpoints decides where all events go: not by default.
        default=[scope for scope in SCOPES if not scope.endswith(":manage")],
        widget=ListWidget(prefix_label=False),
        option_widget=CheckboxInput(),
    )
    days = RadioField(
        later("It is valid for"),
        choices=[SelectChoice(days, later(text)) for days, text in LIFETIMES.items()],
        default="365",
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

    def expires_at(self, now: datetime) -> datetime | None:
        """Return when the token ends; ``None``: it does not."""
        return now + timedelta(days=int(self.days.data)) if self.days.data else None

    def refuse(self, refused: InvalidInput) -> None:
        """Show the engine's refusal at the field that it names."""
        name = refused.field if refused.field in self.data else "name"
        self[name].errors = [*self[name].errors, refused.message]
