"""What must be unique is: in the archive, and together with what is here."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy.orm import Session

from tasks.congregation.transfer.entity import Entity, Unique
from tasks.congregation.transfer.finding import Found, Here
from tasks.congregation.transfer.pointing import Intake
from tasks.congregation.transfer.rows import Incoming
from tasks.congregation.transfer.values import to_json
from tasks.saying import mark
from tasks.saying.kept import kept

_Key = tuple[Any, ...]


@dataclass(frozen=True, slots=True)
class Ready:
    """A row that is whole, and what it is here already."""

    row: Incoming
    here: Found | None


def refuse_equal(
    intake: Intake, session: Session, entity: Entity, ready: Sequence[Ready]
) -> None:
    """Find rows that have what must be unique of another one, here or there."""
    if entity.is_single:
        _refuse_second(intake, entity, ready)
    for unique in entity.uniques:
        rows = [(each.row, _key_of(each, unique)) for each in ready]
        keyed = [(row, key) for row, key in rows if key is not None]
        what = f"{entity.name}:{','.join(unique.columns)}"
        lines = intake.staging.take(what, [(_text(k), row.line) for row, k in keyed])
        here = _here(intake, session, entity, unique, keyed)
        name = next(iter(unique.columns), "")
        for row, key in keyed:
            line, other = lines.get(_text(key), row.line), here(key)
            if line != row.line:
                row.faults.append((name, that_of(line)))
            elif other and any(other[n] != row.values[n] for n in entity.identity):
                row.faults.append((name, mark("is that of another row here")))


def that_of(line: int) -> str:
    """Return the end of a sentence: an earlier line has what must be unique."""
    return kept("is that of line %(line)s already", line=str(line))


def _refuse_second(intake: Intake, entity: Entity, ready: Sequence[Ready]) -> None:
    lines = intake.staging.take(entity.name, [("", each.row.line) for each in ready])
    for each in ready:
        if lines.get("", each.row.line) != each.row.line:
            each.row.faults.append(
                ("", mark("is a second row where there can be one only"))
            )


def _here(
    intake: Intake,
    session: Session,
    entity: Entity,
    unique: Unique,
    keyed: Sequence[tuple[Incoming, _Key]],
) -> Callable[[_Key], Here | None]:
    """Return what finds the row of ours that has a key."""
    if unique.columns:
        keys = {key for _, key in keyed}
        return intake.target.by(session, entity.table, unique.columns, keys).get
    some: Sequence[Mapping[str, Any]] = (
        intake.target.all_of(session, entity.table, unique.where) if keyed else ()
    )
    return lambda _: some[0] if some else None


def warn_alike(
    intake: Intake, session: Session, entity: Entity, ready: Sequence[Ready]
) -> None:
    """Warn of new rows that look like people who are here."""
    if not entity.alike:
        return
    first = entity.alike[0]
    new = [each.row for each in ready if each.here is None]
    names = {(row.values[first],) for row in new}
    here = intake.target.by(session, entity.table, (first,), names)
    for row in new:
        other = here.get((row.values[first],))
        if other and all(other[name] == row.values[name] for name in entity.alike):
            intake.report.alike(entity.name, row.line)


def _key_of(each: Ready, unique: Unique) -> _Key | None:
    """Return what must be unique of a row; None: nothing of it must."""
    values = each.row.values
    if unique.counts is not None and not unique.counts(values):
        return None
    key = tuple(values[name] for name in unique.columns)
    return None if any(part is None for part in key) else key


def _text(key: _Key) -> str:
    return "\n".join(str(to_json(part)) for part in key)
