"""The form of a congregation."""

from __future__ import annotations

from collections.abc import Callable

from flask_wtf import FlaskForm
from wtforms import Field, Form, SelectChoice, SelectField, StringField
from wtforms.validators import ValidationError

from tasks.errors import InvalidInput
from tasks.operations.congregation_fields import (
    LOCALES,
    NAME_MAX,
    SLUG_MAX,
    clean_locale,
    clean_name,
    clean_slug,
    clean_timezone,
)
from tasks.operations.congregations import CongregationChange
from tasks.saying import later


def _checked(clean: Callable[[str], str]) -> Callable[[Form, Field], None]:
    """Return a validator that refuses what the engine would refuse, in its words."""

    def check(_form: Form, field: Field) -> None:
        try:
            clean(field.data or "")
        except InvalidInput as refused:
            raise ValidationError(refused.message) from refused

    return check


class CongregationForm(FlaskForm):  # type: ignore[misc]  # WTForms has no types
    """What an admin may say about a congregation."""

    name = StringField(
        later("Name"), [_checked(clean_name)], render_kw={"maxlength": NAME_MAX}
    )
    slug = StringField(
        later("Short name"),
        [_checked(clean_slug)],
        description=later(
            "Stands in this console's links: small letters, digits, hyphens."
        ),
        render_kw={"maxlength": SLUG_MAX, "placeholder": "st-mary"},
    )
    locale = SelectField(
        later("Language"),
        [_checked(clean_locale)],
        choices=[SelectChoice(word, title) for word, title in LOCALES.items()],
        validate_choice=False,  # ours says it better
        description=later("New rules begin with a text in this language."),
    )
    timezone = StringField(
        later("Timezone"),
        [_checked(clean_timezone)],
        default="UTC",
        description=later(
            "An IANA name such as Europe/Berlin. Podcasts may have their own."
        ),
        render_kw={"list": "timezones", "autocomplete": "off"},
    )

    def change(self) -> CongregationChange:
        """Return the input in the words of the engine."""
        return CongregationChange(
            slug=self.slug.data or "",
            name=self.name.data or "",
            locale=self.locale.data or "",
            timezone=self.timezone.data or "",
        )

    def refuse(self, refused: InvalidInput) -> None:
        """Show the engine's refusal at the field that it names."""
        field = self[refused.field or "slug"]
        field.errors = [*field.errors, refused.message]
