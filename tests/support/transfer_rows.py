"""Archives of a congregation: exported, checked and taken in by the lane."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager
from datetime import datetime, timedelta
from io import BytesIO
from pathlib import Path
from typing import Any
from uuid import UUID

from sqlalchemy import select
from sqlalchemy.orm import Session

from tasks.automation.actions.base import Effects
from tasks.congregation.transfer import starting
from tasks.congregation.transfer.entities import ENTITIES
from tasks.lane import Bench
from tasks.lanes import data_transfer
from tasks.models import Transfer, TransferKind, new_id
from tasks.models.long_job import LongJobState
from tasks.operations.audit import Actor
from tasks.storage.local import LocalStorage
from tests.support.factories import NOW
from tests.support.fakes import FakePost

ANNA = Actor("anna@example.org")
Begin = Callable[[], AbstractContextManager[Session]]


def bench(
    begin: Begin, folder: Path, clock: Callable[[], datetime] = lambda: NOW
) -> Bench:
    post = FakePost()
    return Bench(begin, clock, Effects(post, post), storage=LocalStorage(folder))


def on_its_way(session: Session, of: UUID, mark: str) -> dict[str, str]:
    """Add an archive that was looked at; returns the id that its pages ask for."""
    problem = {"file": mark, "line": 1, "field": mark, "sentence": mark}
    row = Transfer(
        congregation_id=of,
        kind=TransferKind.CHECK,
        state=LongJobState.DONE,
        requested_by=f"{mark}@example.org",
        file_name=f"{mark}.carillon",
        file_key=f"{of}/transfers/{new_id()}.carillon",
        file_size=10,
        expires_at=NOW + timedelta(days=9_000),
        report={
            "about": {"title": mark, "name": mark, "exported_at": mark},
            "counts": {mark: {"new": 1, "updated": 0, "same": 0, "left": 0}},
            "conflicts": {mark: {"n": 1, "lines": [1]}},
            "warnings": [mark],
            "problems": [problem],
            "n_problems": 1,
            "n_rows": 1,
        },
    )
    session.add(row)
    session.flush()
    return {"transfer_id": str(row.id)}


def export(
    at: Bench, of: UUID, *, files: bool = True, audit: bool = False
) -> tuple[Transfer, bytes]:
    """Export a congregation with the lane, and return the archive."""
    with at.begin() as session:
        id_ = starting.start_export(
            session, of, ANNA, files=files, audit=audit, now=at.clock()
        ).id
    row = run(at, id_)
    assert row.file_key is not None, row.error
    with at.storage.open(row.file_key) as stream:
        return row, stream.read()


def check(at: Bench, of: UUID, archive: bytes) -> Transfer:
    """Upload an archive and let the lane look at it."""
    now = at.clock()
    upload = starting.keep_upload(
        at.begin, at.storage, of, BytesIO(archive), "a.carillon", now, limit=1 << 20
    )
    with at.begin() as session:
        id_ = starting.start_check(session, of, upload, ANNA, now).id
    return run(at, id_)


def confirm(at: Bench, checked: Transfer) -> UUID:
    with at.begin() as session:
        n_rows = checked.report["n_rows"]
        return starting.confirm(session, checked.id, ANNA, n_rows, at.clock()).id


def take_over(at: Bench, of: UUID, archive: bytes) -> Transfer:
    """Check an archive and import it, all with the lane."""
    checked = check(at, of, archive)
    assert checked.report.get("problems") == [], (checked.error, checked.report)
    return run(at, confirm(at, checked))


def run(at: Bench, id_: UUID) -> Transfer:
    """Let the lane do the one transfer that waits, and return it."""
    data_transfer.sweep(at, 1)
    with at.begin() as session:
        return session.get_one(Transfer, id_)


def snapshot(session: Session, of: UUID) -> dict[str, list[dict[str, Any]]]:
    """Return every row that travels, with names in the place of ids.

    A row's name is what it says besides ids; those of each table are in an order that
    does not depend on ids either.
    """
    found: dict[str, list[dict[str, Any]]] = {}
    names: dict[str, dict[UUID, str]] = {}
    for entity in ENTITIES:
        table = entity.table
        columns = [column.name for column in entity.columns]
        rows = session.execute(
            select(table).where(table.c.congregation_id == of)
        ).mappings()
        told = []
        for row in rows:
            values = {n: row[n] for n in columns if n not in ("id", "external_ref")}
            values |= dict(_named(values, entity.references, names))
            if entity.means:
                values["entity_id"] = names["members"].get(row["entity_id"])
            if "id" in row:
                text = repr(sorted(values.items()))
                digest = hashlib.sha256(text.encode()).hexdigest()
                names.setdefault(entity.name, {})[row["id"]] = digest
            told.append(values)
        found[entity.name] = sorted(told, key=repr)
    return found


def _named(
    values: Mapping[str, Any],
    references: Mapping[str, str],
    names: Mapping[str, Mapping[UUID, str]],
) -> Iterator[tuple[str, Any]]:
    for column, other in references.items():
        id_ = values[column]
        yield column, None if id_ is None else names[other][id_]
