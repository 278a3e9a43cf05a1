"""Saved views: a filtered list that somebody comes back to."""

from __future__ import annotations

from datetime import datetime
from typing import Final
from uuid import UUID

from sqlalchemy import ForeignKey, Index, String, UniqueConstraint, text
from sqlalchemy.orm import Mapped, mapped_column

from tasks.clock import utcnow
from tasks.models.base import Base, Id, Json

VIEW_NAME_MAX: Final = 80
_IS_MAILED: Final = "by_mail"


class SavedView(Base):
    """One filter of one list, under a name."""

    __tablename__ = "saved_views"
    __table_args__ = (
        UniqueConstraint("owner_id", "list_name", "name"),
        Index(None, "is_shared", "list_name", "name", "id"),
        Index(
            "ix_saved_views_mailed",
            "look_at",
            "id",
            postgresql_where=text(_IS_MAILED),
            sqlite_where=text(_IS_MAILED),
        ),
    )

    id: Mapped[Id]
    #: The operator who made it.  Operators belong to the console, and are never
    #: deleted, so there is no key to their table.
    owner_id: Mapped[UUID]
    owner: Mapped[str] = mapped_column(String(255))  # their e-mail, for others to read
    is_shared: Mapped[bool] = mapped_column(default=False)
    #: Whose operators a shared one is for; None: everybody who may log in.
    congregation_id: Mapped[UUID | None] = mapped_column(ForeignKey("congregations.id"))
    list_name: Mapped[str] = mapped_column(String(32))  # as in ``tasks.search.lists``
    name: Mapped[str] = mapped_column(String(VIEW_NAME_MAX))
    filter: Mapped[Json]  # as the list's address has it
    alert_at: Mapped[int | None]  # so many rows are a warning; None: no number is
    #: Whether a warning is mailed, too, to those whom ``ViewReader`` names.
    by_mail: Mapped[bool] = mapped_column(default=False)
    #: When its rows are counted next, for the mails.
    look_at: Mapped[datetime] = mapped_column(default=utcnow)
    created_at: Mapped[datetime] = mapped_column(default=utcnow)
    changed_at: Mapped[datetime] = mapped_column(default=utcnow)


class ViewWarning(Base):
    """One person was mailed that a view warns, and it was not well for long since."""

    __tablename__ = "view_warnings"

    saved_view_id: Mapped[UUID] = mapped_column(
        ForeignKey("saved_views.id", ondelete="CASCADE"), primary_key=True
    )
    operator_id: Mapped[UUID] = mapped_column(primary_key=True)  # no key, as above
    warned_at: Mapped[datetime]
