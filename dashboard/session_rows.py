"""The rows behind sessions: found by digest, prolonged by use, gone when ended."""

from __future__ import annotations

import hashlib
from datetime import datetime, timedelta
from typing import Final
from uuid import UUID

from sqlalchemy import bindparam, delete, insert, select, update
from sqlalchemy.orm import Session

from dashboard.operators.models import OperatorSession

#: A session that nobody uses ends after this time.
IDLE: Final = timedelta(hours=8)
#: Every session ends after this time, used or not.
ABSOLUTE: Final = timedelta(days=7)
#: A session without a login: it holds a form's token and nothing else.
ANONYMOUS: Final = timedelta(hours=1)


#: Made once: every request asks.
_LIVING: Final = select(OperatorSession).where(
    OperatorSession.digest == bindparam("digest"),
    OperatorSession.expires_at > bindparam("now"),
)


def digest_of(secret: str) -> str:
    """Return what the database keeps in place of a random secret."""
    return hashlib.sha256(secret.encode()).hexdigest()


def load(session: Session, cookie: str, now: datetime) -> OperatorSession | None:
    """Return the session that belongs to a cookie; None when it has ended."""
    return session.scalar(_LIVING, {"digest": digest_of(cookie), "now": now})


def add(
    session: Session, cookie: str, data: str, operator_id: UUID | None, now: datetime
) -> None:
    """Begin a session; those that have ended by themselves are tidied away."""
    session.execute(delete(OperatorSession).where(OperatorSession.expires_at < now))
    session.execute(
        insert(OperatorSession).values(
            digest=digest_of(cookie),
            operator_id=operator_id,
            data=data,
            created_at=now,
            seen_at=now,
            expires_at=_expiry(operator_id, now, now),
        )
    )


def touch(session: Session, row: OperatorSession, data: str, now: datetime) -> None:
    """Save and prolong a session; one that was ended meanwhile stays ended."""
    session.execute(
        update(OperatorSession)
        .where(OperatorSession.digest == row.digest)
        .values(
            data=data,
            seen_at=now,
            expires_at=_expiry(row.operator_id, row.created_at, now),
        )
    )


def end(session: Session, digest: str) -> None:
    """End one session."""
    session.execute(delete(OperatorSession).where(OperatorSession.digest == digest))


def end_sessions(session: Session, operator_id: UUID) -> None:
    """End every session of an operator."""
    session.execute(
        delete(OperatorSession).where(OperatorSession.operator_id == operator_id)
    )


def _expiry(operator_id: UUID | None, created_at: datetime, now: datetime) -> datetime:
    idle = ANONYMOUS if operator_id is None else IDLE
    return min(now + idle, created_at + ABSOLUTE)
