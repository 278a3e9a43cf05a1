"""The document board of a congregation, and the files that its documents are.

A stored file is known by its content: versions, and documents, that are equal byte for
byte share one, and its thumbnail.
"""

from __future__ import annotations

from datetime import date, datetime
from enum import StrEnum
from typing import Final
from uuid import UUID

from sqlalchemy import BigInteger, Date, Index, LargeBinary, String, UniqueConstraint
from sqlalchemy import text as sql
from sqlalchemy.orm import Mapped, mapped_column

from tasks.clock import utcnow
from tasks.models.base import (
    Base,
    Id,
    OfCongregation,
    PartOfCongregation,
    tenant_key,
    within_congregation,
    word,
)

#: The only kind of file that the board takes today.
PDF: Final = "application/pdf"


class ThumbnailState(StrEnum):
    """Whether a file has a picture of its first page."""

    NONE = "none"  # nobody asked yet; the lane does so when it has nothing else
    PENDING = "pending"  # also while it is made, and between two tries
    READY = "ready"
    FAILED = "failed"  # with a reason; an operator may ask for another try


class ThumbnailReason(StrEnum):
    """Why a file has no thumbnail."""

    PASSWORD = "password"  # noqa: S105  # a word, no password
    BROKEN = "broken"
    NO_PAGES = "no_pages"
    TOO_COMPLEX = "too_complex"
    TIMED_OUT = "timed_out"
    TOOL_MISSING = "tool_missing"
    TOOL_FAILED = "tool_failed"
    FILE_MISSING = "file_missing"
    STORAGE_FAILED = "storage_failed"
    WORKER_VANISHED = "worker_vanished"


class StoredFile(OfCongregation, Base):
    """One content, kept once for a congregation.

    Only ``tasks.congregation.documents.files`` adds and removes rows: a row and its
    file come and go together.
    """

    __tablename__ = "stored_files"
    __table_args__ = (
        tenant_key("stored_files"),
        UniqueConstraint("congregation_id", "sha256"),
        Index(
            "ix_stored_files_waiting",
            "run_at",
            "id",
            postgresql_where=sql("thumbnail_state IN ('none', 'pending')"),
            sqlite_where=sql("thumbnail_state IN ('none', 'pending')"),
        ),
    )

    id: Mapped[Id]
    sha256: Mapped[bytes] = mapped_column(LargeBinary(32))
    size: Mapped[int] = mapped_column(BigInteger)  # bytes
    media_type: Mapped[str] = mapped_column(String(80), default=PDF)
    key: Mapped[str] = mapped_column(String(200))  # where the storage has it
    created_at: Mapped[datetime] = mapped_column(default=utcnow)
    thumbnail_state: Mapped[ThumbnailState] = mapped_column(
        word(ThumbnailState), default=ThumbnailState.PENDING
    )
    thumbnail_reason: Mapped[ThumbnailReason | None] = mapped_column(
        word(ThumbnailReason)  # also of a try that failed, while another is to come
    )
    thumbnail_key: Mapped[str | None] = mapped_column(String(200))  # a PNG
    thumbnail_width: Mapped[int | None]  # pixels
    thumbnail_height: Mapped[int | None]
    thumbnail_at: Mapped[datetime | None]  # when it was made, or given up
    run_at: Mapped[datetime] = mapped_column(default=utcnow)  # when the lane takes it
    attempt: Mapped[int] = mapped_column(default=0)  # the fence; only rises
    failures: Mapped[int] = mapped_column(default=0)  # of this round of tries
    lease_until: Mapped[datetime | None]  # None: nobody is at it


class BoardSection(OfCongregation, Base):
    """A heading of the board, such as "Rosters"."""

    __tablename__ = "board_sections"
    __table_args__ = (
        tenant_key("board_sections"),
        UniqueConstraint("congregation_id", "name"),
    )

    id: Mapped[Id]
    name: Mapped[str] = mapped_column(String(120))
    position: Mapped[int] = mapped_column(default=0)  # ascending, then by name
    created_at: Mapped[datetime] = mapped_column(default=utcnow)


class Document(OfCongregation, Base):
    """A document of the board.  Its days are the congregation's local days."""

    __tablename__ = "documents"
    __table_args__ = (
        within_congregation("section_id", "board_sections"),
        within_congregation("file_id", "stored_files"),
        tenant_key("documents"),
        Index(None, "congregation_id", "section_id", "position", "id"),
        Index(None, "congregation_id", "visible_until"),
        Index(None, "file_id"),
    )

    id: Mapped[Id]
    section_id: Mapped[UUID]
    title: Mapped[str] = mapped_column(String(200))
    search_title: Mapped[str] = mapped_column(String(200))  # folded, see ``names``
    file_id: Mapped[UUID]  # the current one
    filename: Mapped[str] = mapped_column(String(200))  # as it was uploaded
    number: Mapped[int] = mapped_column(default=1)  # of the current version
    visible_from: Mapped[date | None] = mapped_column(Date)  # None: since ever
    visible_until: Mapped[date | None] = mapped_column(Date)  # the last day
    is_highlighted: Mapped[bool] = mapped_column(default=False)
    position: Mapped[int] = mapped_column(default=0)  # in its section, ascending
    #: The ``visible_until`` of which its people were told that it comes near.
    told_until: Mapped[date | None] = mapped_column(Date)
    version: Mapped[int] = mapped_column(default=1)  # rises with every change
    created_at: Mapped[datetime] = mapped_column(default=utcnow)
    updated_at: Mapped[datetime] = mapped_column(default=utcnow)


class DocumentVersion(PartOfCongregation, Base):
    """What a document was, or is: one row for each file that it was given."""

    __tablename__ = "document_versions"
    __table_args__ = (
        within_congregation("document_id", "documents", ondelete="CASCADE"),
        within_congregation("file_id", "stored_files"),
        Index(None, "file_id"),
    )

    document_id: Mapped[UUID] = mapped_column(primary_key=True)
    number: Mapped[int] = mapped_column(primary_key=True)  # from 1
    file_id: Mapped[UUID]
    filename: Mapped[str] = mapped_column(String(200))
    uploaded_by: Mapped[str] = mapped_column(String(255))
    created_at: Mapped[datetime] = mapped_column(default=utcnow)


class LooseFile(OfCongregation, Base):
    """A key of the storage that no row needs: not yet, or not any more.

    It is written before the file is, so a death in between leaves nothing behind.
    """

    __tablename__ = "loose_files"
    __table_args__ = (Index(None, "remove_after"),)

    key: Mapped[str] = mapped_column(String(200), primary_key=True)
    remove_after: Mapped[datetime]
