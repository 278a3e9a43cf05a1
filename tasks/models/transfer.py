"""Archives of a congregation's data: going out, being looked at, coming in."""

from __future__ import annotations

from datetime import datetime
from enum import StrEnum
from uuid import UUID

from sqlalchemy import BigInteger, ForeignKey, Index, String, text
from sqlalchemy.orm import Mapped, mapped_column

from tasks.models.base import Base, Json, OfCongregation, word
from tasks.models.long_job import IS_OPEN, LongJob, LongJobState

_IS_RUNNING = "state = 'running'"
_HAS_FILE = "file_key IS NOT NULL"


class TransferKind(StrEnum):
    """What is done with an archive."""

    EXPORT = "export"  # written
    CHECK = "check"  # read and reported on; no row of the congregation is changed
    IMPORT = "import"  # taken over, as a check before it has told


class Transfer(LongJob, Base):
    """One archive on its way; the lane ``data_transfer`` moves it."""

    __tablename__ = "transfers"
    __table_args__ = (
        Index(None, "congregation_id", "id"),
        Index(
            "uq_transfers_running",
            "congregation_id",
            unique=True,
            postgresql_where=text(_IS_RUNNING),
            sqlite_where=text(_IS_RUNNING),
        ),
        Index(
            "ix_transfers_open",
            "run_at",
            "id",
            postgresql_where=text(IS_OPEN),
            sqlite_where=text(IS_OPEN),
        ),
        Index(
            "ix_transfers_kept",
            "expires_at",
            "id",
            postgresql_where=text(_HAS_FILE),
            sqlite_where=text(_HAS_FILE),
        ),
    )

    kind: Mapped[TransferKind] = mapped_column(word(TransferKind))
    #: Of an import: the check that its operator had read; it may be gone by now.
    check_id: Mapped[UUID | None]
    #: What an export takes along: {"files": bool, "audit": bool}.
    options: Mapped[Json] = mapped_column(default=dict)
    file_name: Mapped[str] = mapped_column(String(200), default="")  # for people
    #: Where the archive lies in the storage; None: not yet, or not any more.
    file_key: Mapped[str | None] = mapped_column(String(200))
    file_size: Mapped[int | None] = mapped_column(BigInteger)  # bytes
    expires_at: Mapped[datetime | None]  # then the archive is removed
    #: Counts, warnings and problems, as ``tasks.congregation.transfer.report`` says
    #: them: by file, line and field, and never with what stands there.
    report: Mapped[Json] = mapped_column(default=dict)

    @property
    def is_expired(self) -> bool:
        """Whether it is done, and its archive is gone."""
        return (
            self.kind is TransferKind.EXPORT
            and self.state is LongJobState.DONE
            and self.file_key is None
        )


class ExternalRef(OfCongregation, Base):
    """Which row of ours a row of an archive became, so that it is not added twice."""

    __tablename__ = "external_refs"
    __table_args__ = (Index(None, "congregation_id", "row_id"),)

    congregation_id: Mapped[UUID] = mapped_column(
        ForeignKey("congregations.id"), primary_key=True, sort_order=-1
    )
    #: Where the archive came from: the id of a congregation, or the app and its slug.
    source: Mapped[str] = mapped_column(String(120), primary_key=True)
    entity: Mapped[str] = mapped_column(String(40), primary_key=True)
    external_id: Mapped[str] = mapped_column(String(64), primary_key=True)
    row_id: Mapped[UUID]  # the row may be gone by now
