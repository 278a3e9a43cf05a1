"""How systems of this kind failed in public, and what the seed would have got wrong.

Each row names its case, "C5" one that was reported of another system, "A2" a defect of
the seed, and the right value.  What other tests prove is named in ``ELSEWHERE``.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import select

from tasks.automation import (
    UNSET,
    AutomationEvent,
    bookings,
    emit_automation_event,
    emit_events,
    reschedule_time_based_jobs_for_episode,
    schedule_time_based_jobs_for_booking,
    schedule_time_based_jobs_for_episode,
)
from tasks.automation.replan import plan_coming
from tasks.backoff import wait_after
from tasks.lanes import executions, scheduled_jobs
from tasks.models import (
    Booking,
    ExecutionContext,
    OffsetUnit,
    Podcast,
    Rule,
    ScheduledJob,
)
from tasks.operations.audit import Actor
from tasks.operations.rules import RuleChange, create_rule, edit_rule, enable_rule
from tasks.secrets import SecretBox
from tests.support.fakes import FakePost, bench
from tests.tasks.automation.conftest import NOW, World, make_world

ROOT = Path(__file__).parents[3]
ACTOR, BOX = Actor("ada@example.org"), SecretBox("0123456789abcdef0123456789abcdef")
START = NOW + timedelta(days=3)
HOOK = {"action": "webhook", "settings": {"url": "https://example.org/hook"}}
DAY = timedelta(days=1)


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


def nothing_after_cancelling(case: Case) -> object:
    case.remind()
    case.world.rule("booking.confirmed")
    case.book()
    case.do(bookings.cancel, "b1")
    case.world.rule("booking.confirmed")
    return case.work(START - DAY), case.jobs()


def every_channel_ends(case: Case) -> object:
    case.remind()
    case.remind(2, **HOOK)
    case.book()
    case.do(bookings.cancel, "b1")
    return case.jobs()


def one_seat_of_two(case: Case) -> object:
    case.remind()
    case.book("b1", episode_id="e1")
    case.book("b2", episode_id="e1")
    case.do(bookings.cancel, "b1")
    return [job.booking_id for job in case.living()]


def there_and_back(case: Case) -> object:
    case.remind()
    case.book()
    for start in (START + DAY, START):
        case.do(bookings.reschedule, "b1", start)
    return [job.due_at for job in case.living()], case.work(START - DAY)


def another_host(case: Case) -> object:
    host = {"recipient": "host", "subject": "Hello", "text": "Hello", "html": ""}
    case.remind(settings=host)
    case.book()
    case.set(Podcast, (case.world.id, "show"), host_email="eve@example.org")
    case.work(START - DAY)
    return [message["to"] for _, message in case.post.sent]


def booked_inside_the_window(case: Case) -> object:
    case.remind(72)
    case.book(start=NOW + DAY)
    return case.work(NOW), case.jobs()


def never_early(case: Case) -> object:
    case.remind(24)
    case.remind(1)
    case.book()
    at = START - DAY
    return [case.work(NOW), case.work(at - timedelta(seconds=1)), case.work(at)]


def caught_up_once(case: Case) -> object:
    case.remind(trigger="time.after_recording", hours=1)
    case.book()
    late = START + timedelta(hours=21)
    return case.work(late), case.work(late)


def far_too_late(case: Case) -> object:
    for number in range(4):
        case.book(f"b{number}", start=NOW + number * DAY)
    rule = case.remind(2)
    with case.world.make_session.begin() as session:
        plan_coming(session, session.merge(rule), now=NOW - DAY)
    return case.work(NOW + 300 * DAY), {state for state, _ in case.jobs()}


def told_by_the_row(case: Case) -> object:
    case.remind()
    case.book()
    return case.work(START - DAY + timedelta(hours=2)), case.jobs()


def the_guests_clock(case: Case) -> object:
    says = {"recipient": "guest", "subject": "Hello", "html": ""}
    when = "{{ booking.start_time | date: '%H:%M' }} {{ booking.timezone }}"
    case.remind(settings={**says, "text": when})
    case.book(timezone="Asia/Kathmandu")
    case.work(START - DAY)
    return [message["text"] for _, message in case.post.sent]


def on_days_when_clocks_change(case: Case) -> object:
    """02:30 does not exist on 29 March, and exists twice on 25 October."""
    eve = {"offset_unit": OffsetUnit.DAYS, "offset_at": "02:30"}
    case.remind(1, **eve)
    case.book("b1", start=datetime(2026, 3, 30, 9, tzinfo=UTC))
    case.book("b2", start=datetime(2026, 10, 26, 9, tzinfo=UTC))
    due = sorted(job.due_at for job in case.living())
    sent = [case.work(at + late) for at in due for late in (-_MINUTE, 0 * DAY, _HOUR)]
    return [at.isoformat()[:16] for at in due], sent


_MINUTE, _HOUR = timedelta(minutes=1), timedelta(hours=1)
_MAIL = RuleChange(
    "Reminder",
    "time.before_recording",
    "email",
    {"recipient": "guest", "subject": "Hello", "text": "Hello", "html": ""},
    offset_value=24,
)


def _written(case: Case, hours: int = 24) -> Rule:
    change = _hours(hours)
    with case.world.make_session.begin() as session:
        of = case.world.id
        return create_rule(session, of, change, ACTOR, BOX, now=NOW).rule


def _hours(hours: int) -> RuleChange:
    return replace(_MAIL, offset_value=hours)


def edit_moves_what_is_ahead(case: Case) -> object:
    rule = _written(case)
    case.book("b1", start=NOW + DAY)
    case.book("b2")
    sent = case.work(NOW)
    with case.world.make_session.begin() as session:
        edit_rule(session, rule.id, _hours(30), ACTOR, BOX, now=NOW)
    return sent, [job.due_at for job in case.living()], case.work(START - DAY)


def off_or_deleted(case: Case) -> object:
    off, gone = case.remind(24), case.remind(24)
    case.book()
    case.set(Rule, off.id, enabled=False)
    case.set(Rule, gone.id, deleted_at=NOW)
    return case.work(START - DAY), case.jobs()


def off_and_on_again(case: Case) -> object:
    rule = case.remind()
    case.book()
    case.set(Rule, rule.id, enabled=False)
    case.do(bookings.reschedule, "b1", START + DAY)
    case.set(Rule, rule.id, enabled=True)
    return [job.due_at for job in case.living()], case.work(START)


def enabled_for_the_future_only(case: Case) -> object:
    case.book("b1")
    case.book("b2", start=NOW + timedelta(hours=5))
    rules = [case.remind(enabled=False), case.world.rule("booking.canceled")]
    with case.world.make_session.begin() as session:
        for rule in rules:
            enable_rule(session, rule.id, ACTOR, now=NOW, also_coming=True)
    return [job.booking_id for job in case.living()], case.work(NOW)


def a_link_that_is_missing(case: Case) -> object:
    says = {"recipient": "guest", "subject": "Hello", "html": ""}
    case.world.rule(
        "booking.confirmed", settings={**says, "text": "{{ booking.meeting_url }}"}
    )
    case.book()
    return case.work(NOW), case.ends()


def nobody_is_called_none(case: Case) -> object:
    says = {"recipient": "guest", "subject": "Hello", "html": ""}
    text = "Dear {{ booking.guest_phone | default: 'friend' }}"
    case.world.rule("booking.confirmed", settings={**says, "text": text})
    case.book()
    case.work(NOW)
    return [message["text"] for _, message in case.post.sent]


def retries_spread(case: Case) -> object:
    chances = iter([n / 100 for n in range(100)])
    return len({wait_after(3, chance=lambda: next(chances)) for _ in range(100)})


def not_confirmed_not_reminded(case: Case) -> object:
    case.remind()
    case.world.booking(status="requested", confirmed_at=None)
    at = START
    with case.world.make_session.begin() as session:
        schedule_time_based_jobs_for_booking(
            session, "b1", "show", None, None, at, NOW,
            congregation_id=case.world.id, now=NOW,
        )  # fmt: skip
    return case.work(START - DAY), case.jobs()


def rolled_back(case: Case) -> object:
    case.world.rule("booking.confirmed")
    case.world.booking(status="requested", confirmed_at=None)
    with case.world.make_session() as session:
        bookings.confirm(session, case.world.id, "b1", now=NOW)
        session.rollback()
    return case.work(NOW), case.world.events(), case.jobs()


def far_ahead(case: Case) -> object:
    case.remind(1)
    case.book(start=NOW + 300 * DAY)
    [job] = case.living()
    return job.run_at, case.work(NOW), case.ends()


def naive_dates(case: Case) -> object:
    case.world.booking()
    naive = START.replace(tzinfo=None)
    with case.world.make_session.begin() as session:
        return schedule_time_based_jobs_for_booking(
            session, "b1", "show", None, None, naive, NOW,
            congregation_id=case.world.id, now=NOW,
        ).error_code  # fmt: skip


def twice_in_a_day(case: Case) -> object:
    case.world.rule("booking.rescheduled")
    case.book()
    for hours in (1, 2):
        at = NOW + hours * _HOUR
        case.do(bookings.reschedule, "b1", START + hours * _HOUR, now=at)
    told = {"event_id": "x1", "trigger": "booking.rescheduled"}
    case.emit(**told)
    again = case.emit(**told, now=NOW + DAY)
    return len(case.world.executions()), again.is_duplicate


def confirmed_again(case: Case) -> object:
    case.remind()
    case.book()
    case.do(bookings.cancel, "b1")
    case.do(bookings.confirm, "b1")
    return len(case.living()), case.work(START - DAY)


def another_offset(case: Case) -> object:
    rule = _written(case)
    case.book()
    with case.world.make_session.begin() as session:
        edit_rule(session, rule.id, _hours(48), ACTOR, BOX, now=NOW)
    return [START - job.due_at for job in case.living()]


def a_repeated_confirmation(case: Case) -> object:
    case.world.rule("time.after_booking", offset_value=1)
    case.book()
    for minutes in (0, 10):
        with case.world.make_session.begin() as session:
            schedule_time_based_jobs_for_booking(
                session, "b1", "show", None, None, START, NOW + minutes * _MINUTE,
                congregation_id=case.world.id, now=NOW + minutes * _MINUTE,
            )  # fmt: skip
    return len(case.world.jobs())


def a_date_left_out(case: Case) -> object:
    case.world.episode()
    case.remind(48, trigger="time.before_publish")
    of = {"congregation_id": case.world.id, "now": NOW}
    out = NOW + 9 * DAY
    with case.world.make_session.begin() as session:
        schedule_time_based_jobs_for_episode(session, "e1", "show", out, **of)
        reschedule_time_based_jobs_for_episode(
            session, "e1", "show", START, UNSET, **of
        )
    return len(case.living())


def a_corrected_address(case: Case) -> object:
    case.remind()
    case.book()
    case.set(Booking, (case.world.id, "b1"), guest_email="new@example.org")
    case.work(START - DAY)
    return [message["to"] for _, message in case.post.sent]


def one_duplicate_of_three(case: Case) -> object:
    case.world.rule("booking.confirmed")
    names = ["b1", "b2", "b3"]
    for name in names:
        case.world.booking(name)
    case.emit()
    payloads = [
        AutomationEvent(
            "booking.confirmed", "show", booking_id=name, congregation_id=case.world.id
        )
        for name in names
    ]
    with case.world.make_session.begin() as session:
        results = emit_events(session, payloads, now=NOW)
    return [result.executions_created for result in results]


def looked_at_again(case: Case) -> object:
    case.world.rule("booking.confirmed")
    case.book()
    case.set(Booking, (case.world.id, "b1"), status="cancelled")
    return case.work(NOW), case.ends()


def reminders_of_reminders(case: Case) -> object:
    case.world.rule("guest.reminder_sent")
    told = {"trigger": "guest.reminder_sent", "guest_id": "g1", "booking_id": None}
    fired = [
        case.emit(**told, event_id=str(n), depth=n).executions_created for n in range(6)
    ]
    return sum(fired) < len(fired), ("no", "loop_guard") in case.world.decisions()


def no_secret_in_a_snapshot(case: Case) -> object:
    case.world.rule("booking.confirmed")
    case.book(guest_id="g1")
    with case.world.make_session() as session:
        kept = session.scalars(select(ExecutionContext)).one()
    return "let-me-in" in repr(kept.context), kept.context["guest"]["name"]


def tenants_apart(case: Case) -> object:
    twin = make_world(case.world.make_session, "twin")
    twin.rule("booking.confirmed")
    twin.booking()
    case.book()
    return len(twin.executions()), case.emit(congregation_id=twin.id).success


@dataclass(frozen=True)
class Known:
    """One known case: what happens here, and the right value of it."""

    id: str
    happens: Callable[[Case], object]
    right: object


_CANCELLED = ("cancelled", "booking_cancelled")
_EVE = START - DAY
KNOWN = [
    Known("C1-mail-after-cancelling", nothing_after_cancelling, (0, [_CANCELLED])),
    Known("C2-other-channels-live-on", every_channel_ends, [_CANCELLED] * 2),
    Known("C3-one-seat-cancelled", one_seat_of_two, ["b2"]),
    Known("C4-still-queued-after-cancelling", every_channel_ends, [_CANCELLED] * 2),
    Known("C5-A2-there-and-back", there_and_back, ([_EVE], 1)),
    Known("C6-A7-old-host-mailed", another_host, ["eve@example.org"]),
    Known(
        "C7-A6-booked-inside-the-window",
        booked_inside_the_window,
        (0, [("skipped", "offset_in_past")]),
    ),
    Known("C9-all-at-booking", never_early, [0, 0, 1]),
    Known("C11-missed-for-ever", caught_up_once, (1, 1)),
    Known("C12-a-year-late", far_too_late, (0, {"missed"})),
    Known("C13-queue-decides-lateness", told_by_the_row, (1, [("dispatched", "")])),
    Known("C14-wrong-clock", the_guests_clock, ["17:45 Asia/Kathmandu"]),
    Known(
        "C16-clock-changes",
        on_days_when_clocks_change,
        (["2026-03-29T01:00", "2026-10-25T00:30"], [0, 1, 1, 1, 2, 2]),
    ),
    Known(
        "C17-edit-drops-reminders",
        edit_moves_what_is_ahead,
        (1, [START - timedelta(hours=30)], 2),
    ),
    Known(
        "C18-A10-off-or-deleted-fires",
        off_or_deleted,
        (0, [("skipped", "rule_deleted"), ("skipped", "rule_disabled")]),
    ),
    Known("C18-off-and-on-loses-jobs", off_and_on_again, ([START], 1)),
    Known("C19-enabling-mails-everybody", enabled_for_the_future_only, (["b1"], 0)),
    Known(
        "C20-blank-link", a_link_that_is_missing, (0, [("failed", "missing_variable")])
    ),
    Known("C21-dear-none", nobody_is_called_none, ["Dear friend"]),
    Known("C29-retries-in-step", retries_spread, 100),
    Known("C32-A8-rolled-back-fires", rolled_back, (0, [], [])),
    Known("C33-long-waits-in-the-broker", far_ahead, (NOW + 300 * DAY - _HOUR, 0, [])),
    Known(
        "C39-unconfirmed-reminded",
        not_confirmed_not_reminded,
        (0, [("skipped", "not_confirmed")]),
    ),
    Known("C41-naive-instants", naive_dates, "naive_datetime"),
    Known("A1-date-in-the-key", twice_in_a_day, (3, True)),
    Known("A2-confirmed-again", confirmed_again, (1, 1)),
    Known("A3-key-without-offset", another_offset, [timedelta(hours=48)]),
    Known("A4-now-as-reference", a_repeated_confirmation, 1),
    Known("A5-absent-is-not-null", a_date_left_out, 1),
    Known("A7-corrected-address", a_corrected_address, ["new@example.org"]),
    Known("A9-one-duplicate-voids-all", one_duplicate_of_three, [0, 1, 1]),
    Known(
        "A10-no-look-before-sending",
        looked_at_again,
        (0, [("skipped", "booking_cancelled")]),
    ),
    Known("A11-reminders-of-reminders", reminders_of_reminders, (True, True)),
    Known("A12-secret-in-a-snapshot", no_secret_in_a_snapshot, (False, "Ada")),
    Known("A13-tenants-mixed", tenants_apart, (0, True)),
]

#: Cases that other tests prove: where, and by which test.
ELSEWHERE = {
    "C21-unknown-tag": ("tasks/templating/test_checking", "a_bad_template_is_refused"),
    "C23-many-workers-one-send": ("tasks/lanes/test_executions", "running_twice_does"),
    "C23-edit-races-sender": ("tasks/lanes/test_executions", "a_late_writer_is_shut"),
    "C24-webhook-changes": ("tasks/outbound/test_web", "every_attempt_has_the_same"),
    "C24-lost-answer": ("tasks/outbound/test_web", "a_lost_answer_is_unknown"),
    "C25-unsubscribed": ("tasks/lanes/test_mails", "who_unsubscribed_gets_only"),
    "C26-private-targets": ("tasks/outbound/test_web", "a_name_is_looked_up_once"),
    "C27-no-deadline": ("tasks/outbound/test_web", "no_receiver_can_hold_us_longer"),
    "C28-dead-endpoint": ("tasks/outbound/test_answers", "410_ends_it"),
    "C28-endless-retries": ("tasks/lanes/test_executions", "the_last_attempt_fails"),
    "C31-signature": ("tasks/outbound/test_web", "a_receiver_can_verify_what_it_gets"),
    "C34-killed-worker": ("chaos/test_kill", "killed_workers_lose_nothing"),
    "C35-template-runs-code": ("tasks/automation/test_messages", "nothing_of_python"),
    "C38-endless-rules": ("tasks/automation/test_events", "rules_that_keep_triggering"),
    "C43-database-is-locked": ("tasks/automation/test_scheduler", "planners_racing"),
    "C45-backlog-unnoticed": ("dashboard/test_overview", "each_trouble_has_a_tile"),
    "C48-two-reminders": ("tasks/automation/test_scheduler", "two_planners_racing"),
    "C49-no-test-send": ("dashboard/test_trying", "a_test_goes_to_the_operator"),
    "A8-producer-raises": ("tasks/automation/test_events", "a_failing_producer_leaves"),
}


@pytest.mark.parametrize("known", KNOWN, ids=lambda known: known.id)
def test_what_failed_elsewhere_is_right_here(world: World, known: Known) -> None:
    assert known.happens(Case(world)) == known.right


@pytest.mark.parametrize("id_", ELSEWHERE)
def test_what_other_tests_prove_is_still_proven(id_: str) -> None:
    path, name = ELSEWHERE[id_]
    assert name in (ROOT / "tests" / f"{path}.py").read_text(encoding="utf-8")
