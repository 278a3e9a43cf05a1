"""What should be: the jobs that wait, decided by the planner's pure functions alone."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from tasks.automation.lateness import due_at, is_too_late, timing
from tasks.automation.quiet import Clocks, opening, quiet_end
from tasks.automation.triggers import TRIGGERS
from tasks.models import LatePolicy, OffsetUnit, QuietPolicy, Rule
from tasks.operations.rules import RuleChange
from tests.tasks.automation.conftest import NOW

ZONES = ["Europe/Berlin", "America/New_York", "Australia/Lord_Howe", "Asia/Kathmandu"]
#: In three weeks clocks change in Europe, in four in Australia.
STARTS = [
    NOW + timedelta(days=days, hours=hours)
    for days, hours in ((18, 0), (19, 14), (20, 3), (26, 21), (60, 9))
]
MAIL = {"recipient": "guest", "subject": "Hello", "text": "Hello", "html": ""}
HOOK = {"url": "https://example.org/hook"}


def _change(trigger: str, value: int, unit: str, **values: Any) -> RuleChange:
    made = RuleChange(
        name="Rule",
        trigger_type=f"time.{trigger}",
        action="email",
        settings=MAIL,
        offset_value=value,
        offset_unit=OffsetUnit(unit),
    )
    return replace(made, **values)


_NIGHT = {"quiet_from": "20:00", "quiet_until": "09:30"}
_CALL: dict[str, Any] = {"action": "webhook", "settings": HOOK}
_SEND_NOW = {**_CALL, "late_policy": LatePolicy.SEND_NOW}
CHANGES = [
    _change("before_recording", 24, "hours"),
    _change("before_recording", 3, "days"),
    _change("before_recording", 2, "days", offset_at="18:00"),
    _change("before_recording", 0, "days", offset_at="07:00"),
    _change("before_recording", 40, "hours", **_NIGHT),
    _change("before_recording", 90, "days"),
    _change("before_recording", 90, "days", **_SEND_NOW, **_NIGHT),
    _change("after_recording", 90, "minutes"),
    _change("after_recording", 1, "days", **_NIGHT),
    _change("after_booking", 5, "minutes", late_limit=30),
    _change("after_booking", 10, "days", offset_at="02:30", **_CALL),
    _change("before_publish", 48, "hours"),
    _change("before_publish", 1, "days", offset_at="09:00"),
    _change("after_publish", 0, "hours", quiet_policy=QuietPolicy.SKIP, **_NIGHT),
    _change("after_publish", 7, "days"),
]
TIMED = ("offset_value", "offset_unit", "offset_at", "quiet_from", "quiet_policy")


@dataclass(frozen=True)
class Job:
    """A living job as the model sees it."""

    reference_at: datetime
    due_at: datetime
    run_at: datetime
    timezone: str


@dataclass
class Entity:
    """A booking or an episode of the model; its dates are there while they hold."""

    recording: datetime | None = None
    publish: datetime | None = None
    booking: datetime | None = None
    timezone: str | None = None


def kind(made: Rule) -> str:
    return TRIGGERS[made.trigger_type].reference or ""


def offset(made: Rule) -> tuple[object, ...]:
    return made.offset_value, made.offset_unit, made.offset_at


class Model:
    """Two bookings, an episode and rules, and the jobs that should wait for them."""

    def __init__(self) -> None:
        self.now = NOW
        self.rules: dict[UUID, Rule] = {}
        self.living: dict[tuple[UUID, str], Job] = {}
        self.done: set[tuple[object, ...]] = set()
        self.house, self.podcast = "Europe/Berlin", None
        self.entities = {"b1": Entity(), "b2": Entity(), "e1": Entity()}

    def host(self) -> str:
        return self.podcast or self.house

    def clocks_of(self, name: str) -> Clocks:
        return Clocks(self.entities[name].timezone or self.host(), self.host())

    def plan(self, name: str) -> None:
        """An entity's dates are told, and every rule hears of them."""
        kinds = {"publish"} if name == "e1" else {"recording", "booking"}
        for id_, made in self.rules.items():
            if kind(made) not in kinds:
                continue
            date = getattr(self.entities[name], kind(made))
            if date is None:
                self.living.pop((id_, name), None)
            elif made.enabled or (id_, name) in self.living:
                self.decide(made, name, date, self.clocks_of(name))

    def begin_with(self, made: Rule, *, coming: bool) -> None:
        """A rule is told of what is in the calendar, where its time is ahead."""
        for name, entity in self.entities.items():
            is_of = (name == "e1") == (kind(made) == "publish")
            date = getattr(entity, kind(made)) if is_of and coming else None
            clocks = self.clocks_of(name)
            if date is not None and due_at(made, date, clocks.guest) > self.now:
                self.decide(made, name, date, clocks)

    def plan_zones(self) -> None:
        """Living jobs go by the present timezones."""
        for (id_, name), job in list(self.living.items()):
            made, clocks = self.rules[id_], self.clocks_of(name)
            self.living[id_, name] = replace(job, timezone=clocks.guest)
            if made.offset_unit is OffsetUnit.DAYS or made.quiet_from:
                self.decide(made, name, job.reference_at, clocks)

    def decide(self, made: Rule, name: str, date: datetime, clocks: Clocks) -> None:
        """The rule's job for a date: it stays, it is replaced, or there is none."""
        place, old = (made.id, name), self.living.get((made.id, name))
        when = timing(made, TRIGGERS[made.trigger_type], date, clocks.guest, self.now)
        new = Job(
            date, when.due_at, opening(made, when.due_at, clocks, date), clocks.guest
        )
        promised = due_at(made, date, clocks.guest)
        if (
            old is not None
            and (old.reference_at, old.timezone) == (date, clocks.guest)
            and (old.due_at == promised or promised < self.now)
            and (old.run_at == new.run_at or old.run_at <= self.now)
        ):
            return
        self.living.pop(place, None)
        if when.reason is None and (*place, date, offset(made)) not in self.done:
            self.living[place] = new

    def come_due(self, made: Rule, name: str, job: Job) -> None:
        del self.living[made.id, name]
        if not made.enabled:
            return
        since = max(job.due_at, job.run_at)
        trigger = TRIGGERS[made.trigger_type]
        done = (made.id, name, job.reference_at, offset(made))
        if is_too_late(made, trigger, since, job.reference_at, self.now):
            self.done.add(done)
            return
        zone = self.clocks_of(name).of(made.settings)
        end = quiet_end(made, self.now, zone)
        if made.quiet_policy is QuietPolicy.SKIP:
            promised = min(job.due_at, self.now)
            end = end or quiet_end(made, promised, zone)
        if end is None:
            self.done.add(done)
        elif made.quiet_policy is QuietPolicy.WAIT:
            self.living[made.id, name] = replace(job, run_at=end)
