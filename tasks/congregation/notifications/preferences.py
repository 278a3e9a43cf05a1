"""Which mails an account wants: read and set, by type or by whole category."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any
from uuid import UUID

from sqlalchemy import select
from sqlalchemy.orm import Session

from tasks.congregation.notifications.kinds import patterns
from tasks.errors import Conflict, InvalidInput, NotFound
from tasks.models.member import Account
from tasks.models.notification import NotificationPreference
from tasks.operations.audit import Actor, Subject, record
from tasks.saying import say


def preferences_of(session: Session, account_id: UUID) -> dict[str, bool]:
    """Return what an account has said, by pattern; what is not in it was not said."""
    rows = session.scalars(
        select(NotificationPreference).where(
            NotificationPreference.account_id == account_id
        )
    )
    return {row.pattern: row.enabled for row in rows}


def set_preferences(
    session: Session,
    account_id: UUID,
    wanted: Mapping[str, bool | None],
    actor: Actor,
    now: datetime,
) -> Account:
    """Set what an account wants; the patterns that are not named stay as they are.

    Caller commits.

    Args:
        wanted: Pattern -> yes, no, or ``None``: it has no wish of its own.

    Raises:
        NotFound: the session sees no such account.
        Conflict: the account was anonymised.
        InvalidInput: there is no such type or category.
    """
    account = session.scalars(
        select(Account).where(Account.id == account_id).with_for_update()
    ).one_or_none()
    if account is None:
        raise NotFound("unknown_account", say("There is no such account."))
    if account.anonymised_at is not None:
        raise Conflict(
            "anonymised", say("This account was anonymised; it gets no mails.")
        )
    if unknown := sorted(wanted.keys() - patterns().keys()):
        raise InvalidInput(
            "unknown_type",
            say("There is no notification %(name)s.", name=repr(unknown[0][:64])),
        )
    before = preferences_of(session, account_id)
    for pattern, enabled in wanted.items():
        _write(session, account, pattern, enabled, now)
    session.flush()
    _record(session, actor, account, before, preferences_of(session, account_id))
    return account


def _write(
    session: Session,
    account: Account,
    pattern: str,
    enabled: bool | None,
    now: datetime,
) -> None:
    row = session.get(NotificationPreference, (account.id, pattern))
    if enabled is None:
        if row is not None:
            session.delete(row)
    elif row is None:
        row = NotificationPreference(
            congregation_id=account.congregation_id,
            account_id=account.id,
            pattern=pattern,
            enabled=enabled,
            updated_at=now,
        )
        session.add(row)
    elif row.enabled is not enabled:
        row.enabled, row.updated_at = enabled, now


def _record(
    session: Session,
    actor: Actor,
    account: Account,
    before: dict[str, Any],
    after: dict[str, Any],
) -> None:
    if before == after:
        return
    subject = Subject("account", str(account.id), account.congregation_id)
    record(
        session,
        actor,
        "account.preferences_set",
        subject,
        "Changed which mails an account wants",
        before=before,
        after=after,
    )
