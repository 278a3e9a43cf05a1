"""The forms of addresses, areas and syncs."""

from __future__ import annotations

from typing import Final

from wtforms import (
    BooleanField,
    HiddenField,
    MultipleFileField,
    RadioField,
    SelectChoice,
    StringField,
    TextAreaField,
)

from dashboard.office import OfficeForm, WithinForm
from tasks.congregation.addresses.areas import AreaChange
from tasks.congregation.addresses.editing import AddressChange, shown
from tasks.congregation.texts import NOTES_MAX
from tasks.models import Address, AddressArea
from tasks.saying import later

#: No version is longer, and Python refuses to read numbers of thousands of digits.
_DIGITS_MAX: Final = 9
_CODES: Final = {"rows": 3, "spellcheck": "false", "autocomplete": "off"}


class AddressForm(OfficeForm):
    """What an operator may say about an address."""

    lat = StringField(later("Latitude"), render_kw={"inputmode": "decimal"})
    lon = StringField(later("Longitude"), render_kw={"inputmode": "decimal"})
    follows = BooleanField(later("Let the next sync put it where open data says"))
    is_active = BooleanField(later("It is worked on"))
    notes = TextAreaField(later("Notes"), render_kw={"maxlength": NOTES_MAX})
    seen = HiddenField()

    def fill(self, row: Address) -> None:
        """Show what is kept."""
        self.lat.data, self.lon.data = shown(row)
        self.seen.data = " ".join(shown(row))
        self.is_active.data = row.is_active
        self.notes.data = row.notes

    def change(self) -> AddressChange:
        """Return the input in the engine's words."""
        return AddressChange(
            self.lat.data or "",
            self.lon.data or "",
            self.notes.data or "",
            is_active=bool(self.is_active.data),
            follows=bool(self.follows.data),
            seen=self.seen.data or "",
        )


class AreaForm(OfficeForm):
    """Which addresses a congregation wants."""

    postcodes = TextAreaField(
        later("Postal codes"),
        description=later(
            "With blanks or commas between them. Rows of other places are passed over."
        ),
        render_kw=_CODES,
    )
    communes = TextAreaField(
        later("Communes, by their INSEE codes"),
        description=later("For communes’ own files (BAL), which name no postal codes."),
        render_kw=_CODES,
    )
    urls = TextAreaField(
        later("Web addresses of files"),
        description=later(
            "One in each line; a new sync offers them. Without them it offers the "
            "files of departments."
        ),
        render_kw=_CODES,
    )
    version = HiddenField()

    def fill(self, area: AddressArea) -> None:
        """Show what is kept."""
        self.postcodes.data = " ".join(area.postcodes)
        self.communes.data = " ".join(area.communes)
        self.urls.data = "\n".join(area.urls)
        self.version.data = str(area.version)

    def change(self) -> AreaChange:
        """Return the input in the engine's words."""
        return AreaChange(
            self.postcodes.data or "",
            self.communes.data or "",
            self.urls.data or "",
            version_of(self.version.data),
        )


class SyncForm(WithinForm):
    """From where addresses are to be read."""

    form = RadioField(
        later("Whose files of departments"),
        choices=[
            SelectChoice("ban", later("BAN, the national address base")),
            SelectChoice("bano", later("BANO, of OpenStreetMap")),
        ],
        default="ban",
        validate_choice=False,
    )
    departments = StringField(
        later("Departments"),
        description=later(
            "Such as 54, 57; their files are fetched from where they are published."
        ),
        render_kw={"autocomplete": "off", "maxlength": 200},
    )
    urls = TextAreaField(
        later("Or web addresses of files"),
        description=later("One in each line."),
        render_kw={"rows": 2, "spellcheck": "false"},
    )
    files = MultipleFileField(
        later("Or files of yours"),
        description=later("BAN, BANO or BAL, as CSV or packed as .csv.gz."),
        render_kw={"accept": ".csv,.gz,text/csv,application/gzip"},
    )
    accepts = BooleanField(
        later("Apply it even if it looks wrong"),
        description=later(
            "Else a sync that would lose more than 30 % of the addresses, or whose "
            "last line is not ended, changes nothing and says so."
        ),
    )


def version_of(text: str | None) -> int:
    """Return the version that a form shows; one that is none fits nothing."""
    if not text or len(text) > _DIGITS_MAX or not (text.isascii() and text.isdigit()):
        return -1
    return int(text)
