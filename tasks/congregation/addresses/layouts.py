"""Which column of a file of addresses says what: BANO, BAN of any year, BAL."""

from __future__ import annotations

import csv
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from tasks.long_jobs import CannotDo
from tasks.saying import mark
from tasks.saying.kept import kept

#: What we read -> the names that the column has had, in the order of preference.
_NAMES: Final[Mapping[str, tuple[str, ...]]] = {
    "number": ("numero",),
    "suffix": ("rep", "suffixe"),
    "street": ("nom_voie", "voie_nom"),
    "postcode": ("code_postal", "code_post"),
    "insee": ("code_insee", "commune_insee"),
    "former": ("code_insee_ancienne_commune", "commune_deleguee_insee"),
    "city": ("nom_commune", "commune_nom"),
    "lat": ("lat",),
    "lon": ("lon", "long"),
    "source_id": ("cle_interop", "id", "id_ban_adresse"),
}
_NEEDED: Final = ("number", "street", "insee", "lat", "lon")
_BANO_WIDTH: Final = 8


@dataclass(frozen=True, slots=True)
class Layout:
    """Where a file's columns are; ``None``: it has no such column."""

    name: str  # for operators
    delimiter: str
    width: int  # columns of every row
    has_header: bool
    is_of_department: bool  # False: of single communes
    number: int
    street: int
    insee: int  # of BANO: the column whose first five characters are the code
    lat: int
    lon: int
    suffix: int | None = None
    postcode: int | None = None
    former: int | None = None
    city: int | None = None
    source_id: int | None = None


BANO: Final = Layout(
    name="BANO",
    delimiter=",",
    width=_BANO_WIDTH,
    has_header=False,
    is_of_department=True,
    insee=0,
    source_id=0,
    number=1,
    street=2,
    postcode=3,
    city=4,
    lat=6,
    lon=7,
)


def layout_of(line: str) -> Layout:
    """Tell from a file's first line what it is.

    Raises:
        CannotDo: ``unknown_layout``, with a sentence that says what was expected.
    """
    for delimiter in ";,\t|":
        cells = next(csv.reader([line], delimiter=delimiter), [])
        names = {cell.strip().lower(): n for n, cell in enumerate(cells)}
        found = {
            what: names[name]
            for what, known in _NAMES.items()
            for name in reversed(known)  # the preferred one is set last
            if name in names
        }
        if "number" in found and "street" in found:
            return _with_header(found, names, delimiter, len(cells))
    if _is_bano(next(csv.reader([line]), [])):
        return BANO
    raise CannotDo(
        "unknown_layout",
        mark(
            "The file is none that is known here. Expected are BANO (eight columns, no "
            "header), BAN (adresses-XX.csv with its header) or BAL."
        ),
    )


def _with_header(
    found: Mapping[str, int], names: Mapping[str, int], delimiter: str, width: int
) -> Layout:
    if missing := [_NAMES[what][0] for what in _NEEDED if what not in found]:
        raise CannotDo(
            "missing_columns",
            kept(
                "The header of the file lacks the column %(names)s.",
                names=", ".join(missing),
            ),
        )
    is_bal = "voie_nom" in names
    return Layout(
        name="BAL" if is_bal else "BAN",
        delimiter=delimiter,
        width=width,
        has_header=True,
        is_of_department=not is_bal,
        **found,
    )


def _is_bano(cells: Sequence[str]) -> bool:
    if len(cells) != _BANO_WIDTH or not cells[0][:2].isalnum():
        return False
    try:
        return abs(float(cells[6])) <= 90 and abs(float(cells[7])) <= 180
    except ValueError:
        return False
