"""Forms about operators."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final
from uuid import UUID

from flask_wtf import FlaskForm
from wtforms import (
    BooleanField,
    EmailField,
    RadioField,
    SelectChoice,
    SelectMultipleField,
    StringField,
)
from wtforms.validators import InputRequired, Length

from dashboard.operators.models import RoleName
from tasks.models import Congregation
from tasks.saying import later, mark

_ROLES: Final = {
    RoleName.VIEWER: mark("Viewer: sees everything, changes nothing"),
    RoleName.OPERATOR: mark(
        "Operator: also changes rules, retries, cancels, pauses lanes"
    ),
    RoleName.ADMIN: mark("Admin: also manages operators, tokens and congregations"),
}


class AccessForm(FlaskForm):  # type: ignore[misc]  # WTForms has no types
    """What an operator may do and see."""

    role = RadioField(
        later("Role"),
        [InputRequired()],
        choices=[
            SelectChoice(role.value, later(text)) for role, text in _ROLES.items()
        ],
        default=RoleName.VIEWER.value,
    )
    sees_all = BooleanField(
        later("Sees every congregation, also those to come"), default=True
    )
    congregations = SelectMultipleField(
        later("Only these congregations"),
        description=later("Counts when the box above is not ticked."),
    )

    def offer(self, congregations: Sequence[Congregation]) -> None:
        """Say which congregations may be chosen."""
        self.congregations.choices = [
            SelectChoice(str(one.id), one.name) for one in congregations
        ]

    @property
    def chosen(self) -> list[UUID]:
        """The congregations to keep; none when all are seen."""
        return (
            []
            if self.sees_all.data
            else [UUID(one) for one in self.congregations.data or ()]
        )


class OperatorForm(AccessForm):
    """A new operator."""

    email = EmailField(
        later("E-mail address"),
        [InputRequired(later("Enter an e-mail address.")), Length(max=255)],
        render_kw={"autocomplete": "off"},
    )
    name = StringField(
        later("Name"), [Length(max=120)], render_kw={"autocomplete": "off"}
    )
