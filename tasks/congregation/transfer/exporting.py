"""Writing an archive: every table as it was at one instant, and its files."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import IO, BinaryIO, Final, cast

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from tasks.bulk import is_postgres
from tasks.congregation.transfer.export_rows import Export, audit_of, rows_of
from tasks.congregation.transfer.report import Report
from tasks.congregation.transfer.writing import ArchiveWriter
from tasks.db import reading
from tasks.lane import Bench
from tasks.long_jobs import CannotDo, Progress
from tasks.models import Congregation, Transfer
from tasks.models.document import StoredFile
from tasks.saying import mark
from tasks.storage import FileMissing

_AUDIT: Final = "audit-entries"


@contextmanager
def exported(
    bench: Bench, transfer: Transfer, progress: Progress[Transfer]
) -> Iterator[tuple[BinaryIO, Report]]:
    """Write an archive into a file without a name; yields it, at its start.

    Raises:
        CannotDo: a file vanished meanwhile.
    """
    progress.report(0, None, mark("Rows"))
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
        export.writer.rows(entity.name, rows_of(session, export, entity))
        export.report.tallies[entity.name].new = export.writer.counts[entity.name]
    if export.has_audit:
        export.writer.rows(_AUDIT, audit_of(session, export))
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


def _write_files(export: Export) -> None:
    for sha256, key in export.files:
        try:
            with export.bench.storage.open(key) as stream:
                export.writer.file(sha256, cast("IO[bytes]", stream))
        except FileMissing as error:
            raise CannotDo(
                "file_vanished",
                mark(
                    "A document was removed while the archive was written. Export "
                    "again."
                ),
            ) from error
        export.step("Files")
