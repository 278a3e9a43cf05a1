"""Where a moment stands in a timeline, and which rows stand before it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import Any, Final, Self
from uuid import UUID

from sqlalchemy import ColumnElement, and_, false, or_, true, tuple_
from sqlalchemy.orm import InstrumentedAttribute

from tasks.errors import InvalidInput
from tasks.models import Execution
from tasks.models.base import born_from
from tasks.saying import say

_PARTS: Final = 4
#: How exactly an execution's id tells its time.
MILLISECOND: Final = timedelta(milliseconds=1)


@dataclass(frozen=True, slots=True, order=True)
class Place:
    """Where a moment stands in a timeline; the greatest is the newest."""

    at: datetime
    rank: int  # of its kind: one instant has an order, too
    id: UUID
    number: int = 0  # of an attempt

    @classmethod
    def read(cls, text: str) -> Self:
        """Read what ``str`` gave.

        Raises:
            InvalidInput: ``bad_cursor``, it is none of ours.
        """
        parts = text.split("~")
        try:
            at = datetime.fromisoformat(parts[0])
            if len(parts) != _PARTS or at.tzinfo is None:
                raise ValueError(text)
            place = cls(at, int(parts[1]), UUID(parts[2]), int(parts[3]))
            if not 0 <= place.number <= 10**9:
                raise ValueError(text)
        except (ValueError, OverflowError) as error:
            raise InvalidInput(
                "bad_cursor",
                say("This page of the timeline cannot be found; go to its start."),
                field="cursor",
            ) from error
        return place

    def earlier(self, span: timedelta) -> Self:
        """Return the same place at an earlier instant."""
        return replace(self, at=self.at - span)

    def __str__(self) -> str:
        return f"{self.at.isoformat()}~{self.rank}~{self.id}~{self.number}"


def before(
    place: Place | None,
    rank: int,
    at: ColumnElement[datetime] | InstrumentedAttribute[datetime],
    *keys: ColumnElement[Any] | InstrumentedAttribute[Any],
) -> ColumnElement[bool]:
    """Return whether a row of the kind with ``rank`` stands before ``place``.

    Args:
        at: the column of its instant.
        keys: the columns of ``id``, and of ``number`` if its kind has one.
    """
    if place is None:
        return true()
    if rank != place.rank:
        same = at == place.at if rank < place.rank else false()
        return or_(at < place.at, same)
    values = (place.id, place.number)[: len(keys)]
    return or_(at < place.at, and_(at == place.at, tuple_(*keys) < values))


def born_at(id_: UUID) -> datetime:
    """Return the end of the millisecond in which a row with this id was made.

    Its end: what led to the row was written in the same one, and stands below.
    """
    return datetime.fromtimestamp(0, UTC) + MILLISECOND * ((id_.int >> 80) + 1)


def born_before(place: Place | None, rank: int) -> ColumnElement[bool]:
    """Return whether an execution stands before ``place``; its id tells its time."""
    if place is None:
        return true()
    if rank == place.rank:
        return Execution.id < place.id
    is_whole = place.at.microsecond % 1000 == 0
    if rank > place.rank and is_whole:  # what ends at that instant stands above
        return Execution.id < born_from(place.at - MILLISECOND)
    return Execution.id < born_from(place.at)


def born_until(at: datetime) -> ColumnElement[bool]:
    """Return whether an execution was born at ``at``, to the millisecond, or before."""
    return Execution.id < born_from(at + MILLISECOND)
