"""What the page of tokens reads."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import select
from sqlalchemy.orm import Session

from dashboard.paging import Key, Page, paginate
from tasks.models import ApiToken, Congregation


@dataclass(frozen=True, slots=True)
class ListedToken:
    """One row of the list."""

    token: ApiToken
    congregation: str
    state: str  # "active", "expired" or "revoked"


def tokens(
    session: Session, now: datetime, cursor: str | None, limit: int
) -> Page[ListedToken]:
    """Return a page of tokens, newest first."""
    statement = select(ApiToken, Congregation.name).join(
        Congregation, Congregation.id == ApiToken.congregation_id
    )
    keys: list[Key] = [ApiToken.created_at.desc(), ApiToken.id.desc()]
    page = paginate(session, statement, keys, cursor, limit)
    rows = [ListedToken(token, name, _state(token, now)) for token, name in page.rows]
    return Page(rows, page.next_cursor, page.previous_cursor)


def congregations(session: Session) -> Sequence[Congregation]:
    """Return the congregations that a token may be made for, by name."""
    return session.scalars(select(Congregation).order_by(Congregation.name)).all()


def _state(token: ApiToken, now: datetime) -> str:
    if token.revoked_at is not None:
        return "revoked"
    is_over = token.expires_at is not None and token.expires_at <= now
    return "expired" if is_over else "active"
