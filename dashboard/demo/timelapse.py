"""Plays the demo's past through the real lanes, with a clock that jumps.

So everything in the demo's history is what the engine itself would have written.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from sqlalchemy import Engine, Table, Update, func, select, update
from sqlalchemy.orm import Session

from dashboard.demo.scripted import scripted_effects
from dashboard.demo.story import Step
from tasks.clock import utcnow
from tasks.db import sessions
from tasks.executing.claiming import lease, take
from tasks.executing.preparing import prepare
from tasks.executing.suspecting import SuspectLooks
from tasks.lane import Bench
from tasks.models import Base, Execution, ExecutionState, JobState, LaneTrigger
from tasks.models import ScheduledJob as Job
from tasks.registry import lane as find_lane
from tasks.runner import run_lane

#: How long after something is due a sweep finds it.
_LATENCY: Final = timedelta(milliseconds=420)
#: Columns that the database or the models fill with the real time.
_STAMPS: Final = ("created_at", "updated_at")


@dataclass(slots=True)
class JumpingClock:
    """A clock that stands where it was put."""

    at: datetime

    def __call__(self) -> datetime:
        return self.at


class Timelapse:
    """One run from the first step to ``end``."""

    def __init__(
        self,
        engine: Engine,
        start: datetime,
        end: datetime,
        outage: tuple[datetime, datetime],
        chance: random.Random,
    ) -> None:
        """Prepare a run in which no worker works during ``outage``."""
        self._begin = sessions(engine).begin
        self._end = end
        self._away_from, self._away_until = outage
        self._began_at = utcnow()  # everything stamped later is to be put back
        self.clock = JumpingClock(start)
        self.bench = Bench(
            begin=self._begin,
            clock=self.clock,
            effects=scripted_effects(chance),
            worker="bonifatius:1:demo",
            suspects=SuspectLooks(every=0.0),  # its clock is not ours
        )

    def play(self, steps: Sequence[Step]) -> None:
        """Take each step at its instant and do what is due in between."""
        for step in steps:
            self._work_until(step.at)
            self.clock.at = max(self.clock.at, step.at)
            with self._begin() as session:
                step.tell(session, step.at)
                session.flush()
                self._put_stamps_back(session)
            if step.crashes:
                self._crash_three_times()
        self._work_until(self._end)

    def _crash_three_times(self) -> None:
        """Let a worker take what is due and vanish, until it is quarantined."""
        for _ in range(3):
            self.clock.at += timedelta(minutes=2)
            with self._begin() as session:
                running = take(session, self.bench, limit=1)
                lease(session, self.bench, running)
            with self._begin() as session:
                prepare(session, running, now=self.clock())  # it vanishes in the act
            self.clock.at += self.bench.timing.lease + timedelta(seconds=9)
            run_lane(find_lane("rescue"), self.bench, LaneTrigger.CLOCK)

    def _work_until(self, instant: datetime) -> None:
        """Sweep whenever something becomes due before ``instant``."""
        while True:
            due = self._next_due()
            if due is None or (at := self._heard(due)) > instant:
                return
            self.clock.at = max(self.clock.at, at)
            if not self._sweep():
                return  # a paused lane: the next step may resume it

    def _next_due(self) -> datetime | None:
        with self._begin() as session:
            waiting = [
                session.scalar(
                    select(func.min(Execution.run_at)).where(
                        Execution.state == ExecutionState.PENDING
                    )
                ),
                session.scalar(
                    select(func.min(Job.run_at)).where(Job.state == JobState.PENDING)
                ),
            ]
        return min((due for due in waiting if due is not None), default=None)

    def _heard(self, due: datetime) -> datetime:
        """Return when a worker looks at what is due; an outage makes it late."""
        if self._away_from <= due < self._away_until:
            return self._away_until
        return due + _LATENCY

    def _sweep(self) -> bool:
        """Sweep both lanes once; returns whether anything moved."""
        moved = 0
        for name in ("scheduled_jobs", "executions"):
            ran = run_lane(find_lane(name), self.bench, LaneTrigger.CLOCK)
            moved += 0 if ran is None else ran.moved.total()
        with self._begin() as session:
            self._put_stamps_back(session)
        return moved > 0

    def _put_stamps_back(self, session: Session) -> None:
        """Give the clock's time to rows that were stamped with the real one."""
        for table in Base.metadata.tables.values():
            for name in _STAMPS:
                if name in table.c:
                    session.execute(self._stamped_back(table, name))

    def _stamped_back(self, table: Table, name: str) -> Update:
        # The other stamp is named too, or the models would fill it once more.
        values: dict[str, object] = {
            each: table.c[each] for each in _STAMPS if each in table.c
        }
        values[name] = self.clock.at
        return update(table).where(table.c[name] >= self._began_at).values(values)
