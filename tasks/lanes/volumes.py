"""Volumes: notice when a rule makes far more executions than usual, and hold it.

Fed by whatever makes executions, which it counts by their ids.  Shape: one transaction,
so a worker that dies counts nothing twice.  What the rule makes from then on waits
until an operator has seen samples of it (``tasks.holds``).
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final
from uuid import UUID

from sqlalchemy import select
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.orm import Session

from tasks.bulk import is_postgres
from tasks.db import reading
from tasks.holds.flooding import hold_unusual
from tasks.holds.volumes import count_new, forget_old, hour_of
from tasks.lane import Backlog, Bench
from tasks.models.base import born_from
from tasks.models.execution import Execution
from tasks.models.rollup import Measure
from tasks.models.volume import VolumeLook
from tasks.rollups.work import Work, note_work

NAME: Final = "volumes"
#: What is younger may not be committed yet.
SETTLING: Final = timedelta(seconds=2)
#: After a longer break what was made meanwhile counts no more: it is no flood of now.
LOOKS_BACK: Final = timedelta(hours=1)
_ONLY_ROW: Final = 1


@dataclass(frozen=True, slots=True)
class VolumesSweep:
    """What one sweep did, as ids of rules."""

    held: tuple[UUID, ...] = ()
    is_full: bool = False


def sweep(bench: Bench, limit: int) -> VolumesSweep:
    """Count what was made since the last look, and hold what is unusual."""
    del limit
    now = bench.clock()
    until = now - SETTLING
    if not _has_work(bench, until):
        return VolumesSweep()
    with bench.begin() as session:
        look = _look(session, until)
        since = max(look.counted_until, until - LOOKS_BACK)
        if hour_of(look.counted_until) < hour_of(until):
            forget_old(session, now)
        rules = count_new(session, since, until) if since < until else []
        look.counted_until = max(look.counted_until, until)
        held = hold_unusual(session, rules, until) if rules else []
        note_work(session, NAME, _work(len(rules), len(held)), now)
    return VolumesSweep(held=tuple(held))


def _work(n_rules: int, n_held: int) -> tuple[Work, ...]:
    """Return the looks at rules; one that was held does not go on."""
    return (
        Work(None, Measure.SUCCEEDED, n=n_rules - n_held),
        Work(None, Measure.SKIPPED, n=n_held),
    )


def backlog(session: Session, now: datetime) -> Backlog:
    """Return that nothing waits: it only looks."""
    del session, now
    return Backlog(n_due=0, oldest_due_at=None)


def _has_work(bench: Bench, until: datetime) -> bool:
    """Look before taking SQLite's only write lock: mostly nothing was made."""
    with bench.begin() as session:
        reading(session)
        since = session.scalar(select(VolumeLook.counted_until))
        if since is None:
            return True
        made = select(Execution.id).where(Execution.id >= born_from(since))
        return session.scalar(select(made.exists())) is True and since < until


def _look(session: Session, until: datetime) -> VolumeLook:
    look = session.get(VolumeLook, _ONLY_ROW, with_for_update=True)
    if look is None:
        # Several workers may be the first.
        insert = postgresql.insert if is_postgres(session) else sqlite.insert
        first = {"id": _ONLY_ROW, "counted_until": until - LOOKS_BACK}
        session.execute(insert(VolumeLook).values(first).on_conflict_do_nothing())
        look = session.get_one(VolumeLook, _ONLY_ROW, with_for_update=True)
    return look
