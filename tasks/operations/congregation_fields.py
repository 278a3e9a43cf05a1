"""What may stand in the fields of a congregation; forms and verbs ask here."""

from __future__ import annotations

import re
import zoneinfo
from collections.abc import Mapping
from functools import cache
from typing import Final

from tasks.errors import InvalidInput
from tasks.saying import say

#: The languages of messages to guests, with the name that operators read.
LOCALES: Final[Mapping[str, str]] = {"en": "English", "fr": "Français"}
NAME_MAX: Final = 120
SLUG_MAX: Final = 64
_SLUG: Final = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*")
#: Words that stand at a slug's place in addresses of the console.
_RESERVED_SLUGS: Final = frozenset({"new"})
#: Entries of the timezone database that stand for no place or for this machine.
_NOT_PLACES: Final = frozenset({"Factory", "localtime", "posixrules"})


@cache  # finding them reads a folder of files
def _names() -> frozenset[str]:
    return frozenset(zoneinfo.available_timezones()) - _NOT_PLACES


@cache
def timezones() -> tuple[str, ...]:
    """Return the IANA names to choose from, in order; legacy aliases are left out."""
    return tuple(
        sorted(
            name
            for name in _names()
            if name == "UTC"
            or ("/" in name and not name.startswith(("Etc/", "SystemV/", "US/")))
        )
    )


def clean_name(text: str) -> str:
    """Return the name as it is kept.

    Raises:
        InvalidInput: it is empty, too long, or holds control characters.
    """
    name = text.strip()
    if not name:
        raise InvalidInput("name_missing", say("Give it a name."), field="name")
    if len(name) > NAME_MAX:
        raise InvalidInput(
            "name_too_long",
            say(
                "A name has at most %(max)s characters; this one has %(n)s.",
                max=NAME_MAX,
                n=len(name),
            ),
            field="name",
        )
    if not name.isprintable():
        raise InvalidInput(
            "name_unprintable",
            say("The name holds characters that do not print; type it anew."),
            field="name",
        )
    return name


def clean_slug(text: str) -> str:
    """Return the slug as it is kept: small letters, digits and single hyphens.

    Raises:
        InvalidInput: it is empty, too long, of other characters, or reserved.
    """
    slug = text.strip().lower()
    if not slug or len(slug) > SLUG_MAX or not _SLUG.fullmatch(slug):
        raise InvalidInput(
            "slug_malformed",
            say(
                "Use 1 to %(max)s small letters, digits and single hyphens, as in "
                "st-mary.",
                max=SLUG_MAX,
            ),
            field="slug",
        )
    if slug in _RESERVED_SLUGS:
        raise InvalidInput(
            "slug_reserved",
            say(
                "“%(slug)s” is a word of the console itself; choose another.", slug=slug
            ),
            field="slug",
        )
    return slug


def clean_locale(text: str) -> str:
    """Return the locale.

    Raises:
        InvalidInput: it is none of ``LOCALES``.
    """
    if text not in LOCALES:
        raise InvalidInput(
            "locale_unknown",
            say(
                "Choose one of the languages: %(languages)s.",
                languages=", ".join(LOCALES),
            ),
            field="locale",
        )
    return text


def clean_timezone(text: str) -> str:
    """Return the timezone's IANA name.

    Raises:
        InvalidInput: the timezone database has no such name.
    """
    name = text.strip()
    if name not in _names():
        raise InvalidInput(
            "timezone_unknown",
            say(
                "There is no timezone “%(name)s”. Use an IANA name such as "
                "Europe/Berlin, America/Montreal or UTC.",
                name=name[:64],
            ),
            field="timezone",
        )
    return name
