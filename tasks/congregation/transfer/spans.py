"""Windows of days that must not share one: in the archive, and with what is here."""

from __future__ import annotations

from bisect import bisect
from collections.abc import Sequence
from datetime import date
from typing import Final

from sqlalchemy.orm import Session

from tasks.congregation.transfer.entity import Entity, Spans
from tasks.congregation.transfer.equals import Ready
from tasks.congregation.transfer.pointing import Intake
from tasks.congregation.transfer.rows import Incoming
from tasks.saying import mark
from tasks.saying.kept import kept

_HERE: Final = mark("shares a day with another one here")


def refuse_shared_days(
    intake: Intake, session: Session, entity: Entity, ready: Sequence[Ready]
) -> None:
    """Find rows whose window shares a day with that of another row."""
    spans = entity.spans
    if spans is None:
        return
    rows = [each.row for each in ready if spans.counts(each.row.values)]
    for row in rows:
        first, last = row.values[spans.first], row.values[spans.last]
        line = _take(intake.days, first, last, row.line)
        if line is not None:
            sentence = kept("shares a day with line %(line)s", line=str(line))
            row.faults.append((spans.first, sentence))
    _refuse_here(intake, session, entity, spans, rows)


def _take(
    taken: list[tuple[date, date, int]], first: date, last: date, line: int
) -> int | None:
    """Take a window, unless it shares a day with one that was taken; returns whose."""
    at = bisect(taken, (first,))
    for other_first, other_last, other in taken[max(0, at - 1) : at + 1]:
        if other_first <= last and first <= other_last:
            return other
    taken.insert(at, (first, last, line))
    return None


def _refuse_here(
    intake: Intake,
    session: Session,
    entity: Entity,
    spans: Spans,
    rows: Sequence[Incoming],
) -> None:
    if not rows:
        return
    changed = {row.values["id"] for row in rows}
    table = entity.table
    windows = [
        (each[spans.first], each[spans.last])
        for each in intake.target.all_of(session, table, spans.where, limit=None)
        if each["id"] not in changed
    ]
    for row in rows:
        first, last = row.values[spans.first], row.values[spans.last]
        if any(a <= last and first <= b for a, b in windows):
            row.faults.append((spans.first, _HERE))
