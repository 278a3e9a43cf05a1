"""Names as they are compared and sorted: without marks, case and odd blanks."""

from __future__ import annotations

import unicodedata
from typing import Final

#: Letters that are no letter with a mark, and are typed without them all the same.
_PLAIN: Final = str.maketrans(
    {"ø": "o", "đ": "d", "ł": "l", "æ": "ae", "œ": "oe", "ı": "i"}
)


def folded(text: str) -> str:
    """Return ``text`` as it is searched for.

    >>> folded("  Ångström-Łukasz\\u00a0 STRAẞE ")
    'angstrom-lukasz strasse'
    """
    parts = unicodedata.normalize("NFKD", text.casefold()).casefold()
    bare = "".join(char for char in parts if not unicodedata.combining(char))
    return " ".join(bare.translate(_PLAIN).split())
