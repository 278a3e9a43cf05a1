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

    def offer(self, congregations: Sequence[Congregation], *, everywhere: bool) -> None:
        """Say which congregations may be chosen, and whether all of them may be."""
        self.congregations.choices = [
            SelectChoice(str(one.id), one.name) for one in congregations
        ]
        if not everywhere:
            del self.sees_all

    @property
    def everywhere(self) -> bool:
        """Whether every congregation is to be seen."""
        return "sees_all" in self and bool(self.sees_all.data)

    def chosen(self, given: Sequence[UUID] = ()) -> list[UUID]:
        """Return the congregations to keep; none when all are seen.

        Args:
            given: what the operator has; what the form does not offer stays theirs.
        """
        if self.everywhere:
            return []
        offered = {choice.value for choice in self.congregations.choices}
        hidden = [one for one in given if str(one) not in offered]
        return [*hidden, *(UUID(one) for one in self.congregations.data or ())]


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
