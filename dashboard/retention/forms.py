"""The forms of retention."""

from __future__ import annotations

from typing import Final

from wtforms import StringField

from dashboard.office import OfficeForm
from tasks.models.congregation import RETENTION_MONTHS_MAX
from tasks.saying import later

_DIGITS_MAX: Final = 4


def asked_months(text: object) -> int | None:
    """Return the months that somebody typed; ``None``: that is no number of them."""
    typed = str(text or "").strip()
    is_number = typed.isascii() and typed.isdigit() and len(typed) <= _DIGITS_MAX
    return int(typed) if is_number else None


class MonthsForm(OfficeForm):
    """How long who left is kept."""

    months = StringField(
        later("Months until members who left are anonymised"),
        render_kw={
            "type": "number",
            "min": 1,
            "max": RETENTION_MONTHS_MAX,
            "inputmode": "numeric",
        },
    )


class AnonymiseForm(OfficeForm):
    """What has to be typed before somebody is erased."""

    name = StringField(
        later("Type the name to confirm it"),
        render_kw={"autocomplete": "off", "spellcheck": "false", "maxlength": 300},
    )
