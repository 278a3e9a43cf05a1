"""What the lane does with one transfer: write an archive, look at one, take one over.

Everything that takes long happens before the one transaction that ends the transfer,
so that SQLite's only writer is not held up, and a death changes nothing.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import BinaryIO, Final, cast

from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import Session

from tasks.congregation import loose_files
from tasks.congregation.days import locked
from tasks.congregation.documents import files as board_files
from tasks.congregation.retention.ledger import reapply
from tasks.congregation.transfer.applying import apply
from tasks.congregation.transfer.entities import BY_NAME, PLACE
from tasks.congregation.transfer.exporting import exported
from tasks.congregation.transfer.forgetting import black_words_out
from tasks.congregation.transfer.jobs import (
    ARCHIVE_MAX,
    KEEP_EXPORTS,
    PURPOSE,
    let_go,
    tell,
)
from tasks.congregation.transfer.layouts import FILES
from tasks.congregation.transfer.opening import Ear, HeardStream, Read, taken_in
from tasks.crashpoints import reached
from tasks.lane import Bench
from tasks.long_jobs import CannotDo, Progress
from tasks.models import Transfer, TransferKind
from tasks.operations.audit import SYSTEM, Actor, Subject, record
from tasks.saying import mark
from tasks.saying.kept import kept
from tasks.storage import key_of

_CHANGED: Final = mark(
    "The congregation was changed while the archive was read; nothing was taken over. "
    "Check the archive again."
)


def work(transfer: Transfer, progress: Progress[Transfer]) -> None:
    """Do one transfer to its end."""
    bench = progress.bench
    match transfer.kind:
        case TransferKind.EXPORT:
            _export(bench, transfer, progress)
        case TransferKind.CHECK:
            with taken_in(bench, transfer, progress) as read, bench.begin() as session:
                progress.finish(session).report = read.intake.report.as_json()
        case TransferKind.IMPORT:
            _import(bench, transfer, progress)


def _export(bench: Bench, transfer: Transfer, progress: Progress[Transfer]) -> None:
    # The attempt is in the name, since an earlier one may have left its file.
    name = f"{transfer.id}-{transfer.attempt}.carillon"
    key = key_of(transfer.congregation_id, PURPOSE, name)
    with exported(bench, transfer, progress) as (stream, report):
        with bench.begin() as session:
            now = bench.clock()
            loose_files.reserve(session, transfer.congregation_id, key, now)
        ear = Ear(progress, None, mark("Keeping it"))
        heard = cast("BinaryIO", HeardStream(stream, ear))
        stored = bench.storage.put(key, heard, limit=ARCHIVE_MAX)
    reached("in_export")
    with bench.begin() as session:
        row, now = progress.finish(session), bench.clock()
        loose_files.keep(session, key, now)
        row.file_key, row.file_size = key, stored.size
        row.expires_at = now + KEEP_EXPORTS
        row.report = report.as_json()
        _conclude(session, row, "transfer.exported", bench)


def _import(bench: Bench, transfer: Transfer, progress: Progress[Transfer]) -> None:
    with taken_in(bench, transfer, progress) as read:
        report = read.intake.report
        if report.n_problems:
            raise CannotDo(
                "not_importable",
                kept(
                    "The archive has %(n)s problems by now; nothing was taken over. "
                    "Check it again.",
                    n=str(report.n_problems),
                ),
            )
        _put_files(bench, read, progress)
        progress.report(0, None, mark("Writing"))
        reached("in_import")
        try:
            with bench.begin() as session:
                _write(session, bench, read, progress)
        except IntegrityError as error:
            raise CannotDo("changed_meanwhile", _CHANGED) from error


def _put_files(bench: Bench, read: Read, progress: Progress[Transfer]) -> None:
    """Put new files into the storage; they stay reserved until rows need them."""
    intake = read.intake
    ear = Ear(progress, None, mark("Files"))
    for rows in intake.staging.waiting(PLACE[FILES], is_new=True):
        for row in rows:
            with read.archive.opened(intake.layout.entry(row["sha256"])) as stream:
                upload = board_files.put(
                    bench.begin,
                    bench.storage,
                    intake.target.congregation_id,
                    cast("BinaryIO", HeardStream(cast("BinaryIO", stream), ear)),
                    limit=row["size"],
                    now=bench.clock(),
                )
            read.files[upload.stored.sha256] = upload.key


def _write(
    session: Session, bench: Bench, read: Read, progress: Progress[Transfer]
) -> None:
    row, now, intake = progress.finish(session), bench.clock(), read.intake
    of = row.congregation_id
    locked(session, of)  # nobody changes campaigns meanwhile
    apply(session, intake, read.files, now)
    reached("in_import_writing")
    black_words_out(session, intake)
    n_erased = reapply(session, of, now)
    if n_erased:
        intake.report.warn(
            kept(
                "%(n)s people or accounts were anonymised again, as the ledger says.",
                n=str(n_erased),
            )
        )
    row.report = intake.report.as_json()
    let_go(session, row, now)
    _conclude(session, row, "transfer.imported", bench)


def _conclude(session: Session, row: Transfer, action: str, bench: Bench) -> None:
    n_rows = row.report["n_rows"]
    verb = "Exported" if row.kind is TransferKind.EXPORT else "Imported"
    counts: Mapping[str, Mapping[str, int]] = row.report["counts"]
    record(
        session,
        Actor(row.requested_by) if row.requested_by else SYSTEM,
        action,
        Subject("transfer", str(row.id), row.congregation_id),
        f"{verb} {n_rows} rows",
        after={
            name: tally["new"] + tally["updated"]
            for name, tally in counts.items()
            if name in BY_NAME
        },
    )
    tell(session, row, bench.clock())
