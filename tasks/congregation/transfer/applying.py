"""Writing what waits in staging, in the one transaction of the import."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final
from uuid import UUID

from sqlalchemy import bindparam, delete, insert, update
from sqlalchemy.orm import Session

from tasks.bulk import among, insert_many
from tasks.congregation.transfer.entities import ENTITIES, PLACE
from tasks.congregation.transfer.entity import Entity
from tasks.congregation.transfer.rows import OURS
from tasks.congregation.transfer.staging import Staging
from tasks.congregation.transfer.values import reader
from tasks.models import ExternalRef

_REFS: Final = ExternalRef.metadata.tables[ExternalRef.__tablename__]
_PREFIX: Final = "is_"


def apply(
    session: Session,
    staging: Staging,
    congregation_id: UUID,
    source: str,
    files: Mapping[bytes, str],
) -> None:
    """Write every row that waits; the caller commits.

    Args:
        files: where the storage has the contents that are new, by SHA-256.

    Raises:
        IntegrityError: the congregation was changed since the archive was read.
    """
    for entity in ENTITIES:
        place = PLACE[entity.name]
        for rows in _typed(entity, staging, congregation_id, is_new=True):
            _insert(session, entity, rows, files)
        for rows in _typed(entity, staging, congregation_id, is_new=False):
            _update(session, entity, rows)
        for refs in staging.refs(place):
            _keep_refs(session, congregation_id, source, entity, refs)


def _typed(
    entity: Entity, staging: Staging, congregation_id: UUID, *, is_new: bool
) -> Iterator[list[dict[str, Any]]]:
    """Yield batches of rows with the values that their columns take."""
    reads = {column.name: reader(column) for column in entity.columns}
    for batch in staging.waiting(PLACE[entity.name], is_new=is_new):
        rows = []
        for row in batch:
            typed: dict[str, Any] = {
                name: None if row[name] is None else read(row[name])
                for name, read in reads.items()
            }
            typed["congregation_id"] = congregation_id
            rows.append(typed)
        yield rows


def _insert(
    session: Session,
    entity: Entity,
    rows: list[dict[str, Any]],
    files: Mapping[bytes, str],
) -> None:
    if entity.name == "stored-files":
        for row in rows:
            row["key"] = files[row["sha256"]]
    if entity.omits:  # those have defaults, and each row its own
        session.execute(insert(entity.table), rows)
    else:
        insert_many(session, entity.table, rows)


def _update(session: Session, entity: Entity, rows: Sequence[dict[str, Any]]) -> None:
    table = entity.table
    keys = ("congregation_id", *entity.identity)
    columns = [c.name for c in entity.columns if c.name not in keys]
    values: dict[str, Any] = {
        name: bindparam(name, type_=table.c[name].type)
        for name in columns
        if name not in OURS
    }
    if "version" in columns:  # a form that was open meanwhile must not be saved
        values["version"] = table.c.version + 1
    statement = update(table).values(values)
    for name in keys:
        statement = statement.where(
            table.c[name] == bindparam(_PREFIX + name, type_=table.c[name].type)
        )
    if "anonymised_at" in table.c:  # by now, perhaps; nobody is brought back
        statement = statement.where(table.c.anonymised_at.is_(None))
    parameters = [
        {name: row[name] for name in values if name not in OURS}
        | {_PREFIX + name: row[name] for name in keys}
        for row in rows
    ]
    session.execute(statement, parameters)


def _keep_refs(
    session: Session,
    congregation_id: UUID,
    source: str,
    entity: Entity,
    refs: Sequence[tuple[str, UUID]],
) -> None:
    common = {
        "congregation_id": congregation_id,
        "source": source,
        "entity": entity.name,
    }
    rows = [common | {"external_id": old, "row_id": row_id} for old, row_id in refs]
    _forget(session, rows)
    insert_many(session, _REFS, rows)


def _forget(session: Session, rows: Sequence[Mapping[str, Any]]) -> None:
    """Remove what earlier imports said of rows that are gone by now."""
    first, ref = rows[0], ExternalRef
    session.execute(
        delete(ref)
        .where(
            ref.congregation_id == first["congregation_id"],
            ref.source == first["source"],
            ref.entity == first["entity"],
            among(session, ref.external_id, [row["external_id"] for row in rows]),
        )
        .execution_options(synchronize_session=False)
    )
