"""People that agents write to, each address once, and the lists they came from."""

from __future__ import annotations

from datetime import datetime
from enum import StrEnum
from uuid import UUID

from sqlalchemy import Index, String, UniqueConstraint
from sqlalchemy.orm import Mapped, mapped_column

from tasks.clock import utcnow
from tasks.models.base import (
    Base,
    Id,
    Json,
    OfCongregation,
    tenant_key,
    within_congregation,
    word,
)


class ContactSource(StrEnum):
    """Who made a contact known."""

    API = "api"
    CONSOLE = "console"
    IMPORT = "import"


class Contact(OfCongregation, Base):
    """One address that a congregation's agents may write to, and who is behind it."""

    __tablename__ = "contacts"
    __table_args__ = (
        within_congregation("import_id", "contact_imports"),
        tenant_key("contacts"),
        UniqueConstraint("congregation_id", "address"),
        Index(None, "import_id"),
    )

    id: Mapped[Id]
    address: Mapped[str] = mapped_column(String(254))  # by ``normal_address``
    display_name: Mapped[str] = mapped_column(String(120), default="")
    #: What agents keep about the person; ``metadata`` is SQLAlchemy's own word.
    details: Mapped[Json] = mapped_column("metadata", default=dict)
    source: Mapped[ContactSource] = mapped_column(word(ContactSource))
    import_id: Mapped[UUID | None]  # the list that made it; None: no list did
    version: Mapped[int] = mapped_column(default=1)  # rises with every change
    created_at: Mapped[datetime] = mapped_column(default=utcnow)
    updated_at: Mapped[datetime] = mapped_column(default=utcnow)


class ContactImport(OfCongregation, Base):
    """A list of contacts that was taken over, and can be taken back."""

    __tablename__ = "contact_imports"
    __table_args__ = (
        tenant_key("contact_imports"),
        Index(None, "congregation_id", "created_at", "id"),
        Index(None, "created_at", "id"),
    )

    id: Mapped[Id]
    filename: Mapped[str] = mapped_column(String(200), default="")  # empty: by the API
    created_by: Mapped[str] = mapped_column(String(255))
    created_at: Mapped[datetime] = mapped_column(default=utcnow)
    counts: Mapped[Json] = mapped_column(default=dict)  # outcome -> rows
    undone_at: Mapped[datetime | None]
    n_removed: Mapped[int] = mapped_column(default=0)  # contacts, when it was undone
