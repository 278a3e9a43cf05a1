"""Records: PUT creates or changes one, GET shows it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from http import HTTPStatus
from typing import Any, Final

from dashboard.api.answer import Answer
from dashboard.api.blueprint import RECORDS, answers, api
from dashboard.api.endpoint import Call, endpoint
from dashboard.api.errors import Problem, invalid
from dashboard.api.models.answers import Output
from dashboard.api.models.queries import RecordPath
from dashboard.api.models.record_answers import (
    BookingAnswer,
    BookingChanged,
    BookingLinkAnswer,
    BookingLinkChanged,
    EpisodeAnswer,
    EpisodeChanged,
    GuestAnswer,
    GuestChanged,
    PodcastAnswer,
    PodcastChanged,
)
from dashboard.api.models.records import (
    BookingIn,
    BookingLinkIn,
    EpisodeIn,
    GuestIn,
    PodcastIn,
    Record,
)
from dashboard.api.results import with_automation
from tasks.automation import bookings, episodes, podcasts
from tasks.errors import NotFound
from tasks.models import Booking, BookingLink, Episode, EpisodeGuest, Podcast


@dataclass(frozen=True, slots=True)
class Noun:
    """One kind of record: its table, what shows it, and what saves it."""

    word: str
    table: type[Any]
    answer: type[Output]
    save: Callable[..., Any]


PODCAST: Final = Noun("podcast", Podcast, PodcastAnswer, podcasts.save_podcast)
LINK: Final = Noun(
    "booking_link", BookingLink, BookingLinkAnswer, podcasts.save_booking_link
)
BOOKING: Final = Noun("booking", Booking, BookingAnswer, bookings.save_booking)
EPISODE: Final = Noun("episode", Episode, EpisodeAnswer, episodes.save_episode)
GUEST: Final = Noun("guest", EpisodeGuest, GuestAnswer, episodes.save_guest)


@api.put("/podcasts/<id>", tags=[RECORDS], responses=answers(PodcastChanged, 200, 201))
@endpoint("records:write")
def put_podcast(call: Call, path: RecordPath, body: PodcastIn) -> Answer:
    """Create or change a podcast."""
    return _put(call, PODCAST, path.id, body)


@api.get("/podcasts/<id>", tags=[RECORDS], responses=answers(PodcastAnswer))
@endpoint("records:read")
def get_podcast(call: Call, path: RecordPath) -> Answer:
    """Show a podcast."""
    return _get(call, PODCAST, path.id)


@api.put(
    "/booking-links/<id>",
    tags=[RECORDS],
    responses=answers(BookingLinkChanged, 200, 201),
)
@endpoint("records:write")
def put_booking_link(call: Call, path: RecordPath, body: BookingLinkIn) -> Answer:
    """Create or change a booking link."""
    return _put(call, LINK, path.id, body)


@api.get("/booking-links/<id>", tags=[RECORDS], responses=answers(BookingLinkAnswer))
@endpoint("records:read")
def get_booking_link(call: Call, path: RecordPath) -> Answer:
    """Show a booking link."""
    return _get(call, LINK, path.id)


@api.put("/bookings/<id>", tags=[RECORDS], responses=answers(BookingChanged, 200, 201))
@endpoint("records:write")
def put_booking(call: Call, path: RecordPath, body: BookingIn) -> Answer:
    """Create or change a booking.

    A changed start of a confirmed booking moves its planned jobs and tells the rules
    that it was rescheduled.
    """
    return _put(call, BOOKING, path.id, body)


@api.get("/bookings/<id>", tags=[RECORDS], responses=answers(BookingAnswer))
@endpoint("records:read")
def get_booking(call: Call, path: RecordPath) -> Answer:
    """Show a booking."""
    return _get(call, BOOKING, path.id)


@api.put("/episodes/<id>", tags=[RECORDS], responses=answers(EpisodeChanged, 200, 201))
@endpoint("records:write")
def put_episode(call: Call, path: RecordPath, body: EpisodeIn) -> Answer:
    """Create or change an episode; changed dates move its planned jobs."""
    return _put(call, EPISODE, path.id, body)


@api.get("/episodes/<id>", tags=[RECORDS], responses=answers(EpisodeAnswer))
@endpoint("records:read")
def get_episode(call: Call, path: RecordPath) -> Answer:
    """Show an episode."""
    return _get(call, EPISODE, path.id)


@api.put("/guests/<id>", tags=[RECORDS], responses=answers(GuestChanged, 200, 201))
@endpoint("records:write")
def put_guest(call: Call, path: RecordPath, body: GuestIn) -> Answer:
    """Create or change a guest of an episode."""
    return _put(call, GUEST, path.id, body)


@api.get("/guests/<id>", tags=[RECORDS], responses=answers(GuestAnswer))
@endpoint("records:read")
def get_guest(call: Call, path: RecordPath) -> Answer:
    """Show a guest of an episode."""
    return _get(call, GUEST, path.id)


def _get(call: Call, noun: Noun, record_id: str) -> Answer:
    row = call.session.get(noun.table, (call.congregation_id, record_id))
    if row is None:
        word = noun.word.replace("_", " ")
        raise NotFound(f"unknown_{noun.word}", f"There is no {word} with this id.")
    return Answer(noun.answer.model_validate(row).model_dump(mode="json"))


def _put(call: Call, noun: Noun, record_id: str, body: Record) -> Answer:
    known = call.session.get(noun.table, (call.congregation_id, record_id))
    _check_needed(body, is_new=known is None)
    saved = noun.save(call.session, call.congregation_id, record_id, **body.given())
    status = HTTPStatus.CREATED if saved.created else HTTPStatus.OK
    shown = noun.answer.model_validate(saved.row).model_dump(mode="json")
    return Answer(with_automation(shown, saved), status)


def _check_needed(body: Record, *, is_new: bool) -> None:
    given = body.given()
    problems: list[Problem] = []
    for name in body.needed:
        if name not in given and is_new:
            problems.append(_problem(name, "missing", "is missing."))
        elif name in given and given[name] is None:
            problems.append(_problem(name, "needed", "cannot be cleared."))
    if problems:
        raise invalid(problems)


def _problem(field: str, code: str, sentence: str) -> Problem:
    return {"field": field, "code": code, "message": f"{field}: {sentence}"}
