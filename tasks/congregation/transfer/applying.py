"""Writing what waits in staging, in the one transaction of the import."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, Final
from uuid import UUID

from sqlalchemy import bindparam, delete, insert, select, update
from sqlalchemy.orm import Session

from tasks import doorbell
from tasks.bulk import among
from tasks.congregation import loose_files
from tasks.congregation.documents.files import LANE as THUMBNAILS
from tasks.congregation.transfer.entities import BY_NAME, ENTITIES, PLACE
from tasks.congregation.transfer.entity import Entity
from tasks.congregation.transfer.layouts import FILES
from tasks.congregation.transfer.pointing import Intake
from tasks.congregation.transfer.rows import OURS
from tasks.congregation.transfer.values import reader
from tasks.congregation.transfer.wire import Wire
from tasks.models import ExternalRef

_REFS: Final = ExternalRef.metadata.tables[ExternalRef.__tablename__]
_REF: Final = ("source", "entity", "external_id", "row_id")
_PREFIX: Final = "is_"


def apply(
    session: Session, intake: Intake, files: Mapping[bytes, str], now: datetime
) -> None:
    """Write every row that waits; the caller commits.

    Args:
        files: where the storage has the contents that are new, by SHA-256.

    Raises:
        IntegrityError: the congregation was changed since the archive was read.
    """
    for entity in ENTITIES:
        place, of = PLACE[entity.name], intake.target.congregation_id
        for rows in intake.staging.waiting(place, is_new=True):
            if entity.name == FILES:
                _add_files(session, _typed(entity, rows, of), files, now)
            elif entity.omits:  # those columns have defaults
                session.execute(insert(entity.table), _typed(entity, rows, of))
            else:
                intake.wire(entity).write(session, rows)
        for rows in intake.staging.waiting(place, is_new=False):
            _update(session, entity, _typed(entity, rows, of))
        _keep_refs(session, intake, entity)


def _typed(
    entity: Entity, rows: Sequence[Mapping[str, Any]], of: UUID
) -> list[dict[str, Any]]:
    """Return rows with the values that their columns take."""
    reads = {column.name: reader(column) for column in entity.columns}
    return [
        {"congregation_id": of}
        | {n: None if row[n] is None else read(row[n]) for n, read in reads.items()}
        for row in rows
    ]


def _add_files(
    session: Session,
    rows: Sequence[dict[str, Any]],
    files: Mapping[bytes, str],
    now: datetime,
) -> None:
    """Add new contents; the lane makes their thumbnails."""
    for row in rows:
        row["key"] = files[row["sha256"]]
        loose_files.keep(session, row["key"], now)
    session.execute(insert(BY_NAME[FILES].table), rows)
    doorbell.ask(session, THUMBNAILS)


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


def _keep_refs(session: Session, intake: Intake, entity: Entity) -> None:
    """Write down what became of the archive's ids, for the next import."""
    ref, source = ExternalRef, intake.layout.source
    of = intake.target.congregation_id
    ours = (
        ref.congregation_id == of,
        ref.source == source,
        ref.entity == entity.name,
    )
    has_some = session.scalar(select(ref.row_id).where(*ours).limit(1)) is not None
    wire = Wire(_REFS, [_REFS.c[name] for name in _REF], of, intake.target.dialect)
    for refs in intake.staging.refs(PLACE[entity.name]):
        if has_some:  # of rows that are gone by now, perhaps
            olds = [old for old, _ in refs]
            session.execute(
                delete(ref)
                .where(*ours, among(session, ref.external_id, olds))
                .execution_options(synchronize_session=False)
            )
        rows = [
            wire.pack(dict(zip(_REF, (source, entity.name, old, row_id), strict=True)))
            for old, row_id in refs
        ]
        wire.write(session, rows)
