"""One row of an archive: its fields read, filled and looked at."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import Any, Final

from sqlalchemy import Column

from tasks.congregation.transfer.entity import Entity, Row
from tasks.congregation.transfer.layouts import Raw
from tasks.congregation.transfer.values import Read, reader
from tasks.errors import InvalidInput
from tasks.saying import mark

#: Columns that tell of the row itself, and stay as they are here.
OURS: Final = frozenset({"version", "created_at", "updated_at"})
#: Characters of an id in an archive.
OLD_MAX: Final = 64
_MISSING: Final = mark("is missing")
#: A field and what is wrong with it.
Fault = tuple[str, str]


@dataclass(slots=True)
class Incoming:
    """A row on its way in."""

    file: str
    line: int
    old: str  # its id in the archive; empty: it has none of its own
    values: Row = field(default_factory=dict)  # what the archive says of it
    olds: dict[str, str] = field(default_factory=dict)  # references, as old ids
    faults: list[Fault] = field(default_factory=list)
    #: References to somebody who is anonymised here.
    frozen: set[str] = field(default_factory=set)


@cache
def _readers(entity: Entity) -> Mapping[str, Read]:
    skipped = {*entity.references, *(("id",) if entity.has_id else ())}
    if entity.means:
        skipped.add(entity.means[0])
    return {
        column.name: reader(column)
        for column in entity.columns
        if column.name not in skipped
    }


def read(entity: Entity, raw: Raw) -> Incoming:
    """Read the fields of a line; what is wrong with them is in ``faults``."""
    incoming = Incoming(raw.file, raw.line, "")
    said = raw.values
    if said is None:
        incoming.faults.append(("", raw.problem))
        return incoming
    if entity.has_id:
        incoming.old = _old(said.get("id")) or ""
        if not incoming.old:
            incoming.faults.append(("id", _MISSING))
    for name, reads in _readers(entity).items():
        if name in said:
            _read_field(entity, incoming, name, said[name], reads)
    for name in _pointers(entity):
        if name in said:
            _read_pointer(incoming, name, said[name])
    return incoming


@cache
def _pointers(entity: Entity) -> tuple[str, ...]:
    """Return the columns that hold ids of other rows."""
    return (*entity.references, *((entity.means[0],) if entity.means else ()))


def _read_pointer(incoming: Incoming, name: str, value: object) -> None:
    if value is None:
        incoming.values[name] = None
    elif old := _old(value):
        incoming.olds[name] = old
    else:
        incoming.faults.append((name, mark("is not an id")))


def _read_field(
    entity: Entity,
    incoming: Incoming,
    name: str,
    value: Any,  # noqa: ANN401  # from JSON
    reads: Read,
) -> None:
    try:
        found = None if value is None else reads(value)
        if found is not None and name in entity.cleans:
            found = entity.cleans[name](found)
        incoming.values[name] = found
    except InvalidInput as error:
        incoming.faults.append((name, error.message))
    except ValueError as error:
        incoming.faults.append((name, _sentence_of(error)))
    except RecursionError:
        incoming.faults.append((name, mark("is nested too deep")))


def _sentence_of(error: ValueError) -> str:
    """Return what a reader says, as it said it."""
    said = error.args[0] if error.args else ""
    return said if isinstance(said, str) else str(error)


def _old(value: object) -> str | None:
    """Return an id of an archive as text; None: it is none."""
    if isinstance(value, bool) or not isinstance(value, int | str):
        return None
    text = str(value)
    return text if 0 < len(text) <= OLD_MAX and text.isprintable() else None


def fill(entity: Entity, incoming: Incoming, here: Mapping[str, Any] | None) -> None:
    """Complete a row: what it does not say is as it is here, or by default."""
    values = incoming.values
    for column in entity.columns:
        name = column.name
        if name in entity.derives or name in incoming.olds:
            continue
        if name not in values:
            values[name] = here[name] if here is not None else _default(column)
        if values[name] is None and not column.nullable:
            incoming.faults.append((name, _MISSING))
    if not incoming.faults:
        for name, derive in entity.derives.items():
            values[name] = derive(values)
        incoming.faults.extend(_faults(entity, values))


def _faults(entity: Entity, values: Row) -> Iterator[Fault]:
    fault = entity.checks(values) if entity.checks else None
    if fault:
        yield fault


def _default(column: Column[Any]) -> Any:  # noqa: ANN401  # any column's value
    default = column.default
    if default is None:
        return None
    if default.is_callable:
        return default.arg(None)  # type: ignore[attr-defined]  # SQLAlchemy wraps it so
    return default.arg if default.is_scalar else None  # type: ignore[attr-defined]  # a scalar's


def is_same(entity: Entity, values: Row, here: Mapping[str, Any]) -> bool:
    """Whether the row is here already, just so."""
    return all(
        values[column.name] == here[column.name]
        for column in entity.columns
        if column.name not in OURS
    )
