"""The lane ``replanning``: a changed rule's many jobs move piece by piece."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace
from datetime import datetime, timedelta
from itertools import count
from typing import Any
from uuid import UUID

import pytest
from sqlalchemy import func, select, update
from sqlalchemy.orm import Session, sessionmaker

from tasks.automation import following
from tasks.lanes import replanning, scheduled_jobs
from tasks.models import (
    Booking,
    BookingStatus,
    JobState,
    Measure,
    OffsetUnit,
    Replan,
    Rule,
    ScheduledJob,
)
from tasks.models.replan import ZoneMove
from tasks.operations.audit import Actor
from tasks.operations.rules import (
    RuleChange,
    RuleSaved,
    create_rule,
    delete_rule,
    edit_rule,
)
from tasks.secrets import SecretBox
from tests.support import factories
from tests.support.counted import counted
from tests.support.factories import NOW
from tests.support.fakes import FakePost, bench

Sessions = sessionmaker[Session]
ACTOR = Actor("ada@example.org")
BOX = SecretBox("0123456789abcdef0123456789abcdef")
REMINDER = RuleChange(
    name="Reminder",
    trigger_type="time.before_recording",
    action="email",
    settings=dict(factories.EMAIL_SETTINGS),
    offset_value=24,
    offset_unit=OffsetUnit.HOURS,
)
LATER = NOW + timedelta(minutes=5)


@pytest.fixture(autouse=True)
def few_are_many(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let three jobs be too many for one request."""
    monkeypatch.setattr(following, "AT_ONCE_MAX", 3)


def _house(make_session: Sessions, n_bookings: int) -> UUID:
    with make_session.begin() as session:
        tenant = factories.congregation(session)
        for number in range(n_bookings):
            start = NOW + timedelta(days=3, minutes=number)
            factories.booking(session, tenant, id=f"b{number}", start_time=start)
        return tenant


def _planned(make_session: Sessions, n_jobs: int) -> Rule:
    """Return a rule with pending jobs, as it was before the change."""
    tenant = _house(make_session, n_jobs)
    with make_session.begin() as session:
        rule = factories.reminder(session, tenant)
        for booking in session.scalars(select(Booking)).all():
            factories.job(
                session,
                rule,
                booking_id=booking.id,
                reference_at=booking.start_time,
                due_at=booking.start_time - timedelta(hours=24),
                run_at=booking.start_time - timedelta(hours=24),
            )
        return rule


def _edit(
    make_session: Sessions, rule: Rule, now: datetime = NOW, **to: Any
) -> RuleSaved:
    with make_session.begin() as session:
        change = replace(REMINDER, **to)
        return edit_rule(session, rule.id, change, ACTOR, BOX, now=now)


def _drain(make_session: Sessions, limit: int = 2) -> int:
    """Sweep until nothing is left; return how many sweeps that took."""
    found = bench(make_session, lambda: LATER, FakePost())
    n_sweeps = 0
    while replanning.sweep(found, limit).is_full:
        n_sweeps += 1
        assert n_sweeps < 50
    return n_sweeps


def _dues(make_session: Sessions) -> list[datetime]:
    with make_session() as session:
        return list(
            session.scalars(
                select(ScheduledJob.due_at)
                .where(ScheduledJob.state == JobState.PENDING)
                .order_by(ScheduledJob.due_at)
            )
        )


def _n_open(make_session: Sessions) -> int:
    with make_session() as session:
        return session.scalar(select(func.count()).select_from(Replan)) or 0


def test_few_jobs_move_with_the_saving(make_session: Sessions) -> None:
    rule = _planned(make_session, 3)
    saved = _edit(make_session, rule, offset_value=2)
    assert not saved.replanned.is_later
    assert _dues(make_session)[0] == NOW + timedelta(days=3, hours=-2)
    assert _n_open(make_session) == 0


def test_many_jobs_move_in_pieces_after_the_saving(make_session: Sessions) -> None:
    rule = _planned(make_session, 5)
    saved = _edit(make_session, rule, offset_value=2)
    assert saved.replanned.is_later
    assert _dues(make_session)[0] == NOW + timedelta(days=2)  # not yet
    assert _drain(make_session) == 4  # 2 + 2 + 1, and one look that finds nothing
    starts = [NOW + timedelta(days=3, minutes=n) for n in range(5)]
    assert _dues(make_session) == [start - timedelta(hours=2) for start in starts]
    assert _n_open(make_session) == 0
    # Each was ended and made anew, five minutes after the change.
    assert counted(make_session, "replanning") == {
        Measure.SUCCEEDED: 10,
        Measure.WAIT + 13: 10,
    }


def test_a_job_that_comes_due_before_its_turn_is_moved_instead_of_sent(
    make_session: Sessions,
) -> None:
    rule = _planned(make_session, 5)
    _edit(make_session, rule, offset_value=2)
    due = NOW + timedelta(days=2)
    swept = scheduled_jobs.sweep(bench(make_session, lambda: due, FakePost()), 10)
    assert swept.dispatched == ()
    assert _dues(make_session)[-1] == NOW + timedelta(days=3, hours=-2)
    assert len(_dues(make_session)) == 5


def test_a_slow_lane_costs_nobody_a_reminder(make_session: Sessions) -> None:
    rule = _planned(make_session, 5)
    # Due one minute after the change: the lane comes four minutes too late for it.
    minutes = 3 * 24 * 60 - 1
    _edit(make_session, rule, offset_value=minutes, offset_unit=OffsetUnit.MINUTES)
    _drain(make_session)
    assert len(_dues(make_session)) == 5


def test_what_was_cancelled_meanwhile_stays_cancelled(make_session: Sessions) -> None:
    rule = _planned(make_session, 5)
    _edit(make_session, rule, offset_value=2)
    with make_session.begin() as session:
        gone = ScheduledJob.booking_id == "b1"
        session.execute(update(ScheduledJob).where(gone).values(state="cancelled"))
        booking = session.get_one(Booking, (rule.congregation_id, "b1"))
        booking.status = BookingStatus.CANCELLED
    _drain(make_session)
    assert len(_dues(make_session)) == 4


def test_a_second_change_begins_anew_and_the_last_one_counts(
    make_session: Sessions,
) -> None:
    rule = _planned(make_session, 5)
    _edit(make_session, rule, offset_value=2)
    replanning.sweep(bench(make_session, lambda: LATER, FakePost()), 2)
    _edit(make_session, rule, offset_value=6, now=LATER)
    _drain(make_session)
    starts = [NOW + timedelta(days=3, minutes=n) for n in range(5)]
    assert _dues(make_session) == [start - timedelta(hours=6) for start in starts]


def test_a_long_calendar_is_planned_in_pieces(make_session: Sessions) -> None:
    tenant = _house(make_session, 5)
    with make_session.begin() as session:
        saved = create_rule(
            session, tenant, REMINDER, ACTOR, BOX, now=NOW, also_coming=True
        )
    assert saved.replanned.is_later
    assert _dues(make_session) == []
    _drain(make_session)
    assert len(_dues(make_session)) == 5
    assert _n_open(make_session) == 0


def test_a_rule_that_acts_long_after_its_date_has_much_to_look_at(
    make_session: Sessions,
) -> None:
    tenant = _house(make_session, 5)
    after = replace(
        REMINDER,
        trigger_type="time.after_recording",
        offset_value=30,
        offset_unit=OffsetUnit.DAYS,
    )
    later = NOW + timedelta(days=10)  # the bookings have been, the mails are to come
    with make_session.begin() as session:
        saved = create_rule(
            session, tenant, after, ACTOR, BOX, now=later, also_coming=True
        )
        assert saved.replanned.is_later
    _drain(make_session)
    assert len(_dues(make_session)) == 5


def test_the_planning_of_a_deleted_rule_is_dropped(make_session: Sessions) -> None:
    rule = _planned(make_session, 5)
    _edit(make_session, rule, offset_value=2)
    with make_session.begin() as session:
        delete_rule(session, rule.id, ACTOR, now=NOW)
    _drain(make_session)
    assert _dues(make_session) == []
    assert _n_open(make_session) == 0


def test_two_rules_take_turns(make_session: Sessions) -> None:
    rule = _planned(make_session, 5)
    _edit(make_session, rule, offset_value=2)
    with make_session.begin() as session:
        other = create_rule(
            session,
            rule.congregation_id,
            replace(REMINDER, name="Other"),
            ACTOR,
            BOX,
            now=NOW + timedelta(seconds=1),
            also_coming=True,
        ).rule
    found = bench(make_session, lambda: LATER, FakePost())
    worked = [replanning.sweep(found, 2).continued for _ in range(2)]
    assert worked == [(rule.id,), (other.id,)]


def test_a_rule_that_breaks_holds_up_nobody_else(
    make_session: Sessions, monkeypatch: pytest.MonkeyPatch
) -> None:
    broken = _planned(make_session, 5)
    _edit(make_session, broken, offset_value=6)
    with make_session.begin() as session:
        sound = factories.reminder(session, broken.congregation_id)
        for booking in session.scalars(select(Booking)).all():
            factories.job(session, sound, booking_id=booking.id)
        zone = ZoneMove(congregation_id=broken.congregation_id, podcast_id="")
        zone.was, zone.since, zone.touched_at = "Europe/Paris", NOW, NOW
        session.add(zone)
    _edit(make_session, sound, now=LATER, offset_value=6)
    work_off = replanning.work_off

    def break_down(session: Session, open_: Replan, rule: Rule, *, limit: int) -> bool:
        if rule.id == broken.id:
            open_.n_created += 1  # which is undone
            raise ZeroDivisionError
        return work_off(session, open_, rule, limit=limit)

    monkeypatch.setattr(replanning, "work_off", break_down)
    minutes = count(1)
    found = bench(
        make_session, lambda: LATER + timedelta(minutes=next(minutes)), FakePost()
    )
    for _ in range(20):
        with suppress(ZeroDivisionError):
            replanning.sweep(found, 10)
    with pytest.raises(ZeroDivisionError):
        replanning.sweep(found, 10)
    with make_session() as session:
        left = session.scalars(select(Replan)).all()
        assert [(each.rule_id, each.n_created) for each in left] == [(broken.id, 0)]
        assert session.scalars(select(ZoneMove)).all() == []


def test_nothing_open_is_nothing_to_do(make_session: Sessions) -> None:
    found = bench(make_session, lambda: NOW, FakePost())
    assert replanning.sweep(found, 10) == replanning.ReplanSweep()
    with make_session() as session:
        assert replanning.backlog(session, NOW).n_due == 0


def test_the_backlog_counts_rules(make_session: Sessions) -> None:
    _edit(make_session, _planned(make_session, 5), offset_value=2)
    with make_session() as session:
        waiting = replanning.backlog(session, LATER)
    assert (waiting.n_due, waiting.oldest_due_at) == (1, NOW)
