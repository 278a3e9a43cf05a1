"""Noting what has ended, for a few bytes each, and reading it back."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Final
from uuid import UUID

from sqlalchemy import (
    FromClause,
    Integer,
    String,
    Table,
    Text,
    Uuid,
    bindparam,
    cast,
    func,
    insert,
    select,
    type_coerce,
)
from sqlalchemy.orm import Session

from tasks.arrays import elements, values_of
from tasks.bulk import is_postgres
from tasks.models.base import new_id
from tasks.models.rollup import Ended, EndedKind

#: An attempt: the id of its row, and its number.  Jobs have the number 0.
Key = tuple[UUID, int]

_ID: Final = 16  # bytes
_KEY: Final = _ID + 4
_TABLE: Final[Table] = Ended.metadata.tables[Ended.__tablename__]
_NOTE: Final = insert(_TABLE)


def note_ended(session: Session, kind: EndedKind, keys: Iterable[Key]) -> None:
    """Note what this transaction ends; one row, however many there are.

    Caller commits.
    """
    packed = b"".join(
        [id_.int.to_bytes(_ID) + number.to_bytes(4) for id_, number in keys]
    )
    if packed:
        session.execute(_NOTE, {"id": new_id(), "kind": kind, "keys": packed})


def unpacked(packed: bytes) -> Iterator[Key]:
    """Yield the keys that one row notes."""
    for start in range(0, len(packed), _KEY):
        middle = start + _ID
        number = int.from_bytes(packed[middle : start + _KEY])
        yield UUID(bytes=packed[start:middle]), number


def given(session: Session, keys: Sequence[Key]) -> tuple[FromClause, dict[str, Any]]:
    """Return ``keys`` as rows with ``id`` and ``number``, and their parameters."""
    if is_postgres(session):
        ids, numbers = elements("ids", Uuid()), elements("numbers", Integer())
        rows = select(ids.label("id"), numbers.label("number")).subquery("given")
        return rows, {
            "ids": values_of(Uuid(), [id_ for id_, _ in keys]),
            "numbers": values_of(Integer(), [number for _, number in keys]),
        }
    each = func.json_each(bindparam("keys", type_=Text)).table_valued("value")
    part = each.c.value
    pairs = select(
        type_coerce(cast(func.json_extract(part, "$[0]"), String), Uuid).label("id"),
        cast(func.json_extract(part, "$[1]"), Integer).label("number"),
    ).subquery("given")
    return pairs, {"keys": json.dumps([(id_.hex, number) for id_, number in keys])}
