"""When a reminder leaves: never early, never a year late, by the right date."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from tasks.automation import (
    UNSET,
    bookings,
    reschedule_time_based_jobs_for_episode,
    schedule_time_based_jobs_for_booking,
    schedule_time_based_jobs_for_episode,
)
from tasks.automation.replan import plan_coming
from tasks.models import OffsetUnit
from tests.tasks.automation.conftest import NOW
from tests.tasks.automation.known.case import DAY, HOUR, MINUTE, START, Case


def there_and_back(case: Case) -> object:
    case.remind()
    case.book()
    for start in (START + DAY, START):
        case.do(bookings.reschedule, "b1", start)
    return [job.due_at for job in case.living()], case.work(START - DAY)


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


def on_days_when_clocks_change(case: Case) -> object:
    """02:30 does not exist on 29 March, and exists twice on 25 October."""
    eve = {"offset_unit": OffsetUnit.DAYS, "offset_at": "02:30"}
    case.remind(1, **eve)
    case.book("b1", start=datetime(2026, 3, 30, 9, tzinfo=UTC))
    case.book("b2", start=datetime(2026, 10, 26, 9, tzinfo=UTC))
    due = sorted(job.due_at for job in case.living())
    sent = [case.work(at + late) for at in due for late in (-MINUTE, 0 * DAY, HOUR)]
    return [at.isoformat()[:16] for at in due], sent


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


def a_repeated_confirmation(case: Case) -> object:
    case.world.rule("time.after_booking", offset_value=1)
    case.book()
    for minutes in (0, 10):
        with case.world.make_session.begin() as session:
            schedule_time_based_jobs_for_booking(
                session, "b1", "show", None, None, START, NOW + minutes * MINUTE,
                congregation_id=case.world.id, now=NOW + minutes * MINUTE,
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
