"""The form with which somebody takes note of failures."""

from __future__ import annotations

from flask_wtf import FlaskForm
from wtforms import StringField

from dashboard.filter_fields import MomentField, by_own_clock, clean
from tasks.models.failure import NOTE_MAX
from tasks.saying import later, say


class AcknowledgeForm(FlaskForm):  # type: ignore[misc]  # WTForms has no types
    """What whoever looks next should know, and when to ask again."""

    note = StringField(
        later("Note"),
        filters=[clean],
        description=later("What it is, and who is at it. Everybody sees it."),
        render_kw={"maxlength": NOTE_MAX, "autocomplete": "off"},
    )
    until = MomentField(
        by_own_clock(later("Quiet until")),
        description=later("Empty: it asks again as soon as it fails again."),
    )

    def first_error(self) -> str | None:
        """Return what is wrong in a sentence; None: nothing is."""
        for name, errors in self.errors.items():
            label = self[name].label.text if name in self else say("The form")
            return say("“%(field)s” %(problem)s.", field=label, problem=errors[0])
        return None
