"""The translations, read from the catalogs when a language is first asked for.

One file for each folder of pages or of the engine, so that a page's words lie
together; nothing has to be built after a change.
"""

from __future__ import annotations

import gettext
import io
from functools import lru_cache
from importlib.resources import files
from importlib.resources.abc import Traversable
from typing import Final

from babel.messages.catalog import Catalog
from babel.messages.mofile import write_mo
from babel.messages.pofile import read_po

#: The languages of the console, as they call themselves; the first needs no catalog.
LANGUAGES: Final = {"en": "English", "fr": "Français"}
#: Between what a text is about and the text, in what a catalog finds it by: gettext's.
ABOUT: Final = "\4"
#: How every catalog begins.  French has two forms; CLDR's third is for millions only.
HEADER: Final = b"""msgid ""
msgstr ""
"Content-Type: text/plain; charset=utf-8\\n"
"Plural-Forms: nplurals=2; plural=(n > 1);\\n"

"""


@lru_cache
def catalog(language: str) -> gettext.NullTranslations:
    """Return the translations into one of LANGUAGES; none into the first."""
    if language == next(iter(LANGUAGES)):
        return gettext.NullTranslations()
    folder = files("tasks.saying").joinpath("locale", language)
    files_of_it = [one for one in folder.iterdir() if one.name.endswith(".po")]
    return compiled(files_of_it, language)


def empty(locale: str) -> Catalog:
    """Return a catalog with nothing but the header."""
    return read_po(io.BytesIO(HEADER), locale=locale)


def compiled(sources: list[Traversable], locale: str) -> gettext.GNUTranslations:
    """Return what some ``.po`` files say, as one catalog."""
    merged = empty(locale)
    for source in sorted(sources, key=lambda one: one.name):
        with source.open("rb") as file:
            for message in read_po(file, locale=locale):
                if message.id:
                    merged.add(message.id, message.string, context=message.context)
    made = io.BytesIO()
    write_mo(made, merged)
    made.seek(0)
    return gettext.GNUTranslations(made)
