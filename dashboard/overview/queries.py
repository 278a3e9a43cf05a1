"""What the overview reads: a handful of capped counts and three short lists."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from sqlalchemy import ScalarSelect, exists, func, select
from sqlalchemy.orm import Session

from dashboard.budgets.queries import Endangered, endangered
from dashboard.failures.queries import GroupLine, n_asking, newest_asking
from dashboard.filtering import LATE_AFTER
from dashboard.lanes.queries import alive_workers
from dashboard.overview.troubles import Trouble, troubles
from dashboard.saved_views.counting import Counted
from dashboard.webhooks.told import n_troubled
from tasks.claims import is_due
from tasks.db import Scope, scope_of
from tasks.lane import COUNT_CAP
from tasks.models import (
    ApiToken,
    Congregation,
    CongregationRollup,
    Event,
    Execution,
    ExecutionState,
    LaneRollup,
    LaneSetting,
    Measure,
    Rule,
    ScheduledJob,
    Span,
)
from tasks.operations.matching import Matching, Model, narrow

#: How far back a failure still asks for somebody.
RECENT: Final = timedelta(hours=24)
#: Groups of failures that are named.
GROUPS_SHOWN: Final = 4


@dataclass(frozen=True, slots=True)
class Needs:
    """What asks for an operator; every count stops at ``COUNT_CAP``."""

    n_groups: int  # causes of failures that nobody has taken note of
    groups: Sequence[GroupLine]  # the newest of them
    failed: int  # executions that were made within RECENT and failed for good
    late: int  # executions that no worker took in time
    late_since: datetime | None  # when the oldest of them was to be taken
    late_jobs: int
    late_jobs_since: datetime | None
    paused_lanes: Sequence[LaneSetting]
    endpoints: int  # of webhooks, about to be switched off or off by themselves
    troubles: Sequence[Trouble]
    budgets: Sequence[Endangered]  # of lateness, nearly used up or broken
    has_worker: bool
    since: datetime  # the start of RECENT, for the link to the list
    views: Sequence[Counted] = ()  # saved ones that warn

    @property
    def is_calm(self) -> bool:
        """Whether nothing needs anybody."""
        return self.has_worker and not (
            self.n_groups
            or self.late
            or self.late_jobs
            or self.paused_lanes
            or self.endpoints
            or self.budgets
            or self.troubles
            or self.views
        )


@dataclass(frozen=True, slots=True)
class FirstSteps:
    """What a new installation has already of what it takes to begin."""

    congregation: Congregation | None
    has_rule: bool
    has_token: bool


def needs(session: Session, *, now: datetime, views: Sequence[Counted] = ()) -> Needs:
    """Return what asks for an operator now; a fixed number of queries on indexes.

    Args:
        views: saved ones that warn.
    """
    since = now - RECENT
    failed = Matching(state=ExecutionState.FAILED, since=since)
    late = Matching(late_before=now - LATE_AFTER)
    failed_now, late_now, late_since, late_jobs, jobs_since = session.execute(
        select(
            _number(Execution, failed),
            _number(Execution, late),
            _oldest(Execution, now),
            _number(ScheduledJob, late),
            _oldest(ScheduledJob, now),
        )
    ).one()
    workers = alive_workers(session, now=now)
    paused = session.scalars(
        select(LaneSetting)
        .where(LaneSetting.is_paused.is_(True))
        .order_by(LaneSetting.paused_at)
    ).all()
    return Needs(
        n_groups=n_asking(session, now=now),
        groups=newest_asking(session, GROUPS_SHOWN, now=now),
        failed=failed_now,
        late=late_now,
        late_since=late_since,
        late_jobs=late_jobs,
        late_jobs_since=jobs_since,
        paused_lanes=paused,
        endpoints=n_troubled(session),
        budgets=endangered(session),
        troubles=troubles(session, workers, paused, now=now, since=since),
        has_worker=bool(workers),
        since=since,
        views=views,
    )


def n_succeeded(session: Session, *, now: datetime) -> int:
    """Return how many executions succeeded in the last day, as far as it is counted.

    The lane ``rollups`` counts what has ended a minute later at the latest.
    """
    this_hour = now.replace(minute=0, second=0, microsecond=0)
    model = LaneRollup if scope_of(session) is Scope.EVERY else CongregationRollup
    counted = select(func.sum(model.n)).where(
        model.lane == "executions",
        model.span == Span.HOUR,
        model.at > this_hour - RECENT,
        model.measure == Measure.SUCCEEDED,
    )
    return int(session.scalar(counted) or 0)


def first_steps(session: Session) -> FirstSteps | None:
    """Return how far a new installation has come; None once an event came in."""
    if session.scalar(select(exists(select(Event.id)))):
        return None
    return FirstSteps(
        congregation=session.scalar(
            select(Congregation).order_by(Congregation.created_at).limit(1)
        ),
        has_rule=bool(
            session.scalar(
                select(exists(select(Rule.id).where(Rule.deleted_at.is_(None))))
            )
        ),
        has_token=bool(
            session.scalar(
                select(exists(select(ApiToken.id).where(ApiToken.revoked_at.is_(None))))
            )
        ),
    )


def _oldest(model: Model, now: datetime) -> ScalarSelect[datetime]:
    due = select(model.run_at).where(*is_due(model, now))
    return due.order_by(model.run_at).limit(1).scalar_subquery()


def _number(model: Model, matching: Matching) -> ScalarSelect[int]:
    """Count what the list with the same filter shows, so that tile and list agree."""
    some = narrow(select(model.id), model, matching).limit(COUNT_CAP).subquery()
    return select(func.count()).select_from(some).scalar_subquery()
