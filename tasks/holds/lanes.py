"""What is overdue when a paused lane goes on, and what is to become of it."""

from __future__ import annotations

from collections import Counter
from datetime import datetime
from typing import Any, Final

from sqlalchemy import select
from sqlalchemy.orm import Session, selectinload

from tasks.automation.judging import judge
from tasks.claims import is_due
from tasks.errors import Conflict, NotFound
from tasks.holds.plans import Chosen, Outlook, Plan, begin, outlook
from tasks.models import (
    SENTENCES,
    ExecutionState,
    LaneSetting,
    Operation,
    OperationKind,
    ScheduledJob,
)
from tasks.models.base import Json
from tasks.operations.audit import Actor
from tasks.operations.kinds import THEN_RESUME, Asked
from tasks.operations.lanes import resume_lane
from tasks.operations.starting import start
from tasks.saying import say

EXECUTIONS: Final = "executions"
JOBS: Final = "scheduled_jobs"
#: Which plans the lanes know that have more to offer than to go on.
PLANS: Final = {
    EXECUTIONS: (Plan.SEND, Plan.SPREAD, Plan.DROP),
    JOBS: (Plan.SEND, Plan.DROP),
}
#: Jobs that are looked at before somebody decides.
LOOK_MAX: Final = 200


def overdue(session: Session, lane: str, now: datetime) -> Outlook:
    """Look at what is overdue as the lane will; at most its first some hundred rows.

    Raises:
        NotFound: the lane knows no plans.
    """
    if lane not in PLANS:
        raise NotFound("no_plan", say("This lane takes up what is due, oldest first."))
    if lane == EXECUTIONS:
        return outlook(session, _overdue(now), now)
    jobs = session.scalars(
        select(ScheduledJob)
        .options(selectinload(ScheduledJob.rule))
        .where(*is_due(ScheduledJob, now))
        .order_by(ScheduledJob.run_at, ScheduledJob.id)
        .limit(LOOK_MAX)
    ).all()
    judged = judge(session, jobs, now=now)
    stops = Counter(SENTENCES[reason] for reason in judged.ended.values())
    return Outlook(len(jobs), len(jobs) - len(judged.ended), stops, [], LOOK_MAX)


def resume_with(
    session: Session, lane: str, chosen: Chosen, actor: Actor, *, now: datetime
) -> Operation | None:
    """Resume a paused lane; what is overdue is sent, spread or dropped first.

    Whoever spreads or drops gets an operation, at whose end the lane goes on; None: it
    goes on already.

    Raises:
        NotFound: there is no such lane.
        Conflict: it is not paused, or knows no such plan.
        InvalidInput: the minutes are out of bounds, or nothing is overdue.
    """
    if chosen.plan is Plan.SEND:
        resume_lane(session, lane, actor, now=now)
        return None
    if chosen.plan not in PLANS.get(lane, ()):
        raise Conflict("no_such_plan", say("This lane does not know that plan."))
    setting = session.get(LaneSetting, lane, with_for_update=True)
    if setting is None or not setting.is_paused:
        raise Conflict("not_paused", say("The lane is not paused any more."))
    matching = _overdue(chosen.high_water) | {THEN_RESUME: lane}
    if lane == EXECUTIONS:
        return begin(session, matching, chosen, actor, now=now)
    asked = Asked(OperationKind.CANCEL_JOBS, matching, chosen.high_water)
    return start(session, chosen.operation_id, asked, actor, now=now)


def _overdue(now: datetime) -> Json:
    matching: dict[str, Any] = {
        "state": ExecutionState.PENDING.value,
        "late_before": now.isoformat(),
    }
    return matching
