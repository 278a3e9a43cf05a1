"""What is reported: rolled back, twice, in a loop, by another tenant; and retries."""

from __future__ import annotations

from tasks.automation import AutomationEvent, bookings, emit_events
from tasks.backoff import wait_after
from tests.tasks.automation.conftest import NOW, make_world
from tests.tasks.automation.known.case import DAY, HOUR, START, Case


def retries_spread(case: Case) -> object:
    chances = iter([n / 100 for n in range(100)])
    return len({wait_after(3, chance=lambda: next(chances)) for _ in range(100)})


def rolled_back(case: Case) -> object:
    case.world.rule("booking.confirmed")
    case.world.booking(status="requested", confirmed_at=None)
    with case.world.make_session() as session:
        bookings.confirm(session, case.world.id, "b1", now=NOW)
        session.rollback()
    return case.work(NOW), case.world.events(), case.jobs()


def twice_in_a_day(case: Case) -> object:
    case.world.rule("booking.rescheduled")
    case.book()
    for hours in (1, 2):
        at = NOW + hours * HOUR
        case.do(bookings.reschedule, "b1", START + hours * HOUR, now=at)
    told = {"event_id": "x1", "trigger": "booking.rescheduled"}
    case.emit(**told)
    again = case.emit(**told, now=NOW + DAY)
    return len(case.world.executions()), again.is_duplicate


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


def reminders_of_reminders(case: Case) -> object:
    case.world.rule("guest.reminder_sent")
    told = {"trigger": "guest.reminder_sent", "guest_id": "g1", "booking_id": None}
    fired = [
        case.emit(**told, event_id=str(n), depth=n).executions_created for n in range(6)
    ]
    return sum(fired) < len(fired), ("no", "loop_guard") in case.world.decisions()


def tenants_apart(case: Case) -> object:
    twin = make_world(case.world.make_session, "twin")
    twin.rule("booking.confirmed")
    twin.booking()
    case.book()
    return len(twin.executions()), case.emit(congregation_id=twin.id).success
