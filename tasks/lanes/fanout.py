"""Fan-out: events in the outbox become deliveries, one for each endpoint that asks.

Fed by every stored event of a congregation with endpoints, and by replays.  Shape: one
transaction, so a worker that dies loses nothing.  An entry that cannot be fanned out
is set aside with its error, tried again later, and holds up nobody else.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final
from uuid import UUID

from sqlalchemy import select
from sqlalchemy.orm import Session

from tasks.backlogs import waiting
from tasks.bulk import among
from tasks.errors import words_of
from tasks.lane import Backlog, Bench
from tasks.models.outbox import OutboxEntry
from tasks.models.rollup import Measure
from tasks.rollups.work import Work, note_work
from tasks.webhooks.fanout import fan_out

logger = logging.getLogger(__name__)

NAME: Final = "fanout"
#: An entry that failed waits so long; each further failure doubles it.
FIRST_WAIT: Final = timedelta(minutes=1)
LONGEST_WAIT: Final = timedelta(hours=1)
_ERROR_MAX: Final = 500


@dataclass(frozen=True, slots=True)
class FanoutSweep:
    """What one sweep did."""

    fanned_out: tuple[UUID, ...] = ()  # outbox entries
    deliveries: tuple[UUID, ...] = ()  # that are due because of it
    set_aside: tuple[UUID, ...] = ()  # outbox entries that failed
    is_full: bool = False


def sweep(bench: Bench, limit: int) -> FanoutSweep:
    """Fan out up to ``limit`` entries, oldest first."""
    try:
        return _together(bench, limit)
    except Exception:  # one bad entry must not block the others
        logger.exception("fanout.one_by_one")
    return _one_by_one(bench, limit)


def backlog(session: Session, now: datetime) -> Backlog:
    """Return how many events wait, and since when."""
    return waiting(session, OutboxEntry.run_at, OutboxEntry.run_at <= now)


def due(session: Session, now: datetime, limit: int) -> Sequence[OutboxEntry]:
    """Lock and return due entries, oldest first; what others hold is left out."""
    return session.scalars(
        select(OutboxEntry)
        .where(OutboxEntry.run_at <= now)
        .order_by(OutboxEntry.run_at, OutboxEntry.id)
        .limit(limit)
        .with_for_update(skip_locked=True)
    ).all()


def _together(bench: Bench, limit: int) -> FanoutSweep:
    now = bench.clock()
    with bench.begin() as session:
        entries = due(session, now, limit)
        made = _fan_out(session, entries, now) if entries else []
    return FanoutSweep(
        fanned_out=tuple(entry.id for entry in entries),
        deliveries=tuple(made),
        is_full=len(entries) == limit,
    )


def _one_by_one(bench: Bench, limit: int) -> FanoutSweep:
    """Fan out each entry in a savepoint of its own; what fails is set aside."""
    now = bench.clock()
    done: list[UUID] = []
    made: list[UUID] = []
    aside: list[UUID] = []
    with bench.begin() as session:
        ids = [entry.id for entry in due(session, now, limit)]
        for id_ in ids:
            try:
                with session.begin_nested():
                    made += _fan_out(session, _again(session, id_), now)
                done.append(id_)
            except Exception as error:
                logger.exception("fanout.set_aside", extra={"entry": str(id_)})
                _set_aside(session, id_, error, now)
                aside.append(id_)
    return FanoutSweep(tuple(done), tuple(made), tuple(aside), len(ids) == limit)


def _fan_out(
    session: Session, entries: Sequence[OutboxEntry], now: datetime
) -> list[UUID]:
    """Fan out and count it."""
    work = [_work(entry, now) for entry in entries]
    note_work(session, NAME, work, now)
    return fan_out(session, entries, now)


def _work(entry: OutboxEntry, now: datetime) -> Work:
    wait = None if entry.failures else now - entry.run_at
    return Work(entry.congregation_id, Measure.SUCCEEDED, wait)


def _again(session: Session, id_: UUID) -> Sequence[OutboxEntry]:
    return session.scalars(
        select(OutboxEntry).where(among(session, OutboxEntry.id, [id_]))
    ).all()


def _set_aside(session: Session, id_: UUID, error: Exception, now: datetime) -> None:
    for entry in _again(session, id_):
        wait = min(FIRST_WAIT * (1 << min(entry.failures, 10)), LONGEST_WAIT)
        note_work(session, NAME, [Work(entry.congregation_id, Measure.RETRIED)], now)
        entry.failures += 1
        entry.run_at = now + wait
        entry.error = words_of(error)[:_ERROR_MAX]
    session.flush()
