"""The form of one's own account."""

from __future__ import annotations

from flask_wtf import FlaskForm
from wtforms import Field, Form, SelectChoice, SelectField, StringField
from wtforms.validators import ValidationError

from tasks.errors import InvalidInput
from tasks.operations.congregation_fields import clean_timezone
from tasks.saying import LANGUAGES, later


def _is_a_zone(_form: Form, field: Field) -> None:
    try:
        clean_timezone(field.data or "")
    except InvalidInput as refused:
        raise ValidationError(refused.message) from refused


class AccountForm(FlaskForm):  # type: ignore[misc]  # WTForms has no types
    """What operators choose for themselves."""

    timezone = StringField(
        later("Timezone"),
        [_is_a_zone],
        description=later(
            "An IANA name such as Europe/Berlin. Pages show times in it."
        ),
        render_kw={"list": "timezones", "autocomplete": "off", "spellcheck": "false"},
    )
    language = SelectField(
        later("Language"),
        choices=[
            SelectChoice("", later("That of the browser")),
            *(SelectChoice(sign, name) for sign, name in LANGUAGES.items()),
        ],
        default="",
        filters=[lambda given: given or ""],
        invalid_choice_message=later("Choose a language from the list."),
    )
