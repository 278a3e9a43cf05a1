"""What the columns of a list of contacts are called, whatever program wrote it."""

from __future__ import annotations

import unicodedata
from collections.abc import Mapping
from typing import Final

from tasks.saying import mark

#: Our field -> how columns are called, without accents, spaces and signs.
_NAMES: Final[Mapping[str, frozenset[str]]] = {
    "address": frozenset(
        {"address", "email", "mail", "emailaddress", "courriel", "adresseemail"}
        | {"emailadresse", "mailadresse", "adressemail"}
    ),
    "display_name": frozenset(
        {"displayname", "name", "fullname", "contact", "nom", "nomcomplet"}
        | {"vollername", "anzeigename"}
    ),
    "stage": frozenset({"stage", "etape", "phase", "stufe"}),
    "next_action_at": frozenset({"nextactionat", "nextaction", "due"}),
}
#: What operators read for our fields.
FIELD_WORDS: Final = (
    mark("address"),
    mark("display name"),
    mark("stage"),
    mark("next action at"),
)


def field_of(header: str) -> str:
    """Return our field that a column's name means; empty: none."""
    plain = unicodedata.normalize("NFKD", header.casefold())
    word = "".join(char for char in plain if char.isalnum())
    return next((field for field, names in _NAMES.items() if word in names), "")
