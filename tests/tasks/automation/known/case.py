"""A world with the verbs of the known cases, and short answers."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Any

from tasks.automation import AutomationEvent, bookings, emit_automation_event
from tasks.lanes import executions, scheduled_jobs
from tasks.models import Rule, ScheduledJob
from tests.support.fakes import FakePost, bench
from tests.tasks.automation.conftest import NOW, World

START = NOW + timedelta(days=3)
HOOK = {"action": "webhook", "settings": {"url": "https://example.org/hook"}}
MINUTE, HOUR, DAY = timedelta(minutes=1), timedelta(hours=1), timedelta(days=1)


class Case:
    """A world with the verbs of the cases, and short answers."""

    def __init__(self, world: World) -> None:
        self.world = world
        self.post = FakePost()

    def do(self, verb: Callable[..., Any], *args: Any, now: datetime = NOW) -> Any:
        with self.world.make_session.begin() as session:
            return verb(session, self.world.id, *args, now=now)

    def book(self, id_: str = "b1", start: datetime = START, **values: Any) -> None:
        asked = {"status": "requested", "confirmed_at": None, "start_time": start}
        self.world.booking(id_, **{**asked, **values})
        self.do(bookings.confirm, id_)

    def remind(self, hours: int = 24, **values: Any) -> Rule:
        trigger = values.pop("trigger", "time.before_recording")
        return self.world.rule(trigger, offset_value=hours, **values)

    def emit(self, **values: Any) -> Any:
        told = {"booking_id": "b1", "congregation_id": self.world.id, **values}
        now = told.pop("now", NOW)
        payload = AutomationEvent(
            told.pop("trigger", "booking.confirmed"), "show", **told
        )
        with self.world.make_session.begin() as session:
            return emit_automation_event(session, payload, now=now)

    def work(self, now: datetime) -> int:
        """Let both lanes do what is due; returns how much went out so far."""
        there = bench(self.world.make_session, lambda: now, self.post)
        scheduled_jobs.sweep(there, 100)
        executions.sweep(there, 100)
        return len(self.post.sent)

    def set(self, row: Any, key: Any, **values: Any) -> None:
        with self.world.make_session.begin() as session:
            found = session.get_one(row, key)
            for name, value in values.items():
                setattr(found, name, value)

    def jobs(self) -> list[tuple[str, str]]:
        rows = self.world.jobs()
        return sorted((job.state.value, str(job.reason or "")) for job in rows)

    def living(self) -> list[ScheduledJob]:
        return self.world.jobs("pending")

    def ends(self) -> list[tuple[str, str]]:
        rows = self.world.executions()
        return sorted((row.state.value, str(row.reason or "")) for row in rows)
