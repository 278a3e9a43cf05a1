"""One file of addresses, read to its end and put on the stage."""

from __future__ import annotations

import csv
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import BinaryIO, Final

from tasks.congregation.addresses.layouts import Layout, layout_of
from tasks.congregation.addresses.perimeters import Perimeter
from tasks.congregation.addresses.reading import Lines
from tasks.congregation.addresses.rows import Refusal, Row, RowReader, Wanted
from tasks.congregation.addresses.staging import Stage
from tasks.congregation.addresses.tally import FileTally, Tally
from tasks.long_jobs import CannotDo
from tasks.saying import mark
from tasks.saying.kept import kept

#: Rows that go on the stage at once.
BATCH: Final = 4_000
_LAT: Final = 6
_LON: Final = 7


@dataclass(frozen=True, slots=True)
class Scan:
    """Where what is read goes."""

    wanted: Wanted
    perimeter: Perimeter
    stage: Stage
    tally: Tally
    #: Whether a last line that nobody ended is taken as whole.
    accepts: bool = False

    def file(
        self, name: str, raw: BinaryIO, on_bytes: Callable[[int], None]
    ) -> FileTally:
        """Read a file to its end.

        Raises:
            CannotDo: it is none of addresses, damaged or cut.
        """
        file = FileTally(name)
        self.tally.files.append(file)
        lines = Lines(raw, on_bytes)
        given = iter(lines)
        first = next(given, "")
        layout = layout_of(first)
        file.layout = layout.name
        rows = csv.reader(
            given if layout.has_header else chain([first], given),
            delimiter=layout.delimiter,
        )
        try:
            last = self._take(rows, layout, file)
        except csv.Error as error:
            line = rows.line_num + layout.has_header
            raise CannotDo(
                "bad_csv",
                kept(
                    "Line %(line)s of %(name)s cannot be read (%(why)s).",
                    line=str(line),
                    name=name,
                    why=str(error),
                ),
            ) from error
        file.bytes = raw.tell()
        self._refuse_cut(lines, layout, last)
        return file

    def _take(
        self, rows: Iterator[list[str]], layout: Layout, file: FileTally
    ) -> Sequence[str]:
        """Stage the rows; returns the last one."""
        read = RowReader(layout, self.wanted, self.tally.places).read
        batch: list[Row] = []
        cells: list[str] = []
        line = 1 if layout.has_header else 0
        for cells in rows:
            line += 1
            if not cells:
                continue
            file.rows += 1
            row = read(cells)
            if row is None:
                self.tally.outside += 1
                continue
            if isinstance(row, Refusal):
                self.tally.refuse(row, file, line)
                continue
            if row[_LAT] is None:
                self.tally.refuse(Refusal.NO_POSITION, file, line)
            batch.append(row)
            if len(batch) >= BATCH:
                self._stage(batch)
        self._stage(batch)
        return cells

    def _stage(self, batch: list[Row]) -> None:
        if batch:
            inside = self.perimeter.inside(
                [row[_LAT] for row in batch], [row[_LON] for row in batch]
            )
            self.stage.add(batch, inside)
            self.tally.wanted += len(batch)
            batch.clear()

    def _refuse_cut(self, lines: Lines, layout: Layout, last: Sequence[str]) -> None:
        """Refuse a file whose last line has not arrived whole.

        Communes' own files end without a line end now and then, the others never.
        """
        is_short = len(last) != layout.width
        if lines.ends_well or not (is_short or layout.is_of_department):
            return
        if self.accepts and not is_short:
            return
        raise CannotDo(
            "cut_file",
            mark(
                "The file ends in the middle of a line, so it was cut off; fetch it "
                "again. Nothing was changed."
            ),
        )
