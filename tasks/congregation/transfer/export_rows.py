"""The rows of an export: read as a stream, and left out where their file is lost."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Final
from uuid import UUID

from sqlalchemy import Column, Row, select
from sqlalchemy.orm import Session

from tasks.congregation.transfer.entities import ENTITIES
from tasks.congregation.transfer.entity import Entity
from tasks.congregation.transfer.report import Report
from tasks.congregation.transfer.values import to_json
from tasks.congregation.transfer.writing import ArchiveWriter
from tasks.lane import Bench
from tasks.long_jobs import Progress
from tasks.models import AuditEntry, Transfer
from tasks.models.document import StoredFile
from tasks.saying.kept import kept

#: Rows that are read from the database at once.
FETCH: Final = 1_000


@dataclass(slots=True)
class Export:
    """One export under way."""

    bench: Bench
    transfer: Transfer
    progress: Progress[Transfer]
    writer: ArchiveWriter
    report: Report = field(default_factory=Report)
    done: int = 0
    total: int = 0
    #: Files that the storage does not have: rows that need them stay here.
    missing: set[UUID] = field(default_factory=set)
    left: set[UUID] = field(default_factory=set)  # documents of such files
    files: list[tuple[str, str]] = field(default_factory=list)  # SHA-256 and key

    @property
    def has_files(self) -> bool:
        """Whether files go along."""
        return bool(self.transfer.options.get("files"))

    @property
    def has_audit(self) -> bool:
        """Whether the audit log goes along."""
        return bool(self.transfer.options.get("audit"))

    def entities(self) -> Iterator[Entity]:
        """Yield what travels this time."""
        return (each for each in ENTITIES if self.has_files or not each.needs_files)

    def step(self, phase: str) -> None:
        """Count one row or file more."""
        self.done += 1
        if self.done % FETCH == 0 or phase == "Files":
            self.progress.report(self.done, self.total, phase)


def rows_of(
    session: Session, export: Export, entity: Entity
) -> Iterator[dict[str, Any]]:
    """Yield the rows of one table as JSON has them, in the order of their keys."""
    columns = list(entity.columns)
    if entity.model is StoredFile:
        columns.append(entity.table.c.key)  # read, not written
    for row in _read(session, export, entity, columns):
        if _is_left(export, entity, row):
            export.report.leave(
                entity.name, kept("the storage does not have the file any more.")
            )
            continue
        yield {column.name: to_json(row[n]) for n, column in enumerate(entity.columns)}


def _read(
    session: Session, export: Export, entity: Entity, columns: list[Column[Any]]
) -> Iterator[Row[Any]]:
    table = entity.table
    found = session.execute(
        select(*columns)
        .where(table.c.congregation_id == export.transfer.congregation_id)
        .order_by(*(table.c[name] for name in entity.identity)),
        execution_options={"yield_per": FETCH},
    )
    for row in found:
        export.step("Rows")
        yield row


def _is_left(export: Export, entity: Entity, row: Row[Any]) -> bool:
    """Whether a row stays because a file is missing; notes the files that are not."""
    if not entity.needs_files:
        return False
    said = row._mapping
    if entity.model is StoredFile:
        if export.bench.storage.size(said["key"]) != said["size"]:
            export.missing.add(said["id"])
            return True
        export.files.append((said["sha256"].hex(), said["key"]))
        return False
    if said["file_id"] in export.missing:
        if "id" in said:
            export.left.add(said["id"])
        return True
    return said.get("document_id") in export.left


def audit_of(session: Session, export: Export) -> Iterator[dict[str, Any]]:
    """Yield the audit log as JSON has it, oldest first."""
    columns = AuditEntry.__table__.columns
    wanted = [column for column in columns if column.name != "congregation_id"]
    found = session.execute(
        select(*wanted)
        .where(AuditEntry.congregation_id == export.transfer.congregation_id)
        .order_by(AuditEntry.created_at, AuditEntry.id),
        execution_options={"yield_per": FETCH},
    )
    for row in found:
        yield {column.name: to_json(row[n]) for n, column in enumerate(wanted)}
