"""Replanning: what changed rules and timezones have yet to plan, when it is much.

Fed by ``tasks.automation.following`` and ``zone_moves``.  Shape: one transaction for
each piece, so a worker that dies loses one piece's work and no job.  The rule is locked
meanwhile: an operator who changes it again waits for one piece at most.  What breaks
stays open and comes last, so it holds up nobody else.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from typing import Final
from uuid import UUID

from sqlalchemy import func, select, union_all
from sqlalchemy.orm import Session

from tasks.automation.following import left_behind, work_off
from tasks.automation.zone_moves import work_off as work_off_zone
from tasks.lane import COUNT_CAP, Backlog, Bench
from tasks.models.replan import Replan, ZoneMove
from tasks.models.rollup import Measure
from tasks.models.rule import Rule
from tasks.rollups.work import Work, note_work

NAME: Final = "replanning"


@dataclass(frozen=True, slots=True)
class ReplanSweep:
    """What one sweep did, as ids of rules and of congregations that moved."""

    continued: tuple[UUID, ...] = ()
    finished: tuple[UUID, ...] = ()
    is_full: bool = False


def sweep(bench: Bench, limit: int) -> ReplanSweep:
    """Plan up to ``limit`` jobs of the rule that has waited longest.

    And as many of the congregation with another timezone that has.
    """
    try:
        of_rules = _sweep_rules(bench, limit)
    finally:
        of_zones = _sweep_zones(bench, limit)
    swept = (of_rules, of_zones)
    return ReplanSweep(
        tuple(id_ for each in swept for id_ in each.continued),
        tuple(id_ for each in swept for id_ in each.finished),
        is_full=any(each.is_full for each in swept),
    )


def _sweep_rules(bench: Bench, limit: int) -> ReplanSweep:
    now = bench.clock()
    with bench.begin() as session:
        rule = _next_rule(session) or left_behind(session, now)
        if rule is None:
            return ReplanSweep()
        open_ = session.get(Replan, rule.id, populate_existing=True)
        if open_ is None:  # another worker has just finished it
            return ReplanSweep(is_full=True)
        is_over = _tried(
            session, lambda: _work(session, open_, rule, now=now, limit=limit)
        )
        if is_over is True:
            session.delete(open_)
            return ReplanSweep(finished=(rule.id,), is_full=True)
        open_.touched_at = now  # the others' turn first
    if isinstance(is_over, Exception):
        raise is_over
    return ReplanSweep(continued=(rule.id,), is_full=True)


def _sweep_zones(bench: Bench, limit: int) -> ReplanSweep:
    now = bench.clock()
    with bench.begin() as session:
        move = _next_move(session)
        if move is None:
            return ReplanSweep()
        is_over = _tried(session, lambda: _work_zone(session, move, now, limit))
        if is_over is True:
            session.delete(move)
            return ReplanSweep(finished=(move.congregation_id,), is_full=True)
        move.touched_at = now
    if isinstance(is_over, Exception):
        raise is_over
    return ReplanSweep(continued=(move.congregation_id,), is_full=True)


def _tried(session: Session, work: Callable[[], bool]) -> bool | Exception:
    """Do a piece; returns whether it was the last, or what broke: nothing was done."""
    try:
        with session.begin_nested():
            return work()
    except Exception as error:  # noqa: BLE001  # raised when the others' turn is noted
        return error


def backlog(session: Session, now: datetime) -> Backlog:
    """Return how many rules and timezones have planning before them."""
    del now
    since = union_all(select(Replan.since), select(ZoneMove.since)).subquery()
    oldest = session.scalar(select(func.min(since.c.since)))
    some = select(since.c.since).limit(COUNT_CAP).subquery()
    n_due = session.scalar(select(func.count()).select_from(some)) or 0
    return Backlog(n_due=n_due, oldest_due_at=oldest)


def _work(
    session: Session, open_: Replan, rule: Rule, *, now: datetime, limit: int
) -> bool:
    """Do the next piece and count its jobs; returns whether it was the last."""
    if rule.deleted_at is not None:
        return True
    before = open_.n_created + open_.n_ended
    is_over = work_off(session, open_, rule, limit=limit)
    _note(session, open_, open_.n_created + open_.n_ended - before, now)
    return is_over


def _work_zone(session: Session, move: ZoneMove, now: datetime, limit: int) -> bool:
    """Do the next piece and count its jobs; returns whether it was the last."""
    done, is_over = work_off_zone(session, move, limit=limit)
    _note(session, move, done.n_created + done.n_cancelled, now)
    return is_over


def _note(session: Session, of: Replan | ZoneMove, n: int, now: datetime) -> None:
    work = Work(of.congregation_id, Measure.SUCCEEDED, now - of.since, n=n)
    note_work(session, NAME, [work], now)


def _next_move(session: Session) -> ZoneMove | None:
    """Lock the other timezone that waits longest, unless somebody has it."""
    return session.scalars(
        select(ZoneMove)
        .order_by(ZoneMove.touched_at, ZoneMove.id)
        .limit(1)
        .with_for_update(skip_locked=True)
        .execution_options(populate_existing=True)
    ).first()


def _next_rule(session: Session) -> Rule | None:
    """Lock the rule whose planning waits longest, unless somebody has it.

    The lock lets events of the rule pass: they only point to it.
    """
    return session.scalars(
        select(Rule)
        .join(Replan, Replan.rule_id == Rule.id)
        .order_by(Replan.touched_at, Rule.id)
        .limit(1)
        .with_for_update(skip_locked=True, key_share=True, of=Rule)
    ).first()
