"""Whatever happens in whatever order, the living jobs are those that should be.

A small model beside the product is told the same: dates, rules, timezones, time.  It
decides with the pure functions of ``lateness`` and ``quiet`` alone, and after each
step the pending jobs of the database are exactly its own.

``HISTORIES=1000`` tries that many histories, always other ones; without it a dozen,
always the same.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID, uuid4

import hypothesis.strategies as st
import pytest
from hypothesis import HealthCheck, Phase, settings
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)
from sqlalchemy.orm import Session, sessionmaker

from tasks.automation import bookings, episodes, podcasts
from tasks.automation.lateness import due_at, is_too_late, timing
from tasks.automation.quiet import Clocks, opening, quiet_end
from tasks.automation.triggers import TRIGGERS
from tasks.lanes.scheduled_jobs import sweep
from tasks.models import (
    Booking,
    BookingStatus,
    Congregation,
    Episode,
    JobState,
    LatePolicy,
    OffsetUnit,
    Podcast,
    QuietPolicy,
    Rule,
    ScheduledJob,
)
from tasks.operations.audit import Actor
from tasks.operations.congregations import CongregationChange, edit_congregation
from tasks.operations.rules import (
    RuleChange,
    create_rule,
    delete_rule,
    disable_rule,
    edit_rule,
    enable_rule,
)
from tasks.secrets import SecretBox
from tests.support.fakes import FakePost, bench
from tests.tasks.automation.conftest import NOW

N_HISTORIES = int(os.environ.get("HISTORIES", "0"))
BOX = SecretBox("0123456789abcdef0123456789abcdef")
ACTOR = Actor("ada@example.org")
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
_TIMED = ("offset_value", "offset_unit", "offset_at", "quiet_from", "quiet_policy")


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


def _kind(made: Rule) -> str:
    return TRIGGERS[made.trigger_type].reference or ""


def _offset(made: Rule) -> tuple[object, ...]:
    return made.offset_value, made.offset_unit, made.offset_at


class Histories(RuleBasedStateMachine):
    """One congregation with two bookings, an episode and up to four rules."""

    def __init__(self, make_session: sessionmaker[Session]) -> None:
        super().__init__()
        self.make_session = make_session
        self.now = NOW
        self.rules: dict[UUID, Rule] = {}
        self.living: dict[tuple[UUID, str], Job] = {}
        self.done: set[tuple[object, ...]] = set()
        self.house, self.podcast = "Europe/Berlin", None
        self.entities = {"b1": Entity(), "b2": Entity(), "e1": Entity()}
        self.starts = {"b1": STARTS[0], "b2": STARTS[1]}

    @initialize(changes=st.lists(st.sampled_from(CHANGES), min_size=2, max_size=3))
    def begin(self, changes: list[RuleChange]) -> None:
        """Begin where it is of interest: rules are on, and bookings confirmed."""
        self._set_up()
        for change in changes:
            self.write_rule(change, coming=False, enabled=True)
        for name in self.starts:
            self.confirm(name)

    def _set_up(self) -> None:
        made = Congregation(slug=str(uuid4()), name="House", timezone=self.house)
        with self.make_session.begin() as session:
            session.add(made)
            session.flush()
            self.of = made.id
            session.add(Podcast(congregation_id=self.of, id="show", title="Show"))
            session.flush()
            for name, start in self.starts.items():
                session.add(self._booking(name, start))
            session.add(
                Episode(
                    congregation_id=self.of, id="e1", podcast_id="show", title="Bells"
                )
            )

    def _booking(self, name: str, start: datetime) -> Booking:
        return Booking(
            congregation_id=self.of,
            id=name,
            podcast_id="show",
            guest_email="zoe@example.org",
            start_time=start,
            status=BookingStatus.REQUESTED,
        )

    @contextmanager
    def _changing(self) -> Iterator[Session]:
        """One change, a few minutes later than the last."""
        self.now += timedelta(minutes=7)
        with self.make_session.begin() as session:
            yield session

    # What happens to bookings and episodes

    @rule(name=st.sampled_from(["b1", "b2"]))
    def confirm(self, name: str) -> None:
        with self._changing() as session:
            changed = bookings.confirm(session, self.of, name, now=self.now).changed
        if changed:
            entity = self.entities[name]
            entity.recording, entity.booking = self.starts[name], self.now
            self._plan(name)

    @rule(name=st.sampled_from(["b1", "b2"]))
    def cancel(self, name: str) -> None:
        with self._changing() as session:
            bookings.cancel(session, self.of, name, now=self.now)
        entity = self.entities[name]
        entity.recording = entity.booking = None
        self._plan(name)

    @rule(name=st.sampled_from(["b1", "b2"]), start=st.sampled_from(STARTS))
    def reschedule(self, name: str, start: datetime) -> None:
        with self._changing() as session:
            row = session.get_one(Booking, (self.of, name))
            if row.status is BookingStatus.CANCELLED:
                return
            bookings.reschedule(session, self.of, name, start, now=self.now)
        self.starts[name] = start
        if (entity := self.entities[name]).recording not in {None, start}:
            entity.recording = start
            self._plan(name)

    @rule(name=st.sampled_from(["b1", "b2"]), zone=st.sampled_from([None, *ZONES]))
    def move_guest(self, name: str, zone: str | None) -> None:
        entity = self.entities[name]
        with self._changing() as session:
            bookings.save_booking(session, self.of, name, timezone=zone, now=self.now)
        if zone != entity.timezone:
            entity.timezone = zone
            if entity.recording is not None:
                self._plan(name)

    @precondition(lambda self: not self._is_out())
    @rule(date=st.sampled_from(STARTS))
    def schedule_episode(self, date: datetime) -> None:
        with self._changing() as session:
            episodes.schedule(session, self.of, "e1", date, now=self.now)
        if self.entities["e1"].publish != date:
            self.entities["e1"].publish = date
            self._plan("e1")

    @precondition(lambda self: not self._is_out() and self.entities["e1"].publish)
    @rule()
    def take_date_away(self) -> None:
        with self._changing() as session:
            episodes.reschedule(
                session, self.of, "e1", scheduled_for=None, now=self.now
            )
        self.entities["e1"].publish = None
        self._plan("e1")

    @precondition(lambda self: not self._is_out())
    @rule()
    def publish(self) -> None:
        with self._changing() as session:
            episodes.publish(session, self.of, "e1", now=self.now)
        self.entities["e1"].publish = self.now
        self._plan("e1")

    def _is_out(self) -> bool:
        date = self.entities["e1"].publish
        return date is not None and date <= self.now

    # What operators do

    @precondition(lambda self: len(self.rules) < 4)
    @rule(change=st.sampled_from(CHANGES), coming=st.booleans(), enabled=st.booleans())
    def write_rule(self, change: RuleChange, coming: bool, enabled: bool) -> None:
        with self._changing() as session:
            made = create_rule(
                session,
                self.of,
                change,
                ACTOR,
                BOX,
                now=self.now,
                enabled=enabled,
                also_coming=coming,
            ).rule
        self.rules[made.id] = made
        self._begin_with(made, coming=coming)

    @precondition(lambda self: self.rules)
    @rule(data=st.data(), coming=st.booleans())
    def edit(self, data: st.DataObject, coming: bool) -> None:
        id_ = data.draw(st.sampled_from(sorted(self.rules)))
        before = self.rules[id_]
        same = [c for c in CHANGES if c.trigger_type == before.trigger_type]
        change = data.draw(st.sampled_from(same))
        with self._changing() as session:
            made = edit_rule(
                session, id_, change, ACTOR, BOX, now=self.now, also_coming=coming
            ).rule
        self.rules[id_] = made
        if any(getattr(before, name) != getattr(made, name) for name in _TIMED):
            for (of, name), job in list(self.living.items()):
                if of == id_:
                    del self.living[of, name]
                    zones = Clocks(job.timezone, self._host())
                    self._decide(made, name, job.reference_at, zones)
        self._begin_with(made, coming=coming)

    @precondition(lambda self: self.rules)
    @rule(data=st.data(), coming=st.booleans())
    def enable(self, data: st.DataObject, coming: bool) -> None:
        id_ = data.draw(st.sampled_from(sorted(self.rules)))
        with self._changing() as session:
            made = enable_rule(
                session, id_, ACTOR, now=self.now, also_coming=coming
            ).rule
        self.rules[id_] = made
        self._begin_with(made, coming=coming)

    @precondition(lambda self: self.rules)
    @rule(data=st.data())
    def disable(self, data: st.DataObject) -> None:
        id_ = data.draw(st.sampled_from(sorted(self.rules)))
        with self._changing() as session:
            self.rules[id_] = disable_rule(session, id_, ACTOR, now=self.now).rule

    @precondition(lambda self: self.rules)
    @rule(data=st.data())
    def delete(self, data: st.DataObject) -> None:
        id_ = data.draw(st.sampled_from(sorted(self.rules)))
        with self._changing() as session:
            delete_rule(session, id_, ACTOR, now=self.now)
        del self.rules[id_]
        self.living = {key: job for key, job in self.living.items() if key[0] != id_}

    @rule(zone=st.sampled_from(ZONES))
    def move_house(self, zone: str) -> None:
        with self._changing() as session:
            slug = session.get_one(Congregation, self.of).slug
            change = CongregationChange(slug, "House", "en", zone)
            edit_congregation(session, self.of, change, ACTOR, now=self.now)
        self.house = zone
        self._plan_zones()

    @rule(zone=st.sampled_from([None, *ZONES]))
    def move_podcast(self, zone: str | None) -> None:
        with self._changing() as session:
            podcasts.save_podcast(session, self.of, "show", timezone=zone, now=self.now)
        self.podcast = zone
        self._plan_zones()

    # What time does

    @rule(minutes=st.sampled_from([20, 90, 700]))
    def wait(self, minutes: int) -> None:
        self.now += timedelta(minutes=minutes)

    @rule()
    def work(self) -> None:
        sweep(bench(self.make_session, lambda: self.now, FakePost()), 500)
        for (id_, name), job in list(self.living.items()):
            if job.run_at <= self.now:
                self._come_due(self.rules[id_], name, job)

    # The model

    def _host(self) -> str:
        return self.podcast or self.house

    def _clocks(self, name: str) -> Clocks:
        return Clocks(self.entities[name].timezone or self._host(), self._host())

    def _plan(self, name: str) -> None:
        """An entity's dates are told, and every rule hears of them."""
        kinds = {"publish"} if name == "e1" else {"recording", "booking"}
        for id_, made in self.rules.items():
            if _kind(made) not in kinds:
                continue
            date = getattr(self.entities[name], _kind(made))
            if date is None:
                self.living.pop((id_, name), None)
            elif made.enabled or (id_, name) in self.living:
                self._decide(made, name, date, self._clocks(name))

    def _begin_with(self, made: Rule, *, coming: bool) -> None:
        """A rule is told of what is in the calendar, where its time is ahead."""
        for name, entity in self.entities.items():
            is_of = (name == "e1") == (_kind(made) == "publish")
            date = getattr(entity, _kind(made)) if is_of and coming else None
            clocks = self._clocks(name)
            if date is not None and due_at(made, date, clocks.guest) > self.now:
                self._decide(made, name, date, clocks)

    def _plan_zones(self) -> None:
        """Living jobs go by the present timezones."""
        for (id_, name), job in list(self.living.items()):
            made, clocks = self.rules[id_], self._clocks(name)
            self.living[id_, name] = replace(job, timezone=clocks.guest)
            if made.offset_unit is OffsetUnit.DAYS or made.quiet_from:
                self._decide(made, name, job.reference_at, clocks)

    def _decide(self, made: Rule, name: str, date: datetime, clocks: Clocks) -> None:
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
        if when.reason is None and (*place, date, _offset(made)) not in self.done:
            self.living[place] = new

    def _come_due(self, made: Rule, name: str, job: Job) -> None:
        del self.living[made.id, name]
        if not made.enabled:
            return
        since = max(job.due_at, job.run_at)
        trigger = TRIGGERS[made.trigger_type]
        done = (made.id, name, job.reference_at, _offset(made))
        if is_too_late(made, trigger, since, job.reference_at, self.now):
            self.done.add(done)
            return
        zone = self._clocks(name).of(made.settings)
        end = quiet_end(made, self.now, zone)
        if made.quiet_policy is QuietPolicy.SKIP:
            promised = min(job.due_at, self.now)
            end = end or quiet_end(made, promised, zone)
        if end is None:
            self.done.add(done)
        elif made.quiet_policy is QuietPolicy.WAIT:
            self.living[made.id, name] = replace(job, run_at=end)

    @invariant()
    def the_living_jobs_are_those_that_should_be(self) -> None:
        if not hasattr(self, "of"):
            return
        with self.make_session() as session:
            rows = (
                session.query(ScheduledJob)
                .filter_by(congregation_id=self.of, state=JobState.PENDING)
                .all()
            )
        found = [
            (
                (row.rule_id, row.booking_id or row.episode_id),
                Job(row.reference_at, row.due_at, row.run_at, row.timezone),
            )
            for row in rows
        ]
        assert dict(found) == self.living
        assert len(found) == len(self.living)


@pytest.mark.timeout(7_200)
def test_any_history_leaves_exactly_the_jobs_that_should_be(
    make_session: sessionmaker[Session],
) -> None:
    run_state_machine_as_test(
        lambda: Histories(make_session),
        settings=settings(
            max_examples=N_HISTORIES or 12,
            stateful_step_count=20,
            phases=[Phase.generate],  # to shrink a history takes minutes
            derandomize=not N_HISTORIES,
            database=None,
            deadline=None,
            suppress_health_check=list(HealthCheck),
        ),
    )
