"""What the page of suppressions reads."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from sqlalchemy import select
from sqlalchemy.orm import Session

from dashboard.paging import Key, Page, paginate
from tasks.models import Congregation, Suppression, SuppressionReason
from tasks.operations.suppressions import BY_HAND

#: Reason -> what operators read.
REASONS: Final[Mapping[SuppressionReason, str]] = {
    SuppressionReason.UNSUBSCRIBED: "They unsubscribed",
    **BY_HAND,
}
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
        return REASONS[self.suppression.reason]


def suppressions(
    session: Session, beginning: str, cursor: str | None, limit: int
) -> Page[Listed]:
    """Return a page of the list, newest first.

    Args:
        beginning: How the addresses begin; empty: all of them.
    """
    statement = select(Suppression, Congregation.name).join(
        Congregation, Congregation.id == Suppression.congregation_id
    )
    if beginning:
        statement = statement.where(
            Suppression.address.startswith(beginning.lower(), autoescape=True)
        )
    keys: list[Key] = [Suppression.created_at.desc(), Suppression.id.desc()]
    page = paginate(session, statement, keys, cursor, limit)
    rows = [Listed(row, name) for row, name in page.rows]
    return Page(rows, page.next_cursor, page.previous_cursor)


def congregations(session: Session) -> Sequence[Congregation]:
    """Return the congregations that an address may be stopped for, by name."""
    statement = select(Congregation).order_by(Congregation.name).limit(CHOICES_MAX)
    return session.scalars(statement).all()
