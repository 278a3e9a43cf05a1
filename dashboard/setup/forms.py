"""The forms behind a link that works once."""

from __future__ import annotations

from flask_wtf import FlaskForm
from wtforms import EmailField, HiddenField, PasswordField, StringField
from wtforms.validators import EqualTo, InputRequired, Length

from dashboard.config import PASSWORD_MAX, PASSWORD_MIN


class PasswordForm(FlaskForm):  # type: ignore[misc]  # WTForms has no types
    """A new password, typed twice."""

    token = HiddenField(validators=[InputRequired(), Length(max=64)])
    password = PasswordField(
        "Password",
        [InputRequired("Choose a password."), Length(max=PASSWORD_MAX)],
        description=(
            f"At least {PASSWORD_MIN} characters. Three or four words are good."
        ),
        render_kw={"autocomplete": "new-password", "minlength": PASSWORD_MIN},
    )
    again = PasswordField(
        "Password again",
        [EqualTo("password", "The two passwords differ.")],
        render_kw={"autocomplete": "new-password"},
    )


class FirstAdminForm(PasswordForm):
    """The first admin's address, name and password."""

    email = EmailField(
        "E-mail address",
        [InputRequired("Enter your e-mail address."), Length(max=255)],
        render_kw={"autocomplete": "username"},
    )
    name = StringField("Name", [Length(max=120)], render_kw={"autocomplete": "name"})
