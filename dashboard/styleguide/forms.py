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

_BELLS: Final = [
    SelectChoice("small", "The small one"),
    SelectChoice("great", "The great one"),
]


class SampleForm(Form):  # type: ignore[misc]  # WTForms has no types
    """What no page asks for: it only shows how fields look."""

    plain = StringField("A text", render_kw={"placeholder": "What may stand here"})
    helped = StringField("With help", description="One sentence that helps.")
    wrong = StringField("Refused", default="25:00")
    locked = StringField("Locked", default="Made by us", render_kw={"disabled": True})
    choice = SelectField("One of some", choices=_BELLS)
    several = SelectMultipleField("Some of several", choices=_BELLS, default=["great"])
    long = TextAreaField("A long text")
    radio = RadioField("One, all seen", choices=_BELLS, default="small")
    ticked = BooleanField("Ticked", default=True)
    unticked = BooleanField("Not ticked", description="With a word of help.")
    refused = BooleanField("Refused as well")


def sample_form() -> SampleForm:
    """Return the form with the refusals that it shows."""
    form = SampleForm()
    form.wrong.errors = ["There is no such hour. Use 00:00 to 23:59."]
    form.refused.errors = ["Tick it to go on."]
    return form
