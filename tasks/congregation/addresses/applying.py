"""What was read becomes what is so: in one transaction, by a few statements."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import datetime
from typing import Any, Final
from uuid import UUID

from sqlalchemy import Connection, TextClause, Uuid, bindparam, text
from sqlalchemy.orm import Session
from sqlalchemy.types import TypeEngine

from tasks.bulk import is_postgres
from tasks.congregation.addresses.rows import Places, Wanted
from tasks.congregation.addresses.staging import (
    COLUMNS,
    NULL,
    QUOTE,
    SEPARATOR,
    Stage,
)
from tasks.crashpoints import reached
from tasks.models.base import UtcDateTime, new_id

#: What the files speak about and the congregation wants.
_COVERED: Final = """
    a.congregation_id = :of
    AND (a.postcode IN :postcodes OR a.insee IN :communes)
    AND (substr(a.insee, 1, 2) IN :departments OR substr(a.insee, 1, 3) IN :departments
         OR a.insee IN :file_communes)
"""
#: Known addresses that the files do not have any more.
_GONE: Final = f"""
    INSERT INTO gone SELECT a.id, a.key, a.source_id FROM addresses a
    WHERE a.in_open_data AND {_COVERED}
    AND NOT EXISTS (SELECT 1 FROM staged s WHERE s.key = a.key)
"""  # noqa: S608  # of constants only
#: The same door under another name: one that has gone, one that has come, one id.
_RENAMED: Final = """
    UPDATE addresses SET key = s.key
    FROM staged s, gone g
    WHERE addresses.id = g.id AND s.source_id = g.source_id
    AND NOT EXISTS (SELECT 1 FROM addresses b
                    WHERE b.congregation_id = :of AND b.key = s.key)
    AND 1 = (SELECT count(*) FROM gone h WHERE h.source_id = g.source_id)
    AND 1 = (SELECT count(*) FROM staged t WHERE t.source_id = g.source_id)
"""
_FOUND_AGAIN: Final = """
    SELECT count(*) FROM addresses a, staged s
    WHERE a.congregation_id = :of AND a.missing_since IS NOT NULL AND s.key = a.key
"""
_UPDATED: Final = """
    UPDATE addresses SET
        number = s.number, street = s.street, city = s.city,
        postcode = CASE s.postcode WHEN '' THEN addresses.postcode ELSE s.postcode END,
        lat = CASE WHEN is_hand_placed OR s.lat IS NULL
              THEN addresses.lat ELSE s.lat END,
        lon = CASE WHEN is_hand_placed OR s.lat IS NULL
              THEN addresses.lon ELSE s.lon END,
        in_territory = CASE WHEN is_hand_placed OR s.lat IS NULL
                       THEN addresses.in_territory ELSE s.in_territory END,
        in_open_data = TRUE, missing_since = NULL
    FROM staged s
    WHERE addresses.congregation_id = :of AND addresses.key = s.key
    AND (NOT in_open_data OR addresses.number <> s.number
         OR addresses.street <> s.street OR addresses.city <> s.city
         OR (s.postcode <> '' AND addresses.postcode <> s.postcode)
         OR (NOT is_hand_placed AND s.lat IS NOT NULL
             AND (addresses.lat IS NULL OR addresses.lat <> s.lat
                  OR addresses.lon <> s.lon
                  OR addresses.in_territory <> s.in_territory)))
"""
#: Another source has other ids; that alone is nothing that an operator calls changed.
_IDS: Final = """
    UPDATE addresses SET source_id = s.source_id FROM staged s
    WHERE addresses.congregation_id = :of AND addresses.key = s.key
    AND s.source_id IS NOT NULL
    AND (addresses.source_id IS NULL OR addresses.source_id <> s.source_id)
"""
_MISSING: Final = """
    UPDATE addresses SET in_open_data = FALSE, missing_since = :now
    WHERE in_open_data AND id IN (SELECT id FROM gone)
    AND NOT EXISTS (SELECT 1 FROM staged s WHERE s.key = addresses.key)
"""
_CREATED: Final = """
    INSERT INTO addresses (
        congregation_id, id, key, number, street, postcode, city, insee, lat, lon,
        is_hand_placed, is_active, in_territory, in_open_data, missing_since, notes,
        created_at, source_id)
    SELECT :of, {id}, key, number, street, postcode, city, insee, lat, lon,
        FALSE, TRUE, in_territory, TRUE, NULL, '', :now, source_id
    FROM (SELECT s.*, row_number() OVER (ORDER BY s.key) AS n FROM staged s
          WHERE s.lat IS NOT NULL
          AND NOT EXISTS (SELECT 1 FROM addresses a
                          WHERE a.congregation_id = :of AND a.key = s.key)) AS fresh
    ORDER BY key
"""
#: Ids that rise with the key: one birth for all, then a number.
_ID: Final = {
    True: "CAST(:birth || lpad(to_hex(n), 8, '0') AS uuid)",
    False: ":birth || printf('%08x', n)",
}


@dataclass(frozen=True, slots=True)
class Applied:
    """How many addresses a sync changed."""

    created: int
    updated: int
    renamed: int
    found_again: int
    missing: int

    def report(self) -> dict[str, Any]:
        """Return it as a part of a sync's report."""
        return asdict(self)


@dataclass(frozen=True, slots=True)
class Change:
    """What is to be applied, and to whose addresses."""

    congregation_id: UUID
    stage: Stage
    wanted: Wanted
    places: Places
    now: datetime

    def parameters(self) -> dict[str, Any]:
        """Return the values of all statements."""
        return {
            "of": self.congregation_id,
            "now": self.now,
            "postcodes": sorted(self.wanted.postcodes) or [""],
            "communes": sorted(self.wanted.communes) or [""],
            "departments": sorted(self.places.departments) or [""],
            "file_communes": sorted(self.places.communes) or [""],
            "birth": new_id(self.now).hex[:24],
        }


def n_known(session: Session, change: Change) -> int:
    """Return how many addresses open data had before, where the files speak about."""
    statement = f"SELECT count(*) FROM addresses a WHERE a.in_open_data AND {_COVERED}"  # noqa: S608  # of constants only
    return int(session.scalar(_bound(statement), change.parameters()) or 0)


def apply(session: Session, change: Change) -> Applied:
    """Let the addresses be as the stage says; the caller commits.

    On SQLite the session's connection is closed for good after the transaction.
    """
    connection = session.connection()
    _bring(connection, change.stage)
    parameters = change.parameters()

    def run(statement: str) -> int:
        return session.execute(_bound(statement), parameters).rowcount  # type: ignore[attr-defined, no-any-return]  # a cursor result

    n_gone = run(_GONE)
    renamed = _rename(connection, run) if n_gone else 0
    found_again = session.scalar(_bound(_FOUND_AGAIN), parameters) or 0
    updated = run(_UPDATED)
    run(_IDS)
    missing = run(_MISSING) if n_gone else 0
    created = run(_CREATED.format(id=_ID[is_postgres(session)]))
    reached("in_sync")
    return Applied(created, updated, renamed, found_again, missing)


def _rename(connection: Connection, run: Callable[[str], int]) -> int:
    is_sqlite = connection.dialect.name == "sqlite"
    schema, temporary = ("stage.", "temp.") if is_sqlite else ("", "")
    for index in (
        f"{schema}staged_by_source ON staged (source_id)",
        f"{temporary}gone_by_source ON gone (source_id)",
    ):
        connection.exec_driver_sql(f"CREATE INDEX {index}")
    return run(_RENAMED)


def _bound(statement: str) -> TextClause:
    made = text(statement)
    types: dict[str, TypeEngine[Any]] = {"of": Uuid(), "now": UtcDateTime()}
    lists = ("postcodes", "communes", "departments", "file_communes")
    return made.bindparams(
        *(bindparam(n, type_=kind) for n, kind in types.items() if _has(statement, n)),
        *(bindparam(n, expanding=True) for n in lists if _has(statement, n)),
    )


def _has(statement: str, name: str) -> bool:
    return f":{name}" in statement


def _bring(connection: Connection, stage: Stage) -> None:
    """Let the database see what was staged, as a table ``staged``."""
    if connection.dialect.name == "sqlite":
        # What is attached could only be let go after the commit, by whoever has the
        # connection then; so nobody gets it.
        connection.detach()
        connection.exec_driver_sql("ATTACH ? AS stage", (str(stage.path),))
        connection.exec_driver_sql("CREATE TEMPORARY TABLE gone (id, key, source_id)")
        return
    columns = ", ".join(f"{name} {_kind(kind)}" for name, kind in COLUMNS.items())
    for table in (f"staged ({columns})", "gone (id uuid, key text, source_id text)"):
        connection.exec_driver_sql(f"CREATE TEMPORARY TABLE {table} ON COMMIT DROP")
    copy_in(connection, "staged", tuple(COLUMNS), stage.blocks())
    for statement in (
        "ANALYZE staged",
        "SET LOCAL work_mem = '64MB'",
    ):
        connection.exec_driver_sql(statement)


def _kind(kind: str) -> str:
    """Return the type: texts are compared by their bytes, as keys are."""
    return f'{kind} COLLATE "C"' if kind == "TEXT" else kind


def copy_in(
    connection: Connection, table: str, columns: Sequence[str], blocks: Iterable[str]
) -> None:
    """Copy lines of text into a table of PostgreSQL."""
    names = ", ".join(columns)
    options: Mapping[str, str] = {
        "FORMAT": "csv",
        "DELIMITER": f"'{SEPARATOR}'",
        "QUOTE": f"'{QUOTE}'",
        "NULL": f"'{NULL}'",
    }
    told = ", ".join(f"{name} {value}" for name, value in options.items())
    driver: Any = connection.connection.dbapi_connection
    with (
        driver.cursor() as cursor,
        cursor.copy(f"COPY {table} ({names}) FROM STDIN (" + told + ")") as copy,
    ):
        for block in blocks:
            copy.write(block)
