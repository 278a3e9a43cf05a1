"""Reading an archive's rows: every problem found, every row ready, nothing written.

The check that an operator reads and the import itself go through here, so they cannot
come to different ends.  Rows go by in batches; what a row refers to, and what is
unique, is looked up in ``staging`` and in short transactions that only read.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Final

from tasks.congregation.transfer import rows
from tasks.congregation.transfer.entities import ENTITIES, PLACE
from tasks.congregation.transfer.entity import Entity
from tasks.congregation.transfer.equals import Ready, refuse_equal, that_of, warn_alike
from tasks.congregation.transfer.finding import Found, How, find
from tasks.congregation.transfer.forgetting import remember_words
from tasks.congregation.transfer.layouts import Raw
from tasks.congregation.transfer.pointing import Intake, point
from tasks.congregation.transfer.rows import Incoming
from tasks.congregation.transfer.spans import refuse_shared_days
from tasks.congregation.transfer.staging import Known
from tasks.congregation.transfer.values import to_json
from tasks.models.base import new_id
from tasks.saying.kept import kept

#: Rows that are looked at together.
BATCH: Final = 500
#: Bytes of rows that are looked at together; one more row may go beyond it.
BYTES: Final = 4_000_000
_FORGOTTEN: Final = kept("somebody who was anonymised here stays so.")


def take_in(intake: Intake) -> None:
    """Read everything; afterwards the report says whether it can be written."""
    for entity in ENTITIES:
        for batch in _batches(intake.layout.rows(entity)):
            _take(intake, entity, batch)
    intake.layout.conclude(intake.report)


def _batches(raws: Iterable[Raw]) -> Iterator[Sequence[Raw]]:
    """Yield some rows at once, and fewer where they are large."""
    batch: list[Raw] = []
    size = 0
    for raw in raws:
        batch.append(raw)
        size += raw.size
        if len(batch) == BATCH or size >= BYTES:
            yield batch
            batch, size = [], 0
    if batch:
        yield batch


def _take(intake: Intake, entity: Entity, batch: Sequence[Raw]) -> None:
    incoming = [rows.read(entity, raw) for raw in batch]
    _refuse_twice(intake, entity, incoming)
    with intake.target.reading() as session:
        point(intake, session, entity, incoming)
        asked = [(each.old, each.values) for each in incoming]
        found = find(session, intake.target, intake.layout.source, entity, asked)
        ready = list(_ready(intake, entity, incoming, found))
        refuse_equal(intake, session, entity, ready)
        refuse_shared_days(intake, session, entity, ready)
        warn_alike(intake, session, entity, ready)
    for each in incoming:
        for name, sentence in each.faults:
            called = intake.layout.field(entity, name)
            intake.report.problem(each.file, each.line, called, sentence)
    _stage(intake, entity, [each for each in ready if not each.row.faults])
    _remember_faulty(intake, entity, incoming)


def _refuse_twice(intake: Intake, entity: Entity, incoming: Sequence[Incoming]) -> None:
    """Find ids that the archive has twice; the first row keeps it."""
    keys = [(each.old, each.line) for each in incoming if each.old]
    lines = intake.staging.take(f"{entity.name}:id", keys)
    for each in incoming:
        line = lines.get(each.old, each.line)
        if line != each.line:
            each.faults.append(("id", that_of(line)))
            each.old = ""


def _ready(
    intake: Intake,
    entity: Entity,
    incoming: Sequence[Incoming],
    found: Sequence[Found | None],
) -> Iterator[Ready]:
    """Yield rows that are whole and not left out, with what they are here."""
    left: list[tuple[str, Known]] = []
    for each, here in zip(incoming, found, strict=True):
        if why := _why_left(entity, each, here):
            intake.report.leave(entity.name, why)
            remember_words(intake, entity, each.values)
            if each.old and not each.faults:
                row_id = here.row["id"] if here else new_id()
                left.append((each.old, Known(row_id, needs_ref=False, is_frozen=True)))
        elif not each.faults:
            _complete(entity, each, here)
            if not each.faults:
                yield Ready(each, here)
    intake.staging.remember(PLACE[entity.name], left)


def _why_left(entity: Entity, each: Incoming, here: Found | None) -> str | None:
    if here is not None and here.row.get("anonymised_at") is not None:
        return _FORGOTTEN
    if entity.is_about_people and each.frozen:
        return _FORGOTTEN
    return None


def _complete(entity: Entity, each: Incoming, here: Found | None) -> None:
    if entity.has_id:
        each.values["id"] = here.row["id"] if here else new_id()
    for name in each.frozen:  # who was anonymised gets no office back
        if here is not None:
            each.values[name] = here.row[name]
        elif entity.table.c[name].nullable:
            each.values[name] = None
    rows.fill(entity, each, here.row if here else None)


def _stage(intake: Intake, entity: Entity, ready: Sequence[Ready]) -> None:
    tally, place = intake.report.tallies[entity.name], PLACE[entity.name]
    waiting: list[tuple[bool, Any]] = []
    known = []
    for each in ready:
        here, values = each.here, each.row.values
        if each.row.old:
            needs_ref = here is None or here.how is How.KEY
            known.append((each.row.old, Known(values["id"], needs_ref)))
        if here is not None and rows.is_same(entity, values, here.row):
            tally.same += 1
            continue
        if here is None:
            tally.new += 1
        else:
            tally.updated += 1
            if here.how is How.KEY and entity.has_id:
                intake.report.conflict(entity.name, each.row.line)
        if here is None and not entity.omits:
            waiting.append((True, intake.wire(entity).pack(values)))
        else:
            row = {c.name: to_json(values[c.name]) for c in entity.columns}
            waiting.append((here is None, row))
    intake.staging.remember(place, known)
    intake.staging.put(place, waiting)


def _remember_faulty(
    intake: Intake, entity: Entity, incoming: Sequence[Incoming]
) -> None:
    """Let rows be pointed to that are wrong themselves: once is enough to say it."""
    faulty = [each.old for each in incoming if each.old and each.faults]
    intake.staging.remember(
        PLACE[entity.name], [(old, Known(new_id(), needs_ref=False)) for old in faulty]
    )
