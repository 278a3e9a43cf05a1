"""Who may call the API, and who did what."""

from __future__ import annotations

from datetime import datetime
from uuid import UUID

from sqlalchemy import ForeignKey, Index, String
from sqlalchemy.orm import Mapped, mapped_column

from tasks.clock import utcnow
from tasks.models.base import Base, Id, Json, OfCongregation


class ApiToken(OfCongregation, Base):
    """A producer's key to the API of one congregation; only its digest is kept."""

    __tablename__ = "api_tokens"

    id: Mapped[Id]
    name: Mapped[str] = mapped_column(String(120))
    lookup: Mapped[str] = mapped_column(String(16), unique=True)  # the public part
    digest: Mapped[str] = mapped_column(String(64))  # SHA-256 of the whole token, hex
    last4: Mapped[str] = mapped_column(String(4))
    scopes: Mapped[str] = mapped_column(String(200))  # separated by spaces
    created_by: Mapped[str] = mapped_column(String(255))
    created_at: Mapped[datetime] = mapped_column(default=utcnow)
    expires_at: Mapped[datetime | None]  # None: does not expire
    revoked_at: Mapped[datetime | None]
    last_used_at: Mapped[datetime | None]  # to the minute


class IdempotencyRecord(OfCongregation, Base):
    """The answer to a request that carried an Idempotency-Key, for its replay."""

    __tablename__ = "idempotency_records"
    __table_args__ = (Index(None, "created_at"),)

    congregation_id: Mapped[UUID] = mapped_column(
        ForeignKey("congregations.id"), primary_key=True
    )
    key: Mapped[str] = mapped_column(String(255), primary_key=True)
    request_digest: Mapped[str] = mapped_column(String(64))  # method, path and body
    status_code: Mapped[int | None]  # None: the first request is under way
    response: Mapped[Json | None]
    headers: Mapped[Json | None]  # of the answer, such as its ETag
    created_at: Mapped[datetime] = mapped_column(default=utcnow)


class AuditEntry(Base):
    """One operator's action; written in the action's transaction, never changed."""

    __tablename__ = "audit_entries"
    __table_args__ = (
        Index(None, "created_at", "id"),
        Index(None, "congregation_id", "created_at", "id"),
        Index(None, "subject_kind", "subject_id", "created_at"),
    )

    id: Mapped[Id]
    #: None: the action concerns the installation, not one congregation.
    congregation_id: Mapped[UUID | None] = mapped_column(ForeignKey("congregations.id"))
    actor: Mapped[str] = mapped_column(String(255))  # e-mail, "token:name" or "system"
    action: Mapped[str] = mapped_column(String(64))  # noun.verb, e.g. "rule.created"
    subject_kind: Mapped[str] = mapped_column(String(32))
    subject_id: Mapped[str] = mapped_column(String(128))
    summary: Mapped[str] = mapped_column(String(500))  # a sentence for people
    before: Mapped[Json | None]
    after: Mapped[Json | None]
    ip: Mapped[str | None] = mapped_column(String(45))
    created_at: Mapped[datetime] = mapped_column(default=utcnow)
