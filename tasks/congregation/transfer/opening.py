"""Reading a transfer's archive to its end, while its page hears how far that is."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import BinaryIO, Final
from zoneinfo import ZoneInfo

from tasks.automation.zones import first_zone
from tasks.congregation.transfer.finding import Target
from tasks.congregation.transfer.intake import take_in
from tasks.congregation.transfer.layouts import Layout, OurLayout
from tasks.congregation.transfer.pointing import Intake
from tasks.congregation.transfer.public import PublicLayout
from tasks.congregation.transfer.reading import Archive, open_archive
from tasks.congregation.transfer.report import Report
from tasks.congregation.transfer.staging import Staging
from tasks.lane import Bench
from tasks.long_jobs import CannotDo, Progress
from tasks.models import Congregation, Transfer
from tasks.saying import mark
from tasks.storage import FileMissing

_GONE: Final = mark("The uploaded archive is not kept any more. Upload it again.")


@dataclass(slots=True)
class Ear:
    """Adds up bytes and lets the transfer's page know."""

    progress: Progress[Transfer]
    total: int | None = None
    phase: str = ""
    done: int = 0

    def __call__(self, size: int) -> None:
        self.done += size
        self.progress.report(self.done, self.total, self.phase)


@dataclass(slots=True)
class HeardStream:
    """A stream that lets the transfer's page know how far it was read."""

    stream: BinaryIO
    ear: Callable[[int], None]

    def read(self, size: int = -1) -> bytes:
        """Read on."""
        piece = self.stream.read(size)
        self.ear(len(piece))
        return piece


@dataclass(slots=True)
class Read:
    """An archive whose rows wait to be written."""

    archive: Archive
    intake: Intake
    #: SHA-256 -> where the storage has it; of contents that are new here.
    files: dict[bytes, str] = field(default_factory=dict)


@contextmanager
def taken_in(
    bench: Bench, transfer: Transfer, progress: Progress[Transfer]
) -> Iterator[Read]:
    """Read the transfer's archive to its end; what is wrong stands in the report.

    Raises:
        CannotDo: it is gone, or refused.
    """
    if transfer.file_key is None:
        raise CannotDo("file_missing", _GONE)
    progress.report(0, None, mark("Opening"))
    try:
        with (
            bench.storage.at_hand(transfer.file_key) as path,
            open_archive(path) as archive,
            Staging() as staging,
        ):
            ear = Ear(progress, archive.size, mark("Comparing checksums"))
            archive.verify(ear)
            ear = Ear(progress, archive.n_data_bytes, mark("Reading rows"))
            layout = _layout(bench, transfer, archive, ear)
            target = Target(bench.begin, transfer.congregation_id)
            intake = Intake(target, layout, staging, _about(archive))
            take_in(intake)
            yield Read(archive, intake)
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
