"""The types of notifications by name, their categories, and who has to hear of them."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from tasks.congregation.notifications.kind import Kind, said
from tasks.congregation.notifications.table import ROWS
from tasks.errors import InvalidInput
from tasks.saying import mark, say

#: What a pattern of a whole category ends in.
ANY: Final = ".*"
#: Category -> its name for operators, and in the subject of a digest.
CATEGORIES: Final[Mapping[str, str]] = {
    "document": said("Documents"),
    "territory": said("Territories"),
    "retention": said("Members who left"),
    "sync": said("Address updates"),
    "data_transfer": said("Exports and imports"),
}
#: Duty -> its name; the keys of the table ``duties`` that notifications go to.
DUTIES: Final[Mapping[str, str]] = {
    "board_validator": mark("Board validators"),
    "administrator": mark("Administrators"),
}


def _checked(rows: tuple[Kind, ...]) -> Mapping[str, Kind]:
    found = {row.type: row for row in rows}
    assert len(found) == len(rows)  # noqa: S101  # no type stands there twice
    for row in rows:
        assert row.category in CATEGORIES  # noqa: S101  # it has a name
        assert set(row.cancels) <= found.keys()  # noqa: S101  # they exist
    return MappingProxyType(found)


#: All types by name, in the order in which mails and operators show them.
KINDS: Final = _checked(ROWS)


def kind_of(type_: str) -> Kind:
    """Return a type's row.

    Raises:
        InvalidInput: there is no such type.
    """
    if type_ not in KINDS:
        raise InvalidInput(
            "unknown_type",
            say("There is no notification %(name)s.", name=repr(type_[:64])),
            field="type",
        )
    return KINDS[type_]


def patterns() -> dict[str, str]:
    """Return what a preference can be about, and its words: categories, then types."""
    found: dict[str, str] = {}
    for category, name in CATEGORIES.items():
        found[category + ANY] = name
        found |= {k.type: k.title for k in KINDS.values() if k.category == category}
    return found
