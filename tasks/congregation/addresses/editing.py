"""What an operator changes about one address."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final
from uuid import UUID

from sqlalchemy import select
from sqlalchemy.orm import Session

from tasks.congregation.addresses.areas import get_area
from tasks.congregation.addresses.perimeters import Perimeter
from tasks.congregation.texts import notes
from tasks.errors import InvalidInput, NotFound
from tasks.models.address import Address
from tasks.operations.audit import Actor, Subject, record
from tasks.saying import say

_DECIMALS: Final = 7


@dataclass(frozen=True, slots=True)
class AddressChange:
    """An address as an operator wants it."""

    lat: str
    lon: str
    notes: str
    is_active: bool
    #: Whether the next sync may put it where open data says.
    follows: bool
    #: The position that the operator had before their eyes, see ``shown``.
    seen: str = ""

    @property
    def is_left(self) -> bool:
        """Whether the position is as it was seen: a sync may have moved it since."""
        return self.seen == f"{self.lat.strip()} {self.lon.strip()}"


def shown(row: Address) -> tuple[str, str]:
    """Return latitude and longitude as forms show them; empty: there are none.

    >>> shown(Address(lat=48.0, lon=2.35))
    ('48', '2.35')
    """
    lat, lon = (
        "" if each is None else f"{each:.{_DECIMALS}f}".rstrip("0").rstrip(".")
        for each in (row.lat, row.lon)
    )
    return lat, lon


def get_address(session: Session, address_id: UUID) -> Address:
    """Return an address.

    Raises:
        NotFound: the session sees none.
    """
    found = session.scalars(
        select(Address).where(Address.id == address_id)
    ).one_or_none()
    if found is None:
        raise NotFound("unknown_address", say("There is no such address."))
    return found


def edit_address(
    session: Session, address_id: UUID, change: AddressChange, actor: Actor
) -> Address:
    """Change an address; a position given by hand outlives syncs.  Caller commits.

    Raises:
        NotFound: the session sees none.
        InvalidInput: a value cannot be kept; nothing is changed.
    """
    row = get_address(session, address_id)
    position = _position(change)
    kept = notes(change.notes)
    before = _told(row)
    if not change.is_left and position != (row.lat, row.lon):
        row.lat, row.lon = position
        row.is_hand_placed = True
        perimeter = Perimeter(get_area(session, row.congregation_id).perimeter)
        (row.in_territory,) = perimeter.inside([row.lat], [row.lon])
    elif change.follows:
        row.is_hand_placed = False
    row.notes, row.is_active = kept, change.is_active
    if before != _told(row):
        record(
            session,
            actor,
            "address.changed",
            Subject("address", str(row.id), row.congregation_id),
            f"Changed {row.number} {row.street}",
            before=before,
            after=_told(row),
        )
    session.flush()
    return row


def _position(change: AddressChange) -> tuple[float, float] | tuple[None, None]:
    if not change.lat.strip() and not change.lon.strip():
        return None, None
    return _degrees(change.lat, 90, "lat"), _degrees(change.lon, 180, "lon")


def _degrees(text: str, limit: int, field: str) -> float:
    try:
        value = float(text.strip().replace(",", "."))
    except ValueError:
        value = float("nan")
    if not -limit <= value <= limit:
        raise InvalidInput(
            "bad_position",
            say(
                "This must be a number from -%(max)s to %(max)s, such as 48.8566.",
                max=limit,
            ),
            field=field,
        )
    return round(value, _DECIMALS)


def _told(row: Address) -> dict[str, Any]:
    names = ("lat", "lon", "is_hand_placed", "is_active", "in_territory", "notes")
    return {name: getattr(row, name) for name in names}
