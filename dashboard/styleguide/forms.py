"""A form with every kind of field, in every state."""

from __future__ import annotations

from typing import Final

from wtforms import (
    BooleanField,
    Form,
    RadioField,
    SelectChoice,
    SelectField,
    SelectMultipleField,
    StringField,
    TextAreaField,
)

from tasks.saying import later, say

_BELLS: Final = [
    SelectChoice("small", later("The small one")),
    SelectChoice("great", later("The great one")),
]


class SampleForm(Form):  # type: ignore[misc]  # WTForms has no types
    """What no page asks for: it only shows how fields look."""

    plain = StringField(
        later("A text"), render_kw={"placeholder": later("What may stand here")}
    )
    helped = StringField(
        later("With help"), description=later("One sentence that helps.")
    )
    wrong = StringField(later("Refused"), default="25:00")
    locked = StringField(
        later("Locked"), default=later("Made by us"), render_kw={"disabled": True}
    )
    choice = SelectField(later("One of some"), choices=_BELLS)
    several = SelectMultipleField(
        later("Some of several"), choices=_BELLS, default=["great"]
    )
    long = TextAreaField(later("A long text"))
    radio = RadioField(later("One, all seen"), choices=_BELLS, default="small")
    ticked = BooleanField(later("Ticked"), default=True)
    unticked = BooleanField(
        later("Not ticked"), description=later("With a word of help.")
    )
    refused = BooleanField(later("Refused as well"))


def sample_form() -> SampleForm:
    """Return the form with the refusals that it shows."""
    form = SampleForm()
    form.wrong.errors = [say("There is no such hour. Use 00:00 to 23:59.")]
    form.refused.errors = [say("Tick it to go on.")]
    return form
