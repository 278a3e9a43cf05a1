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

_ROLES: Final = {
    RoleName.VIEWER: "Viewer: sees everything, changes nothing",
    RoleName.OPERATOR: "Operator: also changes rules, retries, cancels, pauses lanes",
    RoleName.ADMIN: "Admin: also manages operators, tokens and congregations",
}


class AccessForm(FlaskForm):  # type: ignore[misc]  # WTForms has no types
    """What an operator may do and see."""

    role = RadioField(
        "Role",
        [InputRequired()],
        choices=[SelectChoice(role.value, text) for role, text in _ROLES.items()],
        default=RoleName.VIEWER.value,
    )
    sees_all = BooleanField("Sees every congregation, also those to come", default=True)
    congregations = SelectMultipleField(
        "Only these congregations",
        description="Counts when the box above is not ticked.",
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
        "E-mail address",
        [InputRequired("Enter an e-mail address."), Length(max=255)],
        render_kw={"autocomplete": "off"},
    )
    name = StringField("Name", [Length(max=120)], render_kw={"autocomplete": "off"})
