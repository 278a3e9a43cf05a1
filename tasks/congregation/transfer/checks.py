"""What a row must be besides its columns, and columns that are made of others."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any, Final

from tasks.automation.zones import zone_names
from tasks.congregation.addresses.perimeters import read_geojson
from tasks.congregation.campaigns.drafts import REST_DAYS_MAX
from tasks.congregation.names import folded
from tasks.congregation.transfer.entity import Row
from tasks.errors import InvalidInput
from tasks.operations.congregation_fields import LOCALES
from tasks.outbound.mailboxes import BadAddress, normal_address
from tasks.saying import mark
from tasks.saying.kept import kept

#: A field and what is wrong with it; None: nothing is.
Fault = tuple[str, str] | None
_ITEMS_MAX: Final = 2_000
_ITEM_MAX: Final = 500  # characters


def search_name(row: Row) -> str:
    """Return a member's name as it is sorted and searched for."""
    return folded(f"{row['last_name']} {row['first_name']}")[:255]


def address(text: str) -> str:
    """Return an e-mail address as it is kept; an empty one stays so.

    Raises:
        InvalidInput: it is none.
    """
    try:
        return normal_address(text) if text else ""
    except BadAddress as error:
        raise InvalidInput("bad_address", mark("is no e-mail address")) from error


def needed_address(text: str) -> str:
    """Return an e-mail address as it is kept.

    Raises:
        InvalidInput: it is none.
    """
    if not text:
        raise InvalidInput("bad_address", mark("is empty"))
    return address(text)


def in_order(first: str, last: str) -> Callable[[Row], Fault]:
    """Return what looks whether a row's last day is before its first one."""

    def check(row: Row) -> Fault:
        if row[last] is not None and row[last] < row[first]:
            return last, kept("is before “%(name)s”", name=first)
        return None

    return check


def rest_days(value: int) -> int:
    """Return how long a territory rests.

    Raises:
        InvalidInput: it is negative, or so long that no calendar has the day.
    """
    if not 0 <= value <= REST_DAYS_MAX:
        raise InvalidInput(
            "rest_out_of_range",
            kept("is not from 0 to %(max)s", max=str(REST_DAYS_MAX)),
        )
    return value


def is_active(row: Row) -> bool:
    """Whether a campaign is under way."""
    return row["activated_at"] is not None and row["ended_at"] is None


def search_title(row: Row) -> str:
    """Return a document's title as it is searched for."""
    return folded(row["title"])[:200]


def is_a_place(row: Row) -> Fault:
    """Whether an address has both of its coordinates or none, on this planet."""
    lat, lon = row["lat"], row["lon"]
    if (lat is None) != (lon is None):
        return "lat", mark("is there without “lon”, or the other way round")
    if lat is not None and not (-90 <= lat <= 90 and -180 <= lon <= 180):
        return "lat", mark("is no place on earth")
    return None


def texts(value: Any) -> list[str]:  # noqa: ANN401  # from JSON
    """Return a list of short texts.

    Raises:
        InvalidInput: it is none.
    """
    if not isinstance(value, list) or len(value) > _ITEMS_MAX:
        raise InvalidInput(
            "bad_list",
            kept("is no list of %(max)s texts at most", max=str(_ITEMS_MAX)),
        )
    for each in value:
        if not isinstance(each, str) or len(each) > _ITEM_MAX or not each.isprintable():
            raise InvalidInput("bad_list", mark("is no list of short texts"))
    return value


def perimeter(value: Any) -> dict[str, Any]:  # noqa: ANN401  # from JSON
    """Return a perimeter in the form in which it is kept.

    Raises:
        InvalidInput: it is none.
    """
    try:
        return read_geojson(json.dumps(value))
    except InvalidInput as refused:
        raise InvalidInput(
            "bad_perimeter", kept("is no perimeter: %(why)s", why=str(refused))
        ) from refused


def timezone(text: str) -> str:
    """Return the name of a time zone.

    Raises:
        InvalidInput: there is none of this name.
    """
    if text not in zone_names():
        raise InvalidInput("bad_timezone", mark("is no time zone"))
    return text


def locale(text: str) -> str:
    """Return a language that there is.

    Raises:
        InvalidInput: there is not.
    """
    if text not in LOCALES:
        raise InvalidInput(
            "bad_locale", kept("is none of these: %(known)s", known=", ".join(LOCALES))
        )
    return text
