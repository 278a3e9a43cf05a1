"""Noting what lanes did whose rows keep no attempts: it is counted as it happens.

A row of ``ended`` holds the sums of one transaction, so the lane ``rollups`` need not
look for anything.
"""

from __future__ import annotations

import json
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime, timedelta
from typing import NamedTuple
from uuid import UUID

from sqlalchemy import insert
from sqlalchemy.orm import Session

from tasks.models.base import new_id
from tasks.models.rollup import BOUNDS, Ended, EndedKind, Measure
from tasks.rollups.counting import Place


class Work(NamedTuple):
    """One thing that a lane did, or could not do."""

    congregation_id: UUID | None  # None: of no one alone
    outcome: Measure  # below WAIT
    wait: timedelta | None = None  # past its time until taken; None: not counted
    run: timedelta | None = None  # None: it came to no effect
    n: int = 1


#: Whose, and the measure.
_Key = tuple[UUID | None, int]


def note_work(session: Session, lane: str, work: Iterable[Work], now: datetime) -> None:
    """Note what this transaction did in a lane; one row, if it did anything.

    Caller commits.
    """
    if counted := _counted(work):
        sums = [(of.hex if of else "", what, n) for (of, what), n in counted.items()]
        told = json.dumps([lane, now.isoformat(), sums]).encode()
        row = {"id": new_id(), "kind": EndedKind.WORK, "keys": told}
        session.execute(insert(Ended), row)


def noted_work(told: bytes) -> Counter[Place]:
    """Return what one such row counts."""
    lane, at, sums = json.loads(told)
    counted = {(UUID(of) if of else None, measure): n for of, measure, n in sums}
    return _placed(lane, counted, datetime.fromisoformat(at))


def placed(lane: str, work: Iterable[Work], now: datetime) -> Counter[Place]:
    """Return what work counts, for who adds it to the counts without noting it."""
    return _placed(lane, _counted(work), now)


def _placed(lane: str, counted: Mapping[_Key, int], at: datetime) -> Counter[Place]:
    hour = at.replace(minute=0, second=0, microsecond=0)
    return Counter(
        {Place(of, lane, None, hour, what): n for (of, what), n in counted.items()}
    )


def _counted(work: Iterable[Work]) -> Counter[_Key]:
    counted: Counter[_Key] = Counter()
    for each in work:
        for measure in _measures(each):
            counted[each.congregation_id, measure] += each.n
    return +counted  # without what is 0


def _measures(work: Work) -> Iterator[int]:
    yield work.outcome
    if work.wait is not None:
        yield Measure.WAIT + _bucket(work.wait)
    if work.run is not None:
        yield Measure.RUN + _bucket(work.run)


def _bucket(span: timedelta) -> int:
    """Return the number of the bucket of ``BOUNDS`` that a span falls into."""
    return bisect_left(BOUNDS, span.total_seconds())
