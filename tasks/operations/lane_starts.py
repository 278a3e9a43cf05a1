"""What a rule may do to a lane: ask for one sweep, as an operator does."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from sqlalchemy import exists, select
from sqlalchemy.orm import Session

from tasks import doorbell, registry
from tasks.automation.actions.base import Done, Envelope, GiveUp, Outcome, TryAgain
from tasks.clock import Clock
from tasks.errors import UnknownLane
from tasks.lane import Lane
from tasks.models import LaneRun, LaneSetting, LaneTrigger, Reason

#: Begins ``LaneRun.requested_by`` of a rule; the execution's id follows.
BY_EXECUTION: Final = "execution "


def startable() -> dict[str, str]:
    """Return the lanes that a rule may start: name -> title."""
    return {each.name: each.title for each in registry.LANES if each.is_startable}


@dataclass(frozen=True, slots=True)
class LaneStarter:
    """Asks lanes for sweeps; each request is a row, so a lost bell loses none."""

    clock: Clock

    def start(self, session: Session, lane: str, envelope: Envelope) -> Outcome:
        """Ask for one sweep; the same envelope twice, or many at once, are one."""
        try:
            found = registry.lane(lane)
        except UnknownLane:
            return GiveUp(Reason.BAD_MESSAGE, f"There is no lane “{lane[:40]}”.")
        if not found.is_startable:
            return GiveUp(
                Reason.BAD_MESSAGE, f"No rule may start the lane {found.title}."
            )
        return self._ask(session, found, envelope)

    def _ask(self, session: Session, lane: Lane, envelope: Envelope) -> Outcome:
        if session.get(LaneRun, envelope.execution_id) is not None:
            return Done(response="It was asked for by an earlier attempt.")
        if _is_paused(session, lane.name):
            return TryAgain(f"The lane {lane.title} is paused.")
        if _is_waiting(session, lane.name):
            return Done(response="A sweep was asked for already, and waits.")
        session.add(
            LaneRun(
                id=envelope.execution_id,  # so that another attempt finds it
                lane=lane.name,
                trigger=LaneTrigger.RULE,
                requested_by=f"{BY_EXECUTION}{envelope.execution_id}",
                requested_at=self.clock(),
            )
        )
        doorbell.ask(session, lane.name)
        return Done(response="A sweep is asked for.")


def _is_paused(session: Session, lane: str) -> bool:
    paused = select(LaneSetting.is_paused).where(LaneSetting.lane == lane)
    return bool(session.scalar(paused))


def _is_waiting(session: Session, lane: str) -> bool:
    waiting = select(LaneRun.id).where(
        LaneRun.lane == lane, LaneRun.started_at.is_(None)
    )
    return bool(session.scalar(select(exists(waiting))))
