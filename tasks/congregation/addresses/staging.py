"""What was read, kept in a file of this machine until all of it has been read.

A database file of its own: nobody waits for it, it needs no memory, and it finds what
is there twice.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from tasks.congregation.addresses.rows import Row

#: The columns of what is staged, and the types that SQLite and PostgreSQL share.
COLUMNS: Final = {
    "key": "TEXT",
    "number": "TEXT",
    "street": "TEXT",
    "postcode": "TEXT",
    "city": "TEXT",
    "insee": "TEXT",
    "lat": "DOUBLE PRECISION",
    "lon": "DOUBLE PRECISION",
    "source_id": "TEXT",
    "in_territory": "BOOLEAN",
}
_DEFINED: Final = ", ".join(
    f"{name} {kind}{' PRIMARY KEY' if name == 'key' else ''}"
    for name, kind in COLUMNS.items()
)
#: The first row of a key counts, but for a position that it lacks.
_INSERT: Final = f"""
    INSERT INTO staged VALUES ({", ".join("?" * len(COLUMNS))})
    ON CONFLICT (key) DO UPDATE
    SET lat = excluded.lat, lon = excluded.lon, in_territory = excluded.in_territory
    WHERE lat IS NULL AND excluded.lat IS NOT NULL
"""  # noqa: S608  # of constants only
#: One line for COPY: no text holds signs that are not printable.
SEPARATOR: Final = "\x1f"
QUOTE: Final = "\x01"
NULL: Final = "\\N"
_LINE: Final = " || char(31) || ".join(
    f"coalesce({name}, '{NULL}')" for name in COLUMNS
)
_BLOCK: Final = 5_000  # lines


class Stage:
    """Addresses by key, in a file."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._connection = sqlite3.connect(path, isolation_level=None)
        for statement in (
            "PRAGMA journal_mode=OFF",  # after a death the file is thrown away
            "PRAGMA synchronous=OFF",
            "PRAGMA cache_size=-32000",
            f"CREATE TABLE staged ({_DEFINED}) WITHOUT ROWID",
            "BEGIN",
        ):
            self._connection.execute(statement)

    def add(self, rows: Sequence[Row], inside: Sequence[bool]) -> None:
        """Add rows, each with whether it is within the perimeter."""
        self._connection.executemany(
            _INSERT, ((*row, is_in) for row, is_in in zip(rows, inside, strict=True))
        )

    def seal(self) -> int:
        """End the writing; returns how many addresses there are."""
        self._connection.execute("COMMIT")
        (n,) = self._connection.execute("SELECT count(*) FROM staged").fetchone()
        return int(n)

    def blocks(self) -> Iterator[str]:
        """Yield all rows in the order of their keys, as text for COPY."""
        found = self._connection.execute(f"SELECT {_LINE} FROM staged ORDER BY key")  # noqa: S608  # of constants only
        while lines := found.fetchmany(_BLOCK):
            yield "\n".join(line for (line,) in lines) + "\n"

    def close(self) -> None:
        """Let go of the file."""
        self._connection.close()


@contextmanager
def staging(folder: Path) -> Iterator[Stage]:
    """Make an empty stage in ``folder``."""
    stage = Stage(folder / "stage.db")
    try:
        yield stage
    finally:
        stage.close()
