"""Replanning: what changed rules have yet to plan, when it is much.

Fed by ``tasks.automation.following``.  Shape: one transaction for each piece, so a
worker that dies loses one piece's work and no job.  The rule is locked meanwhile: an
operator who changes it again waits for one piece at most.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Final
from uuid import UUID

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from tasks.automation.following import work_off
from tasks.lane import COUNT_CAP, Backlog, Bench
from tasks.models.replan import Replan
from tasks.models.rollup import Measure
from tasks.models.rule import Rule
from tasks.rollups.work import Work, note_work

NAME: Final = "replanning"


@dataclass(frozen=True, slots=True)
class ReplanSweep:
    """What one sweep did, as rule ids."""

    continued: tuple[UUID, ...] = ()
    finished: tuple[UUID, ...] = ()
    is_full: bool = False


def sweep(bench: Bench, limit: int) -> ReplanSweep:
    """Plan up to ``limit`` jobs of the rule that has waited longest."""
    now = bench.clock()
    with bench.begin() as session:
        rule = _next_rule(session)
        if rule is None:
            return ReplanSweep()
        open_ = session.get(Replan, rule.id, populate_existing=True)
        if open_ is None:  # another worker has just finished it
            return ReplanSweep(is_full=True)
        if _work(session, open_, rule, now=now, limit=limit):
            session.delete(open_)
            return ReplanSweep(finished=(rule.id,), is_full=True)
        open_.touched_at = now  # the others' turn first
    return ReplanSweep(continued=(rule.id,), is_full=True)


def backlog(session: Session, now: datetime) -> Backlog:
    """Return how many rules have planning before them."""
    del now
    some = select(Replan.rule_id).limit(COUNT_CAP).subquery()
    return Backlog(
        n_due=session.scalar(select(func.count()).select_from(some)) or 0,
        oldest_due_at=session.scalar(select(func.min(Replan.since))),
    )


def _work(
    session: Session, open_: Replan, rule: Rule, *, now: datetime, limit: int
) -> bool:
    """Do the next piece and count its jobs; returns whether it was the last."""
    if rule.deleted_at is not None:
        return True
    before = open_.n_created + open_.n_ended
    is_over = work_off(session, open_, rule, limit=limit)
    n = open_.n_created + open_.n_ended - before
    work = Work(open_.congregation_id, Measure.SUCCEEDED, now - open_.since, n=n)
    note_work(session, NAME, [work], now)
    return is_over


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
