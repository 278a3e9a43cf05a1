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
from datetime import datetime, timedelta
from uuid import uuid4

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
from tasks.automation.quiet import Clocks
from tasks.lanes.scheduled_jobs import sweep
from tasks.models import (
    Booking,
    BookingStatus,
    Congregation,
    Episode,
    JobState,
    Podcast,
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
from tests.tasks.automation.history_model import (
    CHANGES,
    STARTS,
    TIMED,
    ZONES,
    Job,
    Model,
)

N_HISTORIES = int(os.environ.get("HISTORIES", "0"))
BOX = SecretBox("0123456789abcdef0123456789abcdef")
ACTOR = Actor("ada@example.org")


class Histories(RuleBasedStateMachine, Model):
    """One congregation with two bookings, an episode and up to four rules."""

    def __init__(self, make_session: sessionmaker[Session]) -> None:
        super().__init__()
        self.make_session = make_session
        Model.__init__(self)
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
            self.plan(name)

    @rule(name=st.sampled_from(["b1", "b2"]))
    def cancel(self, name: str) -> None:
        with self._changing() as session:
            bookings.cancel(session, self.of, name, now=self.now)
        entity = self.entities[name]
        entity.recording = entity.booking = None
        self.plan(name)

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
            self.plan(name)

    @rule(name=st.sampled_from(["b1", "b2"]), zone=st.sampled_from([None, *ZONES]))
    def move_guest(self, name: str, zone: str | None) -> None:
        entity = self.entities[name]
        with self._changing() as session:
            bookings.save_booking(session, self.of, name, timezone=zone, now=self.now)
        if zone != entity.timezone:
            entity.timezone = zone
            if entity.recording is not None:
                self.plan(name)

    @precondition(lambda self: not self._is_out())
    @rule(date=st.sampled_from(STARTS))
    def schedule_episode(self, date: datetime) -> None:
        with self._changing() as session:
            episodes.schedule(session, self.of, "e1", date, now=self.now)
        if self.entities["e1"].publish != date:
            self.entities["e1"].publish = date
            self.plan("e1")

    @precondition(lambda self: not self._is_out() and self.entities["e1"].publish)
    @rule()
    def take_date_away(self) -> None:
        with self._changing() as session:
            episodes.reschedule(
                session, self.of, "e1", scheduled_for=None, now=self.now
            )
        self.entities["e1"].publish = None
        self.plan("e1")

    @precondition(lambda self: not self._is_out())
    @rule()
    def publish(self) -> None:
        with self._changing() as session:
            episodes.publish(session, self.of, "e1", now=self.now)
        self.entities["e1"].publish = self.now
        self.plan("e1")

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
        self.begin_with(made, coming=coming)

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
        if any(getattr(before, name) != getattr(made, name) for name in TIMED):
            for (of, name), job in list(self.living.items()):
                if of == id_:
                    del self.living[of, name]
                    zones = Clocks(job.timezone, self.host())
                    self.decide(made, name, job.reference_at, zones)
        self.begin_with(made, coming=coming)

    @precondition(lambda self: self.rules)
    @rule(data=st.data(), coming=st.booleans())
    def enable(self, data: st.DataObject, coming: bool) -> None:
        id_ = data.draw(st.sampled_from(sorted(self.rules)))
        with self._changing() as session:
            made = enable_rule(
                session, id_, ACTOR, now=self.now, also_coming=coming
            ).rule
        self.rules[id_] = made
        self.begin_with(made, coming=coming)

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
        self.plan_zones()

    @rule(zone=st.sampled_from([None, *ZONES]))
    def move_podcast(self, zone: str | None) -> None:
        with self._changing() as session:
            podcasts.save_podcast(session, self.of, "show", timezone=zone, now=self.now)
        self.podcast = zone
        self.plan_zones()

    # What time does

    @rule(minutes=st.sampled_from([20, 90, 700]))
    def wait(self, minutes: int) -> None:
        self.now += timedelta(minutes=minutes)

    @rule()
    def work(self) -> None:
        sweep(bench(self.make_session, lambda: self.now, FakePost()), 500)
        for (id_, name), job in list(self.living.items()):
            if job.run_at <= self.now:
                self.come_due(self.rules[id_], name, job)

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
