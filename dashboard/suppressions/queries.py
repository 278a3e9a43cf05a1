"""What the page of suppressions reads."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from sqlalchemy import ColumnElement, Select, select
from sqlalchemy.orm import Session

from dashboard.paging import Key, Page, paginate
from tasks.models import Congregation, Suppression, SuppressionReason
from tasks.operations.suppressions import BY_HAND
from tasks.saying import mark, say

#: Reason -> what operators read.
REASONS: Final[Mapping[SuppressionReason, str]] = {
    SuppressionReason.UNSUBSCRIBED: mark("They unsubscribed"),
    **BY_HAND,
}
#: Newest first.
KEYS: Final[tuple[Key, ...]] = (Suppression.created_at.desc(), Suppression.id.desc())
#: Congregations that the form offers at most.
CHOICES_MAX: Final = 500


@dataclass(frozen=True, slots=True)
class Listed:
    """One row of the list."""

    suppression: Suppression
    congregation: str

    @property
    def reason(self) -> str:
        """Why it is on the list, for people."""
        return say(REASONS[self.suppression.reason])

    @property
    def by(self) -> str:
        """Who put it there: an operator's address, or who it was in words."""
        return say(self.suppression.created_by)


def selected(wanted: Sequence[ColumnElement[bool]]) -> Select[Suppression, str]:
    """Select stopped addresses in the order of the fields of ``Listed``."""
    return (
        select(Suppression, Congregation.name)
        .join(Congregation, Congregation.id == Suppression.congregation_id)
        .where(*wanted)
    )


def suppressions(
    session: Session,
    wanted: Sequence[ColumnElement[bool]],
    cursor: str | None,
    limit: int,
) -> Page[Listed]:
    """Return a page of the list, newest first."""
    page = paginate(session, selected(wanted), KEYS, cursor, limit)
    rows = [Listed(row, name) for row, name in page.rows]
    return Page(rows, page.next_cursor, page.previous_cursor)


def congregations(session: Session) -> Sequence[Congregation]:
    """Return the congregations that an address may be stopped for, by name."""
    statement = select(Congregation).order_by(Congregation.name).limit(CHOICES_MAX)
    return session.scalars(statement).all()
