"""What the lane does with one transfer: write an archive, look at one, take one over.

Everything that takes long happens before the one transaction that ends the transfer,
so that SQLite's only writer is not held up, and a death changes nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import BinaryIO, Final, cast
from zoneinfo import ZoneInfo

from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import Session

from tasks.automation.zones import first_zone
from tasks.congregation import loose_files
from tasks.congregation.days import locked
from tasks.congregation.documents import files as board_files
from tasks.congregation.retention.ledger import reapply
from tasks.congregation.transfer.applying import apply
from tasks.congregation.transfer.entities import BY_NAME, PLACE
from tasks.congregation.transfer.exporting import exported
from tasks.congregation.transfer.finding import Target
from tasks.congregation.transfer.forgetting import black_words_out
from tasks.congregation.transfer.intake import take_in
from tasks.congregation.transfer.jobs import (
    ARCHIVE_MAX,
    KEEP_EXPORTS,
    PURPOSE,
    let_go,
    tell,
)
from tasks.congregation.transfer.layouts import FILES, Layout, OurLayout
from tasks.congregation.transfer.pointing import Intake
from tasks.congregation.transfer.public import PublicLayout
from tasks.congregation.transfer.reading import Archive, open_archive
from tasks.congregation.transfer.report import Report
from tasks.congregation.transfer.staging import Staging
from tasks.crashpoints import reached
from tasks.lane import Bench
from tasks.long_jobs import CannotDo, Progress
from tasks.models import Congregation, Transfer, TransferKind
from tasks.operations.audit import SYSTEM, Actor, Subject, record
from tasks.storage import FileMissing, key_of

_GONE: Final = "The uploaded archive is not kept any more. Upload it again."
_CHANGED: Final = (
    "The congregation was changed while the archive was read; nothing was taken over. "
    "Check the archive again."
)


@dataclass(slots=True)
class _Ear:
    """Adds up bytes and lets the transfer's page know."""

    progress: Progress[Transfer]
    total: int | None = None
    phase: str = ""
    done: int = 0

    def __call__(self, size: int) -> None:
        self.done += size
        self.progress.report(self.done, self.total, self.phase)


@dataclass(slots=True)
class _Heard:
    """A stream that lets the transfer's page know how far it was read."""

    stream: BinaryIO
    ear: Callable[[int], None]

    def read(self, size: int = -1) -> bytes:
        """Read on."""
        piece = self.stream.read(size)
        self.ear(len(piece))
        return piece


def work(transfer: Transfer, progress: Progress[Transfer]) -> None:
    """Do one transfer to its end."""
    bench = progress.bench
    match transfer.kind:
        case TransferKind.EXPORT:
            _export(bench, transfer, progress)
        case TransferKind.CHECK:
            with _taken_in(bench, transfer, progress) as read, bench.begin() as session:
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
        heard = cast("BinaryIO", _Heard(stream, _Ear(progress, None, "Keeping it")))
        stored = bench.storage.put(key, heard, limit=ARCHIVE_MAX)
    reached("in_export")
    with bench.begin() as session:
        row, now = progress.finish(session), bench.clock()
        loose_files.keep(session, key, now)
        row.file_key, row.file_size = key, stored.size
        row.expires_at = now + KEEP_EXPORTS
        row.report = report.as_json()
        _conclude(session, row, "transfer.exported", bench)


@dataclass(slots=True)
class _Read:
    """An archive whose rows wait to be written."""

    archive: Archive
    intake: Intake
    #: SHA-256 -> where the storage has it; of contents that are new here.
    files: dict[bytes, str] = field(default_factory=dict)


@contextmanager
def _taken_in(
    bench: Bench, transfer: Transfer, progress: Progress[Transfer]
) -> Iterator[_Read]:
    """Read the transfer's archive to its end; what is wrong stands in the report.

    Raises:
        CannotDo: it is gone, or refused.
    """
    if transfer.file_key is None:
        raise CannotDo("file_missing", _GONE)
    progress.report(0, None, "Opening")
    try:
        with (
            bench.storage.at_hand(transfer.file_key) as path,
            open_archive(path) as archive,
            Staging() as staging,
        ):
            ear = _Ear(progress, archive.size, "Comparing checksums")
            archive.verify(ear)
            ear = _Ear(progress, archive.n_data_bytes, "Reading rows")
            layout = _layout(bench, transfer, archive, ear)
            target = Target(bench.begin, transfer.congregation_id)
            intake = Intake(target, layout, staging, _about(archive))
            take_in(intake)
            yield _Read(archive, intake)
    except FileMissing as error:
        raise CannotDo("file_missing", _GONE) from error


def _layout(
    bench: Bench, transfer: Transfer, archive: Archive, heard: Callable[[int], None]
) -> Layout:
    if archive.manifest.is_ours:
        return OurLayout(archive, heard)
    with bench.begin() as session:
        row = session.get_one(Congregation, transfer.congregation_id)
        zone = ZoneInfo(first_zone(row.timezone))
    return PublicLayout(archive, heard, zone)


def _about(archive: Archive) -> Report:
    manifest = archive.manifest
    return Report(
        about={
            "title": manifest.title,
            "exported_at": manifest.exported_at,
            "name": manifest.source.get("name", ""),
        }
    )


def _import(bench: Bench, transfer: Transfer, progress: Progress[Transfer]) -> None:
    with _taken_in(bench, transfer, progress) as read:
        report = read.intake.report
        if report.n_problems:
            raise CannotDo(
                "not_importable",
                f"The archive has {report.n_problems} problems by now; nothing was "
                "taken over. Check it again.",
            )
        _put_files(bench, read, progress)
        progress.report(0, None, "Writing")
        reached("in_import")
        try:
            with bench.begin() as session:
                _write(session, bench, read, progress)
        except IntegrityError as error:
            raise CannotDo("changed_meanwhile", _CHANGED) from error


def _put_files(bench: Bench, read: _Read, progress: Progress[Transfer]) -> None:
    """Put new files into the storage; they stay reserved until rows need them."""
    intake = read.intake
    ear = _Ear(progress, None, "Files")
    for rows in intake.staging.waiting(PLACE[FILES], is_new=True):
        for row in rows:
            with read.archive.opened(intake.layout.entry(row["sha256"])) as stream:
                upload = board_files.put(
                    bench.begin,
                    bench.storage,
                    intake.target.congregation_id,
                    cast("BinaryIO", _Heard(cast("BinaryIO", stream), ear)),
                    limit=row["size"],
                    now=bench.clock(),
                )
            read.files[upload.stored.sha256] = upload.key


def _write(
    session: Session, bench: Bench, read: _Read, progress: Progress[Transfer]
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
            f"{n_erased} people or accounts were anonymised again, as the ledger says."
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
