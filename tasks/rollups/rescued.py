"""What is taken back from vanished workers, as it is counted for the lane ``rescue``.

What is set aside for good counts as failed in its own lane.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from typing import Final, Protocol
from uuid import UUID

from sqlalchemy.orm import Session

from tasks.models.rollup import Measure
from tasks.rollups.work import Work, note_work

_LANE: Final = "rescue"


class Leased(Protocol):
    """A row that a worker held."""

    @property
    def congregation_id(self) -> UUID:
        """Whose row it is."""

    @property
    def lease_until(self) -> datetime | None:
        """Since when nobody holds it any more."""


def note_rescued(session: Session, rows: Iterable[Leased], now: datetime) -> None:
    """Note rows that are about to be taken back: their leases must still be there.

    Caller commits.
    """
    note_work(session, _LANE, [_work(row, now) for row in rows], now)


def _work(row: Leased, now: datetime) -> Work:
    lapsed_for = now - row.lease_until if row.lease_until is not None else None
    return Work(row.congregation_id, Measure.SUCCEEDED, lapsed_for)
