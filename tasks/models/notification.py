"""What accounts are told by mail: notifications, the digests they leave in, the mails.

A notification settles first, since more of the same may follow.  What has settled for
one category goes into one digest; of that, each recipient gets one mail.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from enum import StrEnum
from typing import Final
from uuid import UUID

from sqlalchemy import Index, String, UniqueConstraint, text
from sqlalchemy.orm import Mapped, mapped_column

from tasks.clock import utcnow
from tasks.errors import IllegalMove
from tasks.models.base import (
    Base,
    Id,
    Json,
    OfCongregation,
    PartOfCongregation,
    tenant_key,
    within_congregation,
    word,
)
from tasks.models.reason import Reason

_IS_PENDING: Final = text("state = 'pending'")
_IS_RUNNING: Final = text("state = 'running'")
_IS_FAILED: Final = text("state = 'failed'")


class NotificationState(StrEnum):
    """Where a notification is in its life."""

    PENDING = "pending"  # settles: more of the same takes its place
    QUEUED = "queued"  # part of a digest whose mails go out
    SENT = "sent"  # somebody has it, and nobody is still to get it
    FAILED = "failed"  # one of its mails failed for good
    CANCELLED = "cancelled"  # what it tells was undone before it left
    SKIPPED = "skipped"  # nobody wanted it, or there was nobody


class MailState(StrEnum):
    """Where the mail of one recipient is in its life."""

    PENDING = "pending"  # waits until run_at, also between two attempts
    RUNNING = "running"  # leased to one worker until lease_until
    SENT = "sent"
    FAILED = "failed"  # an operator may queue it again
    SKIPPED = "skipped"  # there was nothing left to send


_S = MailState

#: Every move that a mail may make.
MOVES: Final[Mapping[MailState, frozenset[MailState]]] = {
    _S.PENDING: frozenset({_S.RUNNING}),
    _S.RUNNING: frozenset({_S.PENDING, _S.SENT, _S.FAILED, _S.SKIPPED}),
    _S.SENT: frozenset(),
    _S.FAILED: frozenset({_S.PENDING}),
    _S.SKIPPED: frozenset(),
}
#: States in which a mail is not done yet.
OPEN_MAILS: Final = (_S.PENDING, _S.RUNNING)


class Digest(OfCongregation, Base):
    """What had settled of one category when the lane looked: the same for everybody."""

    __tablename__ = "digests"
    __table_args__ = (
        tenant_key("digests"),
        Index(None, "congregation_id", "created_at", "id"),
        Index(None, "created_at"),
    )

    id: Mapped[Id]
    category: Mapped[str] = mapped_column(String(32))
    created_at: Mapped[datetime] = mapped_column(default=utcnow)


class Notification(OfCongregation, Base):
    """One thing to tell, to one account or to everybody with a duty."""

    __tablename__ = "notifications"
    __table_args__ = (
        within_congregation("account_id", "accounts", ondelete="CASCADE"),
        within_congregation("digest_id", "digests", ondelete="CASCADE"),
        tenant_key("notifications"),
        # More of the same takes the place of what still settles.
        Index(
            "uq_notifications_settling",
            "congregation_id",
            "key",
            "type",
            unique=True,
            postgresql_where=_IS_PENDING,
            sqlite_where=_IS_PENDING,
        ),
        Index(
            "ix_notifications_settles",
            "settles_at",
            "id",
            postgresql_where=_IS_PENDING,
            sqlite_where=_IS_PENDING,
        ),
        Index(None, "digest_id"),
        Index(None, "account_id"),
        Index(None, "ended_at"),
    )

    id: Mapped[Id]
    type: Mapped[str] = mapped_column(String(64))  # a row of NEWS
    category: Mapped[str] = mapped_column(String(32))  # the type up to its dot
    state: Mapped[NotificationState] = mapped_column(
        word(NotificationState), default=NotificationState.PENDING
    )
    #: Either an account or a duty's key; who has the duty is asked when it leaves.
    account_id: Mapped[UUID | None]
    duty: Mapped[str | None] = mapped_column(String(64))
    actor_id: Mapped[UUID | None]  # the account that did it; nobody is told own deeds
    entity_type: Mapped[str] = mapped_column(String(32))
    entity_id: Mapped[str] = mapped_column(String(64))
    #: Values that the type names; no names of people, they are read when it leaves.
    payload: Mapped[Json] = mapped_column(default=dict)
    #: What it is about and for whom: one of these and of a type settles at a time.
    key: Mapped[str] = mapped_column(String(200))
    n_merged: Mapped[int] = mapped_column(default=1)  # occurrences in one
    first_at: Mapped[datetime] = mapped_column(default=utcnow)
    settles_at: Mapped[datetime]  # moves with more of the same, up to latest_at
    latest_at: Mapped[datetime]
    digest_id: Mapped[UUID | None]  # None: still settles, or ended before
    reason: Mapped[Reason | None] = mapped_column(word(Reason))
    ended_at: Mapped[datetime | None]


class DigestMail(PartOfCongregation, Base):
    """The mail of one digest to one account; its id is its Message-ID for ever."""

    __tablename__ = "digest_mails"
    __table_args__ = (
        within_congregation("digest_id", "digests", ondelete="CASCADE"),
        within_congregation("account_id", "accounts", ondelete="CASCADE"),
        tenant_key("digest_mails"),
        UniqueConstraint("digest_id", "account_id"),
        Index(
            "ix_digest_mails_due",
            "run_at",
            "id",
            postgresql_where=_IS_PENDING,
            sqlite_where=_IS_PENDING,
        ),
        Index(
            "ix_digest_mails_leased",
            "lease_until",
            "id",
            postgresql_where=_IS_RUNNING,
            sqlite_where=_IS_RUNNING,
        ),
        Index(None, "congregation_id", "state", "id"),
        Index(
            "ix_digest_mails_failed",
            "id",
            postgresql_where=_IS_FAILED,
            sqlite_where=_IS_FAILED,
        ),
        Index(None, "account_id", "id"),
    )

    id: Mapped[Id]
    digest_id: Mapped[UUID]
    account_id: Mapped[UUID]
    state: Mapped[MailState] = mapped_column(word(MailState), default=MailState.PENDING)
    run_at: Mapped[datetime]  # when the lane takes it next; moves with retries
    #: Since when it is tried: from its birth, or from an operator's retry.
    asked_at: Mapped[datetime]
    attempt: Mapped[int] = mapped_column(default=0)  # the fence; only rises
    failures: Mapped[int] = mapped_column(default=0)  # since it was last asked for
    crashes: Mapped[int] = mapped_column(default=0)  # workers that vanished with it
    worker: Mapped[str | None] = mapped_column(String(64))
    lease_until: Mapped[datetime | None]
    reason: Mapped[Reason | None] = mapped_column(word(Reason))
    error: Mapped[str | None] = mapped_column(String(500))  # one readable sentence
    settled_at: Mapped[datetime | None]
    created_at: Mapped[datetime] = mapped_column(default=utcnow)

    def move_to(
        self, state: MailState, *, at: datetime, reason: Reason | None = None
    ) -> None:
        """Enter ``state``, releasing any lease.

        Raises:
            IllegalMove: ``MOVES`` has no such edge.
        """
        if state not in MOVES[self.state]:
            raise IllegalMove(f"{self.state} → {state}")
        self.state = state
        self.reason = reason
        self.worker = None
        self.lease_until = None
        self.settled_at = None if state in OPEN_MAILS else at


class DigestItem(PartOfCongregation, Base):
    """That a notification is meant for the recipient of a mail."""

    __tablename__ = "digest_items"
    __table_args__ = (
        within_congregation("mail_id", "digest_mails", ondelete="CASCADE"),
        within_congregation("notification_id", "notifications", ondelete="CASCADE"),
        Index(None, "notification_id"),
    )

    mail_id: Mapped[UUID] = mapped_column(primary_key=True)
    notification_id: Mapped[UUID] = mapped_column(primary_key=True)
    reason: Mapped[Reason | None] = mapped_column(word(Reason))  # why it was left out


class NotificationPreference(PartOfCongregation, Base):
    """Whether an account wants mails of a type, or of a whole category."""

    __tablename__ = "notification_preferences"
    __table_args__ = (
        within_congregation("account_id", "accounts", ondelete="CASCADE"),
    )

    account_id: Mapped[UUID] = mapped_column(primary_key=True)
    #: A type or ``category.*``; the most specific one counts, none of them: yes.
    pattern: Mapped[str] = mapped_column(String(64), primary_key=True)
    enabled: Mapped[bool]
    updated_at: Mapped[datetime] = mapped_column(default=utcnow)
