"""Waking, stopping, pausing and resuming many engagements."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from typing import Final
from uuid import UUID

from sqlalchemy import ColumnElement, or_, select, true
from sqlalchemy.orm import Session

from tasks import doorbell
from tasks.models import Agent, Engagement, Operation, OperationKind, PassedBecause
from tasks.operations.acted import Acted
from tasks.operations.kind import Act, Kind, Refusal
from tasks.operations.replaying_executions import MOVED
from tasks.outreach.deeds import LANE
from tasks.outreach.scheduling import acknowledge, schedule, touch
from tasks.saying import mark
from tasks.search.outreach import ENGAGEMENTS, is_stopped
from tasks.search.plain import asked_conditions

_K = OperationKind
#: Changes one engagement; returns whether it was changed.
_Deed = Callable[[Engagement, datetime], bool]
_PAUSED: Final = Engagement.paused_at.is_not(None)
_AGENT_PAUSED: Final = Engagement.agent_id.in_(
    select(Agent.id).where(Agent.paused_at.is_not(None))
)


def _wake(row: Engagement, now: datetime) -> bool:
    return schedule(row, now)


def _stop(row: Engagement, _now: datetime) -> bool:
    return schedule(row, None)


def _pause(row: Engagement, now: datetime) -> bool:
    if row.paused_at is not None:
        return False
    row.paused_at = now
    return True


def _resume(row: Engagement, _now: datetime) -> bool:
    if row.paused_at is None:
        return False
    row.paused_at = None
    return True


def _acting(deed: _Deed, kind: OperationKind) -> Act:
    """Return what does one deed to a piece's engagements."""

    def act(
        session: Session, _operation: Operation, ids: Sequence[UUID], now: datetime
    ) -> Acted:
        rows = session.scalars(
            select(Engagement)
            .where(Engagement.id.in_(ids), *_allowed(kind))
            .order_by(Engagement.id)
            .with_for_update()
            .execution_options(populate_existing=True)
        ).all()
        done = [row for row in rows if deed(row, now)]
        for row in done:
            touch(row, now)
        session.flush()
        _afterwards(session, kind, [row.id for row in done], now)
        acted = Acted(changed=[(row.congregation_id, row.id) for row in done])
        acted.skip(sorted(set(ids) - {row.id for row in done}), MOVED)
        return acted

    return act


def _afterwards(
    session: Session, kind: OperationKind, ids: Sequence[UUID], now: datetime
) -> None:
    if kind is _K.RESUME_ENGAGEMENTS:  # what came due meanwhile stays passed
        acknowledge(session, PassedBecause.PAUSED, now, Engagement.id.in_(ids))
    if kind is _K.WAKE_ENGAGEMENTS and ids:
        doorbell.ask(session, LANE)


_REFUSALS: Final[Mapping[OperationKind, tuple[Refusal, ...]]] = {
    _K.WAKE_ENGAGEMENTS: (
        Refusal(
            mark("they are paused, or their agent is."), or_(_PAUSED, _AGENT_PAUSED)
        ),
        Refusal(mark("the address is stopped."), is_stopped()),
    ),
    _K.STOP_ENGAGEMENTS: (
        Refusal(mark("they have no schedule."), Engagement.next_action_at.is_(None)),
    ),
    _K.PAUSE_ENGAGEMENTS: (Refusal(mark("they are paused already."), _PAUSED),),
    _K.RESUME_ENGAGEMENTS: (
        Refusal(mark("they are not paused."), Engagement.paused_at.is_(None)),
    ),
}


def _allowed(kind: OperationKind) -> list[ColumnElement[bool]]:
    return [refusal.holds.is_not(true()) for refusal in _REFUSALS[kind]]


def _kind(kind: OperationKind, deed: _Deed) -> Kind:
    return Kind(
        Engagement,
        lambda until, _: (Engagement.created_at <= until, *_allowed(kind)),
        _acting(deed, kind),
        lane=LANE,
        narrow=lambda _, rest: asked_conditions(ENGAGEMENTS, rest),
        refusals=_REFUSALS[kind],
    )


OF_ENGAGEMENTS: Final[Mapping[OperationKind, Kind]] = {
    _K.WAKE_ENGAGEMENTS: _kind(_K.WAKE_ENGAGEMENTS, _wake),
    _K.STOP_ENGAGEMENTS: _kind(_K.STOP_ENGAGEMENTS, _stop),
    _K.PAUSE_ENGAGEMENTS: _kind(_K.PAUSE_ENGAGEMENTS, _pause),
    _K.RESUME_ENGAGEMENTS: _kind(_K.RESUME_ENGAGEMENTS, _resume),
}
