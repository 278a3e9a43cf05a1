"""The form of a member."""

from __future__ import annotations

from typing import Any, Self

from wtforms import (
    BooleanField,
    SelectChoice,
    SelectField,
    StringField,
    TelField,
    TextAreaField,
)

from dashboard.office import DayField, OfficeForm, WithinForm
from tasks.congregation.people import members
from tasks.congregation.people.members import MemberDraft
from tasks.congregation.texts import NOTES_MAX
from tasks.idn import in_letters
from tasks.models import Member
from tasks.saying import later

_GENDERS = [
    SelectChoice("", later("Not known")),
    SelectChoice("female", later("Female")),
    SelectChoice("male", later("Male")),
]


class MemberForm(OfficeForm):
    """What an operator may say about a member."""

    first_name = StringField(
        later("First name"), render_kw={"maxlength": members.NAME_MAX}
    )
    last_name = StringField(
        later("Last name"), render_kw={"maxlength": members.NAME_MAX}
    )
    gender = SelectField(later("Gender"), choices=_GENDERS, validate_choice=False)
    birth_date = DayField(later("Born"))
    baptism_date = DayField(later("Baptised"))
    joined_on = DayField(later("Member since"))
    inactive_on = DayField(
        later("Inactive since"),
        description=later("Empty while active. Who is inactive gets no territory."),
    )
    # Not of type "email": browsers refuse letters beyond ASCII before the @ there.
    email = StringField(
        later("E-mail"), render_kw={"autocomplete": "off", "inputmode": "email"}
    )
    phone = TelField(later("Phone"), render_kw={"maxlength": members.PHONE_MAX})
    address = StringField(
        later("Address"), render_kw={"maxlength": members.ADDRESS_MAX}
    )
    is_publisher = BooleanField(later("Publisher"), default=True)
    is_elder = BooleanField(later("Elder"))
    is_servant = BooleanField(later("Servant"))
    is_anointed = BooleanField(later("Anointed"))
    notes = TextAreaField(
        later("Notes"),
        description=later("Forgotten together with the member."),
        render_kw={"maxlength": NOTES_MAX},
    )

    def draft(self) -> MemberDraft:
        """Return the input in the engine's words."""
        values: dict[str, Any] = {
            name: self[name].data for name in MemberDraft.__dataclass_fields__
        }
        texts = {"first_name", "last_name", "gender", "email", "phone", "address"}
        for name in texts | {"notes"}:
            values[name] = values[name] or ""
        return MemberDraft(**values)

    @classmethod
    def of(cls, row: Member) -> Self:
        """Return the form filled with what is known."""
        form = cls(obj=row)
        form.email.data = in_letters(row.email)
        return form


class NewMemberForm(MemberForm, WithinForm):
    """Somebody new: also of which congregation."""
