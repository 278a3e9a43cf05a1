"""The forms behind a link that works once."""

from __future__ import annotations

from flask_wtf import FlaskForm
from wtforms import EmailField, HiddenField, PasswordField, StringField
from wtforms.validators import EqualTo, InputRequired, Length

from dashboard.config import PASSWORD_MAX, PASSWORD_MIN
from tasks.saying import later


class PasswordForm(FlaskForm):  # type: ignore[misc]  # WTForms has no types
    """A new password, typed twice."""

    token = HiddenField(validators=[InputRequired(), Length(max=64)])
    password = PasswordField(
        later("Password"),
        [InputRequired(later("Choose a password.")), Length(max=PASSWORD_MAX)],
        description=later(
            "At least %(min)s characters. Three or four words are good.",
            min=PASSWORD_MIN,
        ),
        render_kw={"autocomplete": "new-password", "minlength": PASSWORD_MIN},
    )
    again = PasswordField(
        later("Password again"),
        [EqualTo("password", later("The two passwords differ."))],
        render_kw={"autocomplete": "new-password"},
    )


class FirstAdminForm(PasswordForm):
    """The first admin's address, name and password."""

    email = EmailField(
        later("E-mail address"),
        [InputRequired(later("Enter your e-mail address.")), Length(max=255)],
        render_kw={"autocomplete": "username"},
    )
    name = StringField(
        later("Name"), [Length(max=120)], render_kw={"autocomplete": "name"}
    )
