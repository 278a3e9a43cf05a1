"""What is cancelled, and what that must end."""

from __future__ import annotations

from tasks.automation import bookings, schedule_time_based_jobs_for_booking
from tasks.models import Booking
from tests.tasks.automation.conftest import NOW
from tests.tasks.automation.known.case import DAY, HOOK, START, Case


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


def confirmed_again(case: Case) -> object:
    case.remind()
    case.book()
    case.do(bookings.cancel, "b1")
    case.do(bookings.confirm, "b1")
    return len(case.living()), case.work(START - DAY)


def looked_at_again(case: Case) -> object:
    case.world.rule("booking.confirmed")
    case.book()
    case.set(Booking, (case.world.id, "b1"), status="cancelled")
    return case.work(NOW), case.ends()
