"""API tokens: made once, shown once, kept as a digest, taken back at any time."""

from __future__ import annotations

import hmac
from collections.abc import Collection
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Final
from uuid import UUID

from sqlalchemy import or_, select, update
from sqlalchemy.orm import Session

from tasks.clock import utcnow
from tasks.errors import NotFound
from tasks.models import ApiToken, Congregation, new_id
from tasks.operations.audit import Actor, Subject, record
from tasks.operations.token_checks import (
    NAME_MAX,
    SCOPES,
    check_expiry,
    checked_name,
    checked_scopes,
)
from tasks.operations.token_text import digest, lookup_of, new_plaintext
from tasks.saying import say

__all__ = [
    "NAME_MAX",
    "SCOPES",
    "Refusal",
    "authenticate",
    "create_token",
    "is_use_stale",
    "note_use",
    "revoke_token",
]

#: ``last_used_at`` moves in steps of this, so that not every request writes.
USED_STEP: Final = timedelta(minutes=1)


class Refusal(StrEnum):
    """Why a token does not open the door; the codes of the API's 401 answers."""

    INVALID = "token_invalid"
    REVOKED = "token_revoked"
    EXPIRED = "token_expired"


def create_token(
    session: Session,
    congregation_id: UUID,
    name: str,
    scopes: Collection[str],
    expires_at: datetime | None,
    actor: Actor,
    *,
    now: datetime | None = None,
) -> tuple[ApiToken, str]:
    """Add a token and return it with its plain text, which is not kept anywhere.

    Args:
        expires_at: None: it does not expire.

    Raises:
        NotFound: the session sees no such congregation.
        InvalidInput: a bad name, no scope or an unknown one, an expiry in the past.
    """
    moment = now or utcnow()
    name = checked_name(name)
    granted = checked_scopes(scopes)
    check_expiry(expires_at, moment)
    if session.get(Congregation, congregation_id) is None:
        raise NotFound("unknown_congregation", say("There is no such congregation."))
    lookup, plaintext = new_plaintext()
    token = ApiToken(
        id=new_id(),
        congregation_id=congregation_id,
        name=name,
        lookup=lookup,
        digest=digest(plaintext),
        last4=plaintext[-4:],
        scopes=" ".join(granted),
        created_by=actor.name,
        created_at=moment,
        expires_at=expires_at,
    )
    session.add(token)
    session.flush()
    _audit(session, token, actor, "token.created", f"Created the token “{name}”.")
    return token, plaintext


def revoke_token(
    session: Session, token_id: UUID, actor: Actor, *, now: datetime | None = None
) -> ApiToken:
    """Take a token back, from now on and for good; twice changes nothing more.

    Raises:
        NotFound: the session sees no such token.
    """
    token = session.get(ApiToken, token_id)
    if token is None:
        raise NotFound("unknown_token", say("There is no such token."))
    if token.revoked_at is None:
        token.revoked_at = now or utcnow()
        session.flush()
        _audit(
            session, token, actor, "token.revoked", f"Revoked the token “{token.name}”."
        )
    return token


def authenticate(session: Session, plaintext: str, now: datetime) -> ApiToken | Refusal:
    """Return the token that ``plaintext`` is, or why it is refused.

    ``session`` must be unscoped: whose token it is is found out here.  A text that
    cannot be a token is refused without asking the database.
    """
    lookup = lookup_of(plaintext)
    if lookup is None:
        return Refusal.INVALID
    token = session.scalar(select(ApiToken).where(ApiToken.lookup == lookup))
    if token is None or not hmac.compare_digest(token.digest, digest(plaintext)):
        return Refusal.INVALID
    if token.revoked_at is not None:
        return Refusal.REVOKED
    if token.expires_at is not None and token.expires_at <= now:
        return Refusal.EXPIRED
    return token


def is_use_stale(token: ApiToken, now: datetime) -> bool:
    """Whether ``last_used_at`` is old enough to be written again."""
    return token.last_used_at is None or now - token.last_used_at >= USED_STEP


def note_use(session: Session, token_id: UUID, now: datetime) -> None:
    """Remember the minute of a token's use; never moves it back."""
    minute = now.replace(second=0, microsecond=0)
    session.execute(
        update(ApiToken)
        .where(
            ApiToken.id == token_id,
            or_(ApiToken.last_used_at.is_(None), ApiToken.last_used_at < minute),
        )
        .values(last_used_at=minute)
        .execution_options(synchronize_session=False)
    )


def _audit(
    session: Session, token: ApiToken, actor: Actor, action: str, summary: str
) -> None:
    record(
        session,
        actor,
        action,
        Subject("token", str(token.id), token.congregation_id),
        summary,
        after={
            "name": token.name,
            "last4": token.last4,
            "scopes": token.scopes,
            "expires_at": token.expires_at and token.expires_at.isoformat(),
            "revoked_at": token.revoked_at and token.revoked_at.isoformat(),
        },
    )
