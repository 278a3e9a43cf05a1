"""Links that work once: the first admin's, and those for setting a password."""

from __future__ import annotations

import secrets
from datetime import datetime, timedelta
from typing import Final

from sqlalchemy import delete, select
from sqlalchemy.orm import Session

from dashboard.operators.accounts import create_operator, set_password
from dashboard.operators.models import Operator, RoleName, SetupToken
from dashboard.session_rows import digest_of
from tasks.clock import utcnow
from tasks.errors import NotFound
from tasks.operations.audit import Actor
from tasks.saying import say

SETUP_FOR: Final = timedelta(hours=1)
INVITATION_FOR: Final = timedelta(hours=24)


def new_setup_link(session: Session, base_url: str) -> str | None:
    """Return a link that makes the first admin; None when an operator exists.

    The link works once and for an hour; an earlier one stops working.  The caller
    commits.
    """
    if session.scalar(select(Operator.id).limit(1)):
        return None
    session.execute(delete(SetupToken).where(SetupToken.operator_id.is_(None)))
    return _new_link(session, None, base_url, SETUP_FOR)


def new_password_link(session: Session, operator: Operator, base_url: str) -> str:
    """Return a link with which an operator sets a password; it works for a day."""
    session.execute(delete(SetupToken).where(SetupToken.operator_id == operator.id))
    return _new_link(session, operator, base_url, INVITATION_FOR)


def find_token(session: Session, token: str, *, now: datetime) -> SetupToken:
    """Return what a link is for, locked until the transaction ends.

    Raises:
        NotFound: it was used, has expired, or is no link of ours.
    """
    found = session.scalar(
        select(SetupToken)
        .where(
            SetupToken.digest == digest_of(token),
            SetupToken.used_at.is_(None),
            SetupToken.expires_at > now,
        )
        .with_for_update()
    )
    if found is None or (found.operator_id is None and _has_operators(session)):
        raise NotFound(
            "link_spent",
            say("This link was used already or has expired. Ask for a new one."),
        )
    return found


def finish(
    session: Session,
    link: SetupToken,
    password: str,
    *,
    email: str = "",
    name: str = "",
    ip: str | None = None,
    now: datetime,
) -> Operator:
    """Make the first admin, or set the password of the link's operator.

    Raises:
        InvalidInput: the address or the password will not do; the link stays good.
    """
    if link.operator_id is None:
        operator = create_operator(
            session, email, password, RoleName.ADMIN, name=name, actor=Actor(email, ip)
        )
    else:
        operator = session.get_one(Operator, link.operator_id)
        set_password(session, operator, password, actor=Actor(operator.email, ip))
    link.used_at = now
    return operator


def _new_link(
    session: Session, operator: Operator | None, base_url: str, lasts: timedelta
) -> str:
    token = secrets.token_urlsafe(32)
    now = utcnow()
    session.add(
        SetupToken(
            digest=digest_of(token),
            operator_id=operator.id if operator else None,
            created_at=now,
            expires_at=now + lasts,
        )
    )
    return f"{base_url}/setup?token={token}"


def _has_operators(session: Session) -> bool:
    return session.scalar(select(Operator.id).limit(1)) is not None
