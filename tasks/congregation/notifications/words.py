"""The words of mails in the recipient's language, from catalogs compiled at the start.

``locale/<language>.po`` is all there is: nothing has to be built after a change.
English needs none, since the msgids are English.
"""

from __future__ import annotations

import gettext
import io
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date, datetime
from functools import lru_cache
from importlib.resources import files
from typing import Final
from zoneinfo import ZoneInfo

from babel.dates import format_date, format_datetime
from babel.messages.mofile import write_mo
from babel.messages.pofile import read_po
from babel.numbers import format_decimal

#: Languages that mails are written in; the first stands in for all others.
LOCALES: Final = ("en", "fr")


@lru_cache
def catalog(locale: str) -> gettext.NullTranslations:
    """Return the translations of one of LOCALES."""
    if locale == LOCALES[0]:
        return gettext.NullTranslations()
    source = files("tasks.congregation.notifications").joinpath("locale")
    made = io.BytesIO()
    with source.joinpath(f"{locale}.po").open("rb") as file:
        write_mo(made, read_po(file, locale=locale))
    made.seek(0)
    return gettext.GNUTranslations(made)


def said_many(one: str, many: str) -> tuple[str, str]:
    """Mark a text with a number for the catalogs."""
    return one, many


@dataclass(frozen=True, slots=True)
class Words:
    """How one recipient reads: language and timezone."""

    locale: str
    timezone: str = "UTC"

    @classmethod
    def of(cls, locale: str, timezone: str) -> Words:
        """Return the words of a language; English ones for a language we have not."""
        known = locale if locale in LOCALES else LOCALES[0]
        return cls(known, timezone)

    def say(self, text: str, values: Mapping[str, object] | None = None) -> str:
        """Return a marked text in the language, with its values.

        Raises:
            KeyError: a value is missing.
        """
        written = catalog(self.locale).gettext(text)
        return written.format_map(self._written(values or {}))

    def count(self, texts: tuple[str, str], n: int, **values: object) -> str:
        """Return a marked text for a number; ``{n}`` is the number."""
        written = catalog(self.locale).ngettext(*texts, n)
        return written.format_map(self._written({**values, "n": n}))

    def _written(self, values: Mapping[str, object]) -> dict[str, str]:
        return {name: self._write(value) for name, value in values.items()}

    def _write(self, value: object) -> str:
        match value:
            case datetime():
                local = value.astimezone(ZoneInfo(self.timezone))
                return format_datetime(local, "long", locale=self.locale)
            case date():
                return format_date(value, "long", locale=self.locale)
            case int() if not isinstance(value, bool):
                return format_decimal(value, locale=self.locale)
        return " ".join(str(value).split())
