"""The form of one's own account."""

from __future__ import annotations

from flask_wtf import FlaskForm
from wtforms import Field, Form, StringField
from wtforms.validators import ValidationError

from tasks.errors import InvalidInput
from tasks.operations.congregation_fields import clean_timezone


def _is_a_zone(_form: Form, field: Field) -> None:
    try:
        clean_timezone(field.data or "")
    except InvalidInput as refused:
        raise ValidationError(refused.message) from refused


class AccountForm(FlaskForm):  # type: ignore[misc]  # WTForms has no types
    """What operators choose for themselves."""

    timezone = StringField(
        "Timezone",
        [_is_a_zone],
        description="An IANA name such as Europe/Berlin. Pages show times in it.",
        render_kw={"list": "timezones", "autocomplete": "off", "spellcheck": "false"},
    )
