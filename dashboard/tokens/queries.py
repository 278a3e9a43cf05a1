"""What the page of tokens reads."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from sqlalchemy import ColumnElement, Select, select
from sqlalchemy.orm import Session

from dashboard.office import CHOICES_MAX
from dashboard.paging import Key, Page, paginate
from tasks.models import ApiToken, Congregation

#: Newest first.
KEYS: Final[tuple[Key, ...]] = (ApiToken.created_at.desc(), ApiToken.id.desc())


@dataclass(frozen=True, slots=True)
class ListedToken:
    """One row of the list."""

    token: ApiToken
    congregation: str
    state: str  # "active", "expired" or "revoked"


def selected(wanted: Sequence[ColumnElement[bool]]) -> Select[ApiToken, str]:
    """Select tokens with their congregation's name."""
    return (
        select(ApiToken, Congregation.name)
        .join(Congregation, Congregation.id == ApiToken.congregation_id)
        .where(*wanted)
    )


def tokens(
    session: Session,
    wanted: Sequence[ColumnElement[bool]],
    now: datetime,
    cursor: str | None,
    limit: int,
) -> Page[ListedToken]:
    """Return a page of tokens, newest first."""
    page = paginate(session, selected(wanted), KEYS, cursor, limit)
    rows = [listed_at(now, token, name) for token, name in page.rows]
    return Page(rows, page.next_cursor, page.previous_cursor)


def congregations(session: Session) -> Sequence[Congregation]:
    """Return the congregations that a token may be made for, by name."""
    statement = select(Congregation).order_by(Congregation.name).limit(CHOICES_MAX)
    return session.scalars(statement).all()


def listed_at(now: datetime, token: ApiToken, congregation: str) -> ListedToken:
    """Return a token as the list shows it."""
    return ListedToken(token, congregation, _state(token, now))


def _state(token: ApiToken, now: datetime) -> str:
    if token.revoked_at is not None:
        return "revoked"
    is_over = token.expires_at is not None and token.expires_at <= now
    return "expired" if is_over else "active"
