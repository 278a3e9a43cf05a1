"""Contact due: engagements whose instant has come become the event ``contact.due``.

Fed by agents and operators, who say when to look again.  Shape: one transaction, so
that an engagement is marked as announced and its event is stored, or neither: a worker
that dies, or a database that refuses events, leaves all of it due.  One that makes the
program fail is set aside, for an operator to try again; the others go on.
"""

from __future__ import annotations

import logging
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final
from uuid import UUID

from sqlalchemy.exc import SQLAlchemyError
from sqlalchemy.orm import Session

from tasks.automation.quiet import quiet_end
from tasks.backlogs import waiting
from tasks.crashpoints import reached
from tasks.errors import EngineError, words_of
from tasks.executing.apart import apart
from tasks.lane import Backlog, Bench
from tasks.models.engagement import Engagement, PassedBecause, WaitsFor
from tasks.models.rollup import Measure
from tasks.outreach import scheduling
from tasks.outreach.announcing import announce
from tasks.outreach.caps import within_caps
from tasks.outreach.claiming import Due, claim, is_due
from tasks.rollups.work import Work, note_work
from tasks.saying import mark

logger = logging.getLogger(__name__)

NAME: Final = "contact_due"
#: What operators read of an engagement that makes the program fail.
BROKE: Final = mark("It ended with an error in the program, see the worker's log.")
#: What becomes of an engagement, as it is counted.
_OUTCOMES: Final = {
    "announced": Measure.SUCCEEDED,
    "passed": Measure.SKIPPED,
    "set_aside": Measure.FAILED,
}
#: Ids of engagements by what became of them.
_Ended = defaultdict[str, list[UUID]]


class BatchLost(EngineError):
    """A batch could not be announced; all of it stays due."""

    def __init__(self, n_attempted: int, error: Exception) -> None:
        attempted = {
            0: "It broke before any engagement was claimed",
            1: "1 engagement was attempted and stays due",
        }.get(n_attempted, f"{n_attempted} engagements were attempted and stay due")
        super().__init__(f"{attempted}: {words_of(error)}")
        self.n_attempted = n_attempted  # 0: it broke before the claim


@dataclass(frozen=True, slots=True)
class ContactDueSweep:
    """What one sweep did, as engagement ids."""

    announced: tuple[UUID, ...] = ()
    passed: tuple[UUID, ...] = ()  # suppressed or paused
    waiting: tuple[UUID, ...] = ()  # until quiet hours end, or a capped day
    set_aside: tuple[UUID, ...] = ()  # no event can be made of them
    is_full: bool = False


def sweep(bench: Bench, limit: int) -> ContactDueSweep:
    """Announce up to ``limit`` due engagements, oldest first, fairly between tenants.

    Raises:
        BatchLost: the database did not take it.
    """
    now = bench.clock()
    try:
        due, ended = _claimed(bench, now, limit, _settle)
    except BatchLost:
        raise
    except Exception:  # one engagement's bug must not keep the others from waking
        logger.exception("contact_due.apart")
        due, ended = _claimed(bench, now, limit, _settle_apart)
    woken = set(ended["announced"])
    waited = (
        now - each.wake_at for each in due if each.wake_at and each.row.id in woken
    )
    bench.meters.late(NAME, (span.total_seconds() for span in waited))
    return ContactDueSweep(
        **{outcome: tuple(ids) for outcome, ids in ended.items()},
        is_full=len(due) == limit,
    )


def backlog(session: Session, now: datetime) -> Backlog:
    """Return how many engagements are due."""
    return waiting(session, Engagement.wake_at, *is_due(now))


def _claimed(
    bench: Bench,
    now: datetime,
    limit: int,
    settle: Callable[[Session, Sequence[Due], datetime], _Ended],
) -> tuple[Sequence[Due], _Ended]:
    due: Sequence[Due] = ()
    try:
        with bench.begin() as session:
            due = claim(session, now=now, limit=limit)
            ended = settle(session, due, now)
            reached("in_contact_due")
    except SQLAlchemyError as error:
        raise BatchLost(len(due), error) from error
    return due, ended


def _settle_apart(session: Session, due: Sequence[Due], now: datetime) -> _Ended:
    """Settle in savepoints, so that what fails does so alone."""
    ended: _Ended = defaultdict(list)

    def step(some: Sequence[Due]) -> list[None]:
        with session.begin_nested():
            done = _settle(session, some, now)
        for word, ids in done.items():
            ended[word] += ids
        return [None] * len(some)

    def broken(one: Due, error: Exception) -> None:
        told = {"engagement": str(one.row.id)}
        logger.error("contact_due.broke", exc_info=error, extra=told)
        scheduling.set_aside(one.row, BROKE, now)
        scheduling.touch(one.row, now)
        ended["set_aside"].append(one.row.id)
        _note(session, [one], {"set_aside": [one.row.id]}, now)

    apart(step, due, broken)
    return ended


def _settle(session: Session, due: Sequence[Due], now: datetime) -> _Ended:
    ended: _Ended = defaultdict(list)
    awake = [each for each in due if not _stays(each, now, ended)]
    going, over = within_caps(session, awake, now)
    for each in over:
        scheduling.postpone(each.due.row, each.until, each.waits_for)
        ended["waiting"].append(each.due.row.id)
    troubles = announce(session, going, now)
    for one in going:
        trouble = troubles.get(one.row.id)
        if trouble is None:
            scheduling.announced(one.row, now)
        else:
            scheduling.set_aside(one.row, trouble, now)
        scheduling.touch(one.row, now)
        ended["announced" if trouble is None else "set_aside"].append(one.row.id)
    _note(session, due, ended, now)
    return ended


def _note(
    session: Session,
    due: Sequence[Due],
    ended: Mapping[str, list[UUID]],
    now: datetime,
) -> None:
    """Count what did not just go on waiting."""
    became = {id_: word for word, ids in ended.items() for id_ in ids}
    note_work(
        session,
        NAME,
        [
            Work(
                each.row.congregation_id,
                _OUTCOMES[word],
                _wait(each, now),
            )
            for each in due
            if (word := became[each.row.id]) in _OUTCOMES
        ],
        now,
    )


def _wait(due: Due, now: datetime) -> timedelta | None:
    return now - due.wake_at if due.wake_at is not None else None


def _stays(due: Due, now: datetime, ended: _Ended) -> bool:
    """Whether an engagement passes, or waits for its quiet hours to end."""
    if (because := why_passed(due)) is not None:
        scheduling.pass_over(due.row, because, now)
        scheduling.touch(due.row, now)
        ended["passed"].append(due.row.id)
        return True
    if (until := _quiet_until(due, now)) is not None:
        scheduling.postpone(due.row, until, WaitsFor.QUIET)
        ended["waiting"].append(due.row.id)
        return True
    return False


def why_passed(due: Due) -> PassedBecause | None:
    """Return what speaks against an event; ``None``: nothing does."""
    if due.is_suppressed:
        return PassedBecause.SUPPRESSED
    if due.agent.paused_at is not None:
        return PassedBecause.AGENT_PAUSED
    return PassedBecause.PAUSED if due.row.paused_at is not None else None


def _quiet_until(due: Due, now: datetime) -> datetime | None:
    return quiet_end(due.row, now, due.row.timezone or due.congregation.timezone)
