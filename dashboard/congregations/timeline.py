"""A record's past and future: what happened, what was done, what is planned."""

from __future__ import annotations

import heapq
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Final
from uuid import UUID

from sqlalchemy import func, select
from sqlalchemy.orm import Session, joinedload

from dashboard.congregations import trail
from dashboard.congregations.ahead import AHEAD_MAX, coming
from dashboard.congregations.deeds import deeds
from dashboard.congregations.moments import (
    RANKS,
    Moment,
    of_attempt,
    of_deed,
    of_event,
    of_execution,
    of_job,
)
from dashboard.congregations.places import (
    MILLISECOND,
    Place,
    before,
    born_at,
    born_before,
    born_until,
)
from dashboard.congregations.records import Names
from dashboard.congregations.trail import FRAME, unindexed
from tasks.models import (
    Attempt,
    Event,
    Execution,
    JobState,
    Rule,
    ScheduledJob,
)

#: When a job stopped waiting.
_ENDED: Final = func.coalesce(ScheduledJob.settled_at, ScheduledJob.created_at)


@dataclass(frozen=True, slots=True)
class Timeline:
    """A page of a timeline, the newest first."""

    ahead: Sequence[Moment]  # the farthest in the future first; on the first page only
    past: Sequence[Moment]
    has_more_ahead: bool = False
    next_cursor: str | None = None  # None: this is the end


def timeline(
    session: Session, names: Names, cursor: str | None, limit: int
) -> Timeline:
    """Return a page of a record's timeline: one query for each kind of moment.

    Raises:
        InvalidInput: ``bad_cursor``.
    """
    place = Place.read(cursor) if cursor else None
    made = _frame(session, names, place)
    sources = (
        _events(session, names, place, limit),
        _jobs(session, names, place, limit),
        _executions(session, names, place, limit),
        _attempts(session, made, place, limit),
        _deeds(session, names, made, place, limit),
    )
    merged = heapq.merge(*sources, key=lambda each: each.place, reverse=True)
    found = list(islice(merged, limit + 1))
    ahead = [] if place else coming(session, names)
    return Timeline(
        ahead=ahead[:AHEAD_MAX][::-1],
        past=found[:limit],
        has_more_ahead=len(ahead) > AHEAD_MAX,
        next_cursor=str(found[limit - 1].place) if len(found) > limit else None,
    )


def _frame(
    session: Session, names: Names, place: Place | None
) -> Sequence[tuple[UUID, str]]:
    """Return the executions whose attempts and deeds may stand on the page."""
    since = place.at if place else None
    which = [] if since is None else [born_until(since)]
    found = trail.executions(names, FRAME, *which, since=since)
    rows = session.execute(
        select(Execution.id, Rule.name)
        .join(Rule, Rule.id == Execution.rule_id)
        .where(found)
        .order_by(Execution.id.desc())
        .limit(FRAME)
    )
    return [(id_, rule) for id_, rule in rows]


def _events(
    session: Session, names: Names, place: Place | None, limit: int
) -> list[Moment]:
    older = before(place, RANKS["event"], Event.created_at, Event.id)
    rows = session.scalars(
        select(Event)
        .where(Event.id.in_(trail.events(names, limit + 1, older)))
        .order_by(unindexed(Event.created_at).desc(), Event.id.desc())
        .limit(limit + 1)
    )
    return [of_event(row) for row in rows]


def _jobs(
    session: Session, names: Names, place: Place | None, limit: int
) -> list[Moment]:
    older = before(place, RANKS["job"], _ENDED, ScheduledJob.id)
    # What a dispatched job led to stands in the timeline itself.
    over = ScheduledJob.state.not_in((JobState.PENDING, JobState.DISPATCHED))
    rows = session.scalars(
        select(ScheduledJob)
        .options(joinedload(ScheduledJob.rule).load_only(Rule.name))
        .where(
            ScheduledJob.id.in_(trail.jobs(names, limit + 1, over, older, at=_ENDED))
        )
        .order_by(_ENDED.desc(), ScheduledJob.id.desc())
        .limit(limit + 1)
    )
    return [of_job(row, row.settled_at or row.created_at) for row in rows]


def _executions(
    session: Session, names: Names, place: Place | None, limit: int
) -> list[Moment]:
    older = born_before(place, RANKS["execution"])
    since = place.at if place else None
    begun = ~trail.waiting(Execution)
    found = trail.executions(names, limit + 1, begun, older, since=since)
    rows = session.scalars(
        select(Execution)
        .options(joinedload(Execution.rule).load_only(Rule.name))
        .where(found)
        .order_by(Execution.id.desc())
        .limit(limit + 1)
    )
    return [of_execution(row, born_at(row.id)) for row in rows]


def _attempts(
    session: Session,
    made: Sequence[tuple[UUID, str]],
    place: Place | None,
    limit: int,
) -> list[Moment]:
    rules = dict(made)
    keys = (Attempt.execution_id, Attempt.number)
    began = place.earlier(MILLISECOND) if place else None
    rows = session.scalars(
        select(Attempt)
        .where(
            Attempt.execution_id.in_(rules),
            before(began, RANKS["attempt"], Attempt.started_at, *keys),
        )
        .order_by(Attempt.started_at.desc(), *(key.desc() for key in keys))
        .limit(limit + 1)
    )
    return [of_attempt(row, rules[row.execution_id]) for row in rows]


def _deeds(
    session: Session,
    names: Names,
    made: Sequence[tuple[UUID, str]],
    place: Place | None,
    limit: int,
) -> list[Moment]:
    found = deeds(session, names, [id_ for id_, _ in made], place, limit + 1)
    return [of_deed(row.id, row.created_at, row.summary, row.actor) for row in found]
