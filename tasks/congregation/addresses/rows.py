"""From a row of a file to an address, or to the reason why it is none."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Final, TypeVar

from tasks.congregation.addresses.keys import (
    HouseNumber,
    address_key,
    house_number,
    is_street,
    street_key,
)
from tasks.congregation.addresses.layouts import Layout
from tasks.models.address import KEY_MAX
from tasks.saying import mark

#: Decimals of a degree that are kept: about a centimetre.
_DECIMALS: Final = 7
_COMMUNE: Final = re.compile(r"[0-9][0-9AB][0-9]{3}")
_POSTCODE: Final = re.compile(r"(?!00000)[0-9]{5}")
_CITY_MAX: Final = 100
_SOURCE_ID_MAX: Final = 64
#: Answers that are remembered at once; a department has some ten thousand streets.
_KNOWN_MAX: Final = 50_000

K = TypeVar("K")
V = TypeVar("V")

#: key, number, street, postcode, city, insee, lat, lon, source_id
Row = tuple[str, str, str, str, str, str, float | None, float | None, str | None]


class Refusal(StrEnum):
    """Why a row is no address."""

    COLUMNS = "columns"
    NO_NUMBER = "no_number"
    NO_STREET = "no_street"
    BAD_TEXT = "bad_text"
    BAD_COMMUNE = "bad_commune"
    NO_POSITION = "no_position"
    BAD_POSITION = "bad_position"


#: For operators: what was wrong, after a number of rows.
REFUSALS: Final = {
    Refusal.COLUMNS: mark("have another number of columns than the others"),
    Refusal.NO_NUMBER: mark("have no house number, or one that cannot be read"),
    Refusal.NO_STREET: mark("have no street"),
    Refusal.BAD_TEXT: mark("hold characters that cannot be kept, or are too long"),
    Refusal.BAD_COMMUNE: mark("do not say in which commune they are"),
    Refusal.NO_POSITION: mark(
        "have no position: new ones are not added, known ones stay"
    ),
    Refusal.BAD_POSITION: mark("have a position that is nowhere on earth"),
}


@dataclass(frozen=True, slots=True)
class Wanted:
    """Which rows a congregation wants."""

    postcodes: frozenset[str]
    communes: frozenset[str]  # INSEE codes

    def has(self, postcode: str, insee: str) -> bool:
        """Whether a row of this postcode and commune is wanted."""
        return postcode in self.postcodes or insee in self.communes


@dataclass(slots=True)
class Places:
    """What files speak about: departments (BAN, BANO), or single communes (BAL)."""

    departments: set[str] = field(default_factory=set)
    communes: set[str] = field(default_factory=set)
    #: Postcode and commune of what is not wanted, for a sentence that helps.
    elsewhere: Counter[tuple[str, str]] = field(default_factory=Counter)

    def add(self, insee: str, *, is_of_department: bool) -> None:
        """Note what a file with this commune is about."""
        if is_of_department:
            self.departments.add(department_of(insee))
        else:
            self.communes.add(insee)


def department_of(insee: str) -> str:
    """Return the department of a commune's code: ``54``, ``2A``, ``974``."""
    return insee[:3] if insee.startswith("97") else insee[:2]


class _Known(dict[K, V]):
    """Answers by a function, which is asked once for each key."""

    def __init__(self, answer: Callable[[K], V]) -> None:
        super().__init__()
        self._answer = answer

    def __missing__(self, key: K) -> V:
        if len(self) >= _KNOWN_MAX:
            self.clear()
        value = self[key] = self._answer(key)
        return value


class RowReader:
    """Reads rows of one layout; what repeats from row to row is worked out once."""

    def __init__(self, layout: Layout, wanted: Wanted, places: Places) -> None:
        self._layout = layout
        self._wanted = wanted
        self._places = places
        self._areas = _Known(self._area)
        self._streets = _Known(_street)
        self._numbers = _Known(_number)
        self._postcode = _cell(layout.postcode)
        self._suffix = _cell(layout.suffix)
        self._former = _cell(layout.former)
        self._city = _cell(layout.city)
        self._source_id = _cell(layout.source_id)

    def read(self, cells: list[str]) -> Row | Refusal | None:
        """Return the address; ``None``: it is elsewhere.

        One without a position has ``None`` twice; it counts as refused as well.
        """
        layout = self._layout
        if len(cells) != layout.width:
            return Refusal.COLUMNS
        area = self._areas[self._postcode(cells), cells[layout.insee][:5]]
        if not isinstance(area, tuple):
            return area
        number = self._numbers[cells[layout.number], self._suffix(cells)]
        if number is None:
            return Refusal.NO_NUMBER
        street = self._streets[cells[layout.street]]
        if isinstance(street, Refusal):
            return street
        position = _position(cells[layout.lat], cells[layout.lon])
        if position is None:
            return Refusal.BAD_POSITION
        return self._row(cells, area, number, street, position)

    def _row(
        self,
        cells: list[str],
        area: tuple[str, str],
        number: HouseNumber,
        street: tuple[str, str],
        position: tuple[float, float] | tuple[None, None],
    ) -> Row | Refusal:
        postcode, insee = area
        shown, folded = street
        former, city = self._former(cells), self._city(cells)
        key = address_key(insee, former, folded, number.key)
        if len(key) > KEY_MAX or not (city + former).isprintable():
            return Refusal.BAD_TEXT
        id_ = self._source_id(cells)
        return (
            key,
            number.display,
            shown,
            postcode,
            city[:_CITY_MAX],
            insee,
            *position,
            id_[:_SOURCE_ID_MAX] if _is_plain(id_) else None,
        )

    def _area(self, given: tuple[str, str]) -> tuple[str, str] | Refusal | None:
        """Return postcode and commune of wanted rows; ``None``: not wanted."""
        # Spreadsheets take the zero at the front for nothing.
        postcode, insee = (text.strip().zfill(5).upper() for text in given)
        if not _POSTCODE.fullmatch(postcode):
            postcode = ""
        if not _COMMUNE.fullmatch(insee):
            return Refusal.BAD_COMMUNE
        self._places.add(insee, is_of_department=self._layout.is_of_department)
        if self._wanted.has(postcode, insee):
            return postcode, insee
        if len(self._places.elsewhere) < _KNOWN_MAX:
            self._places.elsewhere[postcode, insee] += 1
        return None


def _street(given: str) -> tuple[str, str] | Refusal:
    """Return a street as it is shown, and as it is compared."""
    shown = " ".join(given.split())
    if not shown:
        return Refusal.NO_STREET
    folded = street_key(shown) if is_street(shown) else ""
    return (shown, folded) if folded else Refusal.BAD_TEXT


def _number(given: tuple[str, str]) -> HouseNumber | None:
    return house_number(*given)


def _cell(index: int | None) -> Callable[[Sequence[str]], str]:
    """Return what reads a column; one that is not there is empty."""
    if index is None:
        return lambda _: ""
    return lambda cells: cells[index]


def _position(lat: str, lon: str) -> tuple[float, float] | tuple[None, None] | None:
    """Return latitude and longitude; ``None``: they are nowhere."""
    try:
        y, x = float(lat), float(lon)
    except ValueError:
        return None if lat.strip() or lon.strip() else (None, None)
    if not (-90 <= y <= 90 and -180 <= x <= 180) or y == x == 0:  # NaN is nowhere
        return None
    return round(y, _DECIMALS), round(x, _DECIMALS)


def _is_plain(text: str) -> bool:
    return bool(text) and text.isascii() and text.isprintable()
