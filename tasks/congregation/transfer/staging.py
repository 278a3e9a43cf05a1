"""Where rows wait between being read and being written, outside of memory.

A private SQLite database in a temporary file that has no name: it is gone when the
process is, however that ends.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from types import TracebackType
from typing import Any, Final, NamedTuple, Self
from uuid import UUID

#: Rows that are handed out at once.
BATCH: Final = 1_000
#: Bytes of rows that are handed out at once; one more row may go beyond it.
BYTES: Final = 4_000_000
_TABLES: Final = """
CREATE TABLE ids (
    entity INTEGER, old TEXT, row_id TEXT, needs_ref INTEGER, is_frozen INTEGER,
    PRIMARY KEY (entity, old)
) WITHOUT ROWID;
CREATE TABLE waiting (
    entity INTEGER, is_new INTEGER, n INTEGER, row TEXT,
    PRIMARY KEY (entity, is_new, n)
) WITHOUT ROWID;
CREATE TABLE taken (what TEXT, key TEXT, line INTEGER, PRIMARY KEY (what, key))
    WITHOUT ROWID;
"""


class Known(NamedTuple):
    """What a row of an archive became, or is going to be."""

    row_id: UUID
    needs_ref: bool  # its old id has to be kept, for the next import
    is_frozen: bool = False  # anonymised here, or left out: nothing is added to it


class Staging:
    """Rows of one archive that wait to be written, and what their ids become."""

    def __init__(self) -> None:
        self._db = sqlite3.connect("", isolation_level=None)
        for pragma in ("journal_mode=OFF", "synchronous=OFF", "cache_size=-32000"):
            with closing(self._db.execute(f"PRAGMA {pragma}")):
                pass
        self._db.executescript(_TABLES)
        self._db.execute("BEGIN")
        self._n = 0

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._db.close()

    def known(self, entity: int, olds: Sequence[str]) -> Mapping[str, Known]:
        """Return what rows of an entity have become, by their old ids."""
        marks = ",".join("?" * len(olds))
        found = self._db.execute(
            "SELECT old, row_id, needs_ref, is_frozen FROM ids "  # noqa: S608  # only marks
            f"WHERE entity = ? AND old IN ({marks})",
            (entity, *olds),
        )
        return {
            old: Known(UUID(row_id), bool(needs_ref), bool(is_frozen))
            for old, row_id, needs_ref, is_frozen in found
        }

    def remember(self, entity: int, rows: Sequence[tuple[str, Known]]) -> None:
        """Keep what rows have become; none of them is known yet."""
        self._db.executemany(
            "INSERT INTO ids VALUES (?, ?, ?, ?, ?)",
            [(entity, old, row.row_id.hex, row[1], row[2]) for old, row in rows],
        )

    def refs(self, entity: int) -> Iterator[Sequence[tuple[str, UUID]]]:
        """Yield old and new ids that have to be kept."""
        found = self._db.execute(
            "SELECT old, row_id FROM ids WHERE entity = ? AND needs_ref = 1", (entity,)
        )
        while some := found.fetchmany(BATCH):
            yield [(old, UUID(row_id)) for old, row_id in some]

    def take(self, what: str, keys: Sequence[tuple[str, int]]) -> dict[str, int]:
        """Take keys, with the lines that want them; returns who had one before."""
        before: dict[str, int] = {}
        for key, line in keys:
            try:
                self._db.execute(
                    "INSERT INTO taken VALUES (?, ?, ?)", (what, key, line)
                )
            except sqlite3.IntegrityError:
                found = self._db.execute(
                    "SELECT line FROM taken WHERE what = ? AND key = ?", (what, key)
                )
                before[key] = found.fetchone()[0]
        return before

    def put(self, entity: int, rows: Sequence[tuple[bool, Any]]) -> None:
        """Let rows wait, each with whether it is new; a row is a JSON value."""
        self._db.executemany(
            "INSERT INTO waiting VALUES (?, ?, ?, ?)",
            [
                (entity, is_new, self._n + n, json.dumps(row, separators=(",", ":")))
                for n, (is_new, row) in enumerate(rows)
            ],
        )
        self._n += len(rows)

    def waiting(self, entity: int, *, is_new: bool) -> Iterator[list[Any]]:
        """Yield what waits, in the order in which it came."""
        found = self._db.execute(
            "SELECT row FROM waiting WHERE entity = ? AND is_new = ? ORDER BY n",
            (entity, is_new),
        )
        rows: list[Any] = []
        size = 0
        for (row,) in found:
            rows.append(json.loads(row))
            size += len(row)
            if len(rows) == BATCH or size >= BYTES:
                yield rows
                rows, size = [], 0
        if rows:
            yield rows
