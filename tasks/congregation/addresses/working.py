"""One sync from its first byte to its report."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import date, datetime
from pathlib import Path
from typing import Any, Final

from sqlalchemy import update

from tasks.congregation.addresses.applying import Change, apply, n_known
from tasks.congregation.addresses.downloading import NotDownloaded
from tasks.congregation.addresses.jobs import tell
from tasks.congregation.addresses.leftovers import working_folder
from tasks.congregation.addresses.perimeters import Perimeter
from tasks.congregation.addresses.plausible import refuse_drop, refuse_nothing
from tasks.congregation.addresses.replacing import look_anew
from tasks.congregation.addresses.rows import Wanted
from tasks.congregation.addresses.scanning import Scan
from tasks.congregation.addresses.staging import staging
from tasks.congregation.addresses.tally import Tally
from tasks.long_jobs import CannotDo, Progress
from tasks.models.address import AddressArea, Sync, SyncKind
from tasks.saying import mark
from tasks.storage import FileMissing, StorageFailed

DOWNLOADING: Final = "Downloading"
READING: Final = "Reading"
WRITING: Final = mark("Writing")
#: The phases that name a file, as pages say them.
OF_FILES: Final = {
    DOWNLOADING: mark("Downloading %(name)s"),
    READING: mark("Reading %(name)s"),
}
_NO_PLACES: Final = mark(
    "Nobody has said which postal codes or communes the congregation has; say so under "
    "“Area”, and start the sync again."
)


def work(sync: Sync, progress: Progress[Sync]) -> None:
    """Do what a sync is for; its last deed is a transaction.

    Raises:
        CannotDo: nothing was changed; the sentence says why.
    """
    if sync.kind is SyncKind.PERIMETER:
        look_anew(sync, progress)
        return
    with progress.bench.begin() as session:
        area = session.get(AddressArea, sync.congregation_id)
    if area is None or not (area.postcodes or area.communes):
        raise CannotDo("no_places", _NO_PLACES)
    wanted = Wanted(frozenset(area.postcodes), frozenset(area.communes))
    with working_folder() as folder:
        _Run(sync, progress, wanted, folder).go(Perimeter(area.perimeter))


@dataclass(slots=True)
class _Run:
    """A sync under way."""

    sync: Sync
    progress: Progress[Sync]
    wanted: Wanted
    folder: Path
    tally: Tally = field(default_factory=Tally)

    def go(self, perimeter: Perimeter) -> None:
        with staging(self.folder) as stage:
            accepts = self.sync.accepts
            scan = Scan(self.wanted, perimeter, stage, self.tally, accepts)
            meter = _Meter(self.progress, self.sync.sources)
            for number, source in enumerate(self.sync.sources):
                self._read(scan, meter, number, source)
            matched = stage.seal()
            self._keep(self.tally.report(matched))
            refuse_nothing(matched, self.tally, self.wanted)
            meter.write()
            now = self.progress.bench.clock()
            change = Change(
                self.sync.congregation_id, stage, self.wanted, self.tally.places, now
            )
            self._apply(change, matched)

    def _read(
        self, scan: Scan, meter: _Meter, number: int, source: Mapping[str, Any]
    ) -> None:
        with (
            self._at_hand(meter, number, source) as (path, day),
            path.open("rb") as raw,
        ):
            file = scan.file(
                str(source["name"]), raw, lambda n: meter.at(number, n, READING)
            )
            file.data_from = day.isoformat() if day else None
        meter.read(number)

    @contextmanager
    def _at_hand(
        self, meter: _Meter, number: int, source: Mapping[str, Any]
    ) -> Iterator[tuple[Path, date | None]]:
        """Give a source as a file of this machine, and the day that it is of."""
        bench = self.progress.bench
        if "key" in source:
            with _as_cannot(), bench.storage.at_hand(str(source["key"])) as path:
                yield path, None
            return
        path = self.folder / "download"
        with path.open("wb") as file:
            answer = bench.effects.downloader.download(
                str(source["url"]), file, meter.coming(number)
            )
        if isinstance(answer, NotDownloaded):
            raise CannotDo("not_fetched", answer.sentence, may_pass=answer.may_pass)
        meter.came(number, answer.size)
        yield path, answer.changed_on
        path.unlink()

    def _keep(self, report: dict[str, Any]) -> None:
        """Keep what was read, also where it comes to nothing."""
        held = self.progress.held
        with self.progress.bench.begin() as session:
            session.execute(
                update(Sync)
                .where(Sync.id == held.id, Sync.attempt == held.attempt)
                .values(report=report)
                .execution_options(synchronize_session=False)
            )

    def _apply(self, change: Change, matched: int) -> None:
        bench = self.progress.bench
        with bench.begin() as session:
            row = self.progress.finish(session)
            if not row.accepts:
                refuse_drop(matched, n_known(session, change))
            applied = apply(session, change)
            now = bench.clock()
            row.report = (
                self.tally.report(matched)
                | applied.report()
                | {"seconds": round(_seconds(row.started_at, now), 1)}
            )
            days = [each.data_from for each in self.tally.files if each.data_from]
            row.data_from = date.fromisoformat(max(days)) if days else None
            tell(session, row, now)


@dataclass(slots=True)
class _Meter:
    """How far a sync is: the bytes of every file, and half as many for the writing."""

    progress: Progress[Sync]
    sources: list[dict[str, Any]]
    sizes: dict[int, int] = field(default_factory=dict)
    done: int = 0

    def __post_init__(self) -> None:
        self.sizes = {
            n: int(each["size"]) for n, each in enumerate(self.sources) if "key" in each
        }

    @property
    def total(self) -> int | None:
        """The bytes of everything; ``None``: a server has not told its part."""
        if len(self.sizes) < len(self.sources):
            return None
        # What is downloaded goes by twice.
        twice = sum(size for n, size in self.sizes.items() if "url" in self.sources[n])
        return (sum(self.sizes.values()) * 3 + twice * 2) // 2

    def at(self, number: int, n: int, phase: str) -> None:
        """Say that ``n`` bytes of a file went by."""
        name = self.sources[number]["name"]
        self.progress.report(self.done + n, self.total, f"{phase} {name}"[:60])

    def coming(self, number: int) -> Callable[[int, int | None], None]:
        """Return what hears of a download's bytes."""

        def on_bytes(n: int, total: int | None) -> None:
            if total is not None:
                self.sizes[number] = total
            self.at(number, n, DOWNLOADING)

        return on_bytes

    def came(self, number: int, size: int) -> None:
        """Say that a download is here, with so many bytes."""
        self.sizes[number] = size
        self.done += size

    def read(self, number: int) -> None:
        """Say that a file was read to its end."""
        self.done += self.sizes.get(number, 0)

    def write(self) -> None:
        """Say that everything was read."""
        self.progress.report(self.done, self.total, WRITING)


def _seconds(begin: datetime | None, end: datetime) -> float:
    return (end - begin).total_seconds() if begin else 0.0


@contextmanager
def _as_cannot() -> Iterator[None]:
    try:
        yield
    except FileMissing as error:
        raise CannotDo(
            "file_gone", mark("The uploaded file is gone; start the sync again.")
        ) from error
    except StorageFailed as error:
        raise CannotDo("storage", str(error), may_pass=True) from error
