"""Lists of contacts: one that waits, and what became of the rows of the others."""

from __future__ import annotations

from datetime import datetime
from uuid import UUID

from sqlalchemy import Index, String
from sqlalchemy.orm import Mapped, mapped_column

from tasks.clock import utcnow
from tasks.models.base import Base, Id, Json, OfCongregation, within_congregation


class ContactDraft(OfCongregation, Base):
    """A list of contacts that was uploaded and waits for an operator's yes.

    When it is taken over, the import gets its id, so that a second yes is no second
    import.
    """

    __tablename__ = "contact_drafts"
    __table_args__ = (Index(None, "created_at"),)

    id: Mapped[Id]
    filename: Mapped[str] = mapped_column(String(200))
    #: See ``tasks.outreach.contact_files.ContactFile``.
    content: Mapped[Json] = mapped_column(deferred=True)
    n_rows: Mapped[int]
    created_by: Mapped[str] = mapped_column(String(255))
    created_at: Mapped[datetime] = mapped_column(default=utcnow)


class ContactImportLines(OfCongregation, Base):
    """What became of each row of a list; apart from the import, and kept shorter."""

    __tablename__ = "contact_import_lines"
    __table_args__ = (
        within_congregation("import_id", "contact_imports", ondelete="CASCADE"),
        Index(None, "created_at"),
    )

    import_id: Mapped[UUID] = mapped_column(primary_key=True)
    lines: Mapped[Json]  # see tasks.outreach.drafts
    created_at: Mapped[datetime] = mapped_column(default=utcnow)
