"""Writing an archive: every table as it was at one instant, and its files."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import IO, Any, BinaryIO, Final, cast
from uuid import UUID

from sqlalchemy import Column, Row, func, select
from sqlalchemy.orm import Session

from tasks.bulk import is_postgres
from tasks.congregation.transfer.entities import ENTITIES
from tasks.congregation.transfer.entity import Entity
from tasks.congregation.transfer.report import Report
from tasks.congregation.transfer.values import to_json
from tasks.congregation.transfer.writing import ArchiveWriter
from tasks.db import reading
from tasks.lane import Bench
from tasks.long_jobs import CannotDo, Progress
from tasks.models import AuditEntry, Congregation, Transfer
from tasks.models.document import StoredFile
from tasks.storage import FileMissing

#: Rows that are read from the database at once.
FETCH: Final = 1_000
_AUDIT: Final = "audit-entries"


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


@contextmanager
def exported(
    bench: Bench, transfer: Transfer, progress: Progress[Transfer]
) -> Iterator[tuple[BinaryIO, Report]]:
    """Write an archive into a file without a name; yields it, at its start.

    Raises:
        CannotDo: a file vanished meanwhile.
    """
    progress.report(0, None, "Rows")
    with tempfile.TemporaryFile() as spool:
        target = cast("BinaryIO", spool)
        export = Export(bench, transfer, progress, ArchiveWriter(target, bench.clock()))
        with bench.begin() as session:
            _as_of_now(session)
            source = _write_rows(session, export)
        _write_files(export)
        options = {"files": export.has_files, "audit": export.has_audit}
        export.writer.finish(source, options)
        spool.seek(0)
        yield target, export.report


def _as_of_now(session: Session) -> None:
    """Begin a transaction that reads everything as of one instant."""
    if is_postgres(session):
        session.connection(
            execution_options={
                "isolation_level": "REPEATABLE READ",
                "postgresql_readonly": True,
            }
        )
    else:
        reading(session)


def _write_rows(session: Session, export: Export) -> Mapping[str, str]:
    """Write every table; returns what the manifest says of where they are from."""
    of = export.transfer.congregation_id
    row = session.get_one(Congregation, of)
    told = {
        "name": row.name,
        "slug": row.slug,
        "locale": row.locale,
        "timezone": row.timezone,
        "retention_months": row.retention_months,
    }
    export.total = _n_rows(session, export)
    export.writer.rows("congregation", [told])
    for entity in export.entities():
        export.writer.rows(entity.name, _rows(session, export, entity))
        export.report.tallies[entity.name].new = export.writer.counts[entity.name]
    if export.has_audit:
        export.writer.rows(_AUDIT, _audit(session, export))
        export.report.tallies[_AUDIT].new = export.writer.counts[_AUDIT]
    return {"congregation": str(of), "slug": row.slug, "name": row.name}


def _n_rows(session: Session, export: Export) -> int:
    of = export.transfer.congregation_id
    tables = [entity.table for entity in export.entities()]
    total = sum(
        session.scalar(
            select(func.count()).select_from(table).where(table.c.congregation_id == of)
        )
        or 0
        for table in tables
    )
    if export.has_files:
        n_files = select(func.count()).where(StoredFile.congregation_id == of)
        total += session.scalar(n_files) or 0
    return total


def _rows(session: Session, export: Export, entity: Entity) -> Iterator[dict[str, Any]]:
    """Yield the rows of one table as JSON has them, in the order of their keys."""
    columns = list(entity.columns)
    if entity.model is StoredFile:
        columns.append(entity.table.c.key)  # read, not written
    for row in _read(session, export, entity, columns):
        if _is_left(export, entity, row):
            export.report.leave(
                entity.name, "the storage does not have the file any more."
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


def _audit(session: Session, export: Export) -> Iterator[dict[str, Any]]:
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


def _write_files(export: Export) -> None:
    for sha256, key in export.files:
        try:
            with export.bench.storage.open(key) as stream:
                export.writer.file(sha256, cast("IO[bytes]", stream))
        except FileMissing as error:
            raise CannotDo(
                "file_vanished",
                "A document was removed while the archive was written. Export again.",
            ) from error
        export.step("Files")
