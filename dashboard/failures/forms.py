"""The form with which somebody takes note of failures."""

from __future__ import annotations

from flask_wtf import FlaskForm
from wtforms import StringField

from dashboard.filter_fields import MomentField, clean
from tasks.models.failure import NOTE_MAX


class AcknowledgeForm(FlaskForm):  # type: ignore[misc]  # WTForms has no types
    """What whoever looks next should know, and when to ask again."""

    note = StringField(
        "Note",
        filters=[clean],
        description="What it is, and who is at it. Everybody sees it.",
        render_kw={"maxlength": NOTE_MAX, "autocomplete": "off"},
    )
    until = MomentField(
        "Quiet until (UTC)",
        description="Empty: it asks again as soon as it fails again.",
    )

    def first_error(self) -> str | None:
        """Return what is wrong in a sentence; None: nothing is."""
        for name, errors in self.errors.items():
            label = self[name].label.text if name in self else "The form"
            return f"“{label}” {errors[0]}."
        return None
