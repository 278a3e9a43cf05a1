"""What the spellings of one address have in common."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

from tasks.congregation.names import folded
from tasks.models.address import STREET_MAX

#: "12", "12bis", "12 BIS", "12-B"; more letters than "quater" has are no suffix.
_NUMBER: Final = re.compile(r"0*(\d{1,5})[\s.\-/]*([^\W_]{0,10})")
#: BAL files write this where a place has no number.
_NO_NUMBER: Final = 99_999
_SEPARATORS: Final = re.compile(r"[\W_]+")


@dataclass(frozen=True, slots=True)
class HouseNumber:
    """A number with its repetition suffix, folded."""

    display: str  # "12 bis"
    key: str  # as it is compared, and sorted as numbers are: "00012 bis"


def house_number(number: str, suffix: str = "") -> HouseNumber | None:
    """Take a number apart; ``None``: there is none, or it is no number.

    >>> house_number("12BIS") == house_number(" 12 ", "Bis") == house_number("12-bis")
    True
    >>> house_number("99999") is house_number("s/n") is None
    True
    """
    found = _NUMBER.fullmatch(f"{number.strip()} {suffix.strip()}".strip())
    if found is None or int(found[1]) in {0, _NO_NUMBER}:
        return None
    value, repeated = int(found[1]), folded(found[2])
    return HouseNumber(
        f"{value} {repeated}".rstrip(), f"{value:05d} {repeated}".rstrip()
    )


def street_key(street: str) -> str:
    """Return a street without case, marks and signs.

    >>> street_key("Rue de l’Église-Neuve") == street_key("RUE DE L'EGLISE  NEUVE")
    True
    """
    return _SEPARATORS.sub(" ", folded(street)).strip()


def address_key(insee: str, former: str, street: str, number: str) -> str:
    """Put a key together: the commune first, so that lists are sorted by it.

    Args:
        former: the code of the commune that this part was before a merger, where one
            street's name may stand for two; empty: none is told.
        street: as ``street_key`` makes it.
        number: as ``HouseNumber.key`` makes it.
    """
    place = insee if former in {"", insee} else f"{insee}.{former}"
    return f"{place} {street} {number}"


def is_street(street: str) -> bool:
    """Whether a street's name can be kept."""
    return street.isprintable() and len(street) <= STREET_MAX
