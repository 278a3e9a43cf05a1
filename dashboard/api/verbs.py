"""Lifecycle verbs: each does the change, its event and its planning at once."""

from __future__ import annotations

from typing import Final

from dashboard.api.answer import Answer
from dashboard.api.blueprint import VERBS, answers, api
from dashboard.api.endpoint import Call, endpoint
from dashboard.api.models.queries import RecordPath
from dashboard.api.models.record_answers import (
    BookingAnswer,
    BookingChanged,
    EpisodeAnswer,
    EpisodeChanged,
)
from dashboard.api.models.records import (
    EpisodeDatesIn,
    PublishIn,
    RescheduleIn,
    ScheduleIn,
)
from dashboard.api.results import with_automation
from tasks.automation import bookings, episodes
from tasks.automation.results import Changed
from tasks.models import Booking, Episode

_BOOKING: Final = answers(BookingChanged)
_EPISODE: Final = answers(EpisodeChanged)


@api.post("/bookings/<id>/confirm", tags=[VERBS], responses=_BOOKING)
@endpoint("records:write", empty_body=True)
def confirm_booking(call: Call, path: RecordPath) -> Answer:
    """Confirm a booking: rules for `booking.confirmed` fire, dates are planned."""
    return _booking(bookings.confirm(call.session, call.congregation_id, path.id))


@api.post("/bookings/<id>/decline", tags=[VERBS], responses=_BOOKING)
@endpoint("records:write", empty_body=True)
def decline_booking(call: Call, path: RecordPath) -> Answer:
    """Decline a booking that waits for the host's yes."""
    return _booking(bookings.decline(call.session, call.congregation_id, path.id))


@api.post("/bookings/<id>/cancel", tags=[VERBS], responses=_BOOKING)
@endpoint("records:write", empty_body=True)
def cancel_booking(call: Call, path: RecordPath) -> Answer:
    """Cancel a booking and everything that was planned for it."""
    return _booking(bookings.cancel(call.session, call.congregation_id, path.id))


@api.post("/bookings/<id>/reschedule", tags=[VERBS], responses=_BOOKING)
@endpoint("records:write")
def reschedule_booking(call: Call, path: RecordPath, body: RescheduleIn) -> Answer:
    """Move a booking to another time, and its planned jobs with it."""
    return _booking(
        bookings.reschedule(call.session, call.congregation_id, path.id, **body.given())
    )


@api.post("/episodes/<id>/schedule", tags=[VERBS], responses=_EPISODE)
@endpoint("records:write")
def schedule_episode(call: Call, path: RecordPath, body: ScheduleIn) -> Answer:
    """Say when an episode goes out."""
    return _episode(
        episodes.schedule(
            call.session, call.congregation_id, path.id, body.scheduled_for
        )
    )


@api.post("/episodes/<id>/publish", tags=[VERBS], responses=_EPISODE)
@endpoint("records:write", empty_body=True)
def publish_episode(call: Call, path: RecordPath, body: PublishIn) -> Answer:
    """Say that an episode is out."""
    return _episode(
        episodes.publish(call.session, call.congregation_id, path.id, **body.given())
    )


@api.post("/episodes/<id>/reschedule", tags=[VERBS], responses=_EPISODE)
@endpoint("records:write")
def reschedule_episode(call: Call, path: RecordPath, body: EpisodeDatesIn) -> Answer:
    """Change an episode's dates, and its planned jobs with them."""
    return _episode(
        episodes.reschedule(call.session, call.congregation_id, path.id, **body.given())
    )


def _booking(done: Changed[Booking]) -> Answer:
    shown = BookingAnswer.model_validate(done.row).model_dump(mode="json")
    return Answer(with_automation(shown, done))


def _episode(done: Changed[Episode]) -> Answer:
    shown = EpisodeAnswer.model_validate(done.row).model_dump(mode="json")
    return Answer(with_automation(shown, done))
