"""Reads the events of a request, in each of the forms that producers send."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final
from urllib.parse import unquote

from flask import request

from dashboard.api.body import JSON, object_expected, parsed
from dashboard.api.errors import Problem, invalid
from dashboard.api.fields import Input
from dashboard.api.models.events import BATCH_MAX, CloudEvent, EventIn
from dashboard.api.validation import PROBLEMS_MAX, checked

CLOUD_EVENT: Final = "application/cloudevents+json"
CLOUD_BATCH: Final = "application/cloudevents-batch+json"
KINDS: Final = (JSON, CLOUD_EVENT, CLOUD_BATCH)
_EVENT_ID_MAX: Final = 255


@dataclass(frozen=True, slots=True)
class Reported:
    """The events of one request."""

    events: list[EventIn]
    is_batch: bool  # whether the answer is to be a list as well


def read_events(body: bytes) -> Reported:
    """Return the request's events, checked.

    Raises:
        ApiError: 415, or 422 with every problem of every event.
        JsonRefused: the body is not JSON that we accept.
    """
    value = parsed(body, KINDS)
    if request.mimetype == JSON and "ce-specversion" in request.headers:
        return Reported(_checked([_of_headers(value)], CloudEvent, [""]), False)
    is_cloud = request.mimetype != JSON
    members, is_batch, name = _members(value, may_wrap=not is_cloud)
    if request.mimetype == CLOUD_BATCH and not is_batch:
        raise object_expected("a list of CloudEvents")
    if request.mimetype == CLOUD_EVENT and is_batch:
        raise object_expected("one CloudEvent")
    places = [f"{name}[{n}]" if is_batch else "" for n in range(len(members))]
    return Reported(
        _checked(members, CloudEvent if is_cloud else EventIn, places), is_batch
    )


def _members(value: object, *, may_wrap: bool) -> tuple[list[Any], bool, str]:
    """Return the single events, whether they came as a batch, and its name."""
    if isinstance(value, list):
        members, is_batch = value, True
    elif isinstance(value, dict) and may_wrap and "events" in value:
        _check_wrapper(value)
        members, is_batch = value["events"], True
    elif isinstance(value, dict):
        members, is_batch = [value], False
    else:
        raise object_expected("an event, or a list of events")
    if not 1 <= len(members) <= BATCH_MAX:
        sentence = f"A batch holds 1 to {BATCH_MAX} events, not {len(members)}."
        raise invalid([_problem("events", "batch_size", sentence)])
    return members, is_batch, "events"


def _check_wrapper(value: Mapping[str, Any]) -> None:
    problems = [
        _problem(key[:80], "unknown_field", f"{key[:80]}: is not known beside events.")
        for key in value
        if key != "events"
    ]
    if not isinstance(value["events"], list):
        problems.append(_problem("events", "wrong_type", "events: must be a list."))
    if problems:
        raise invalid(problems)


def _of_headers(data: object) -> dict[str, Any]:
    """Return the CloudEvent that stands in the headers, with the body as its data."""
    attributes = {
        name[3:].lower(): unquote(value)
        for name, value in request.headers
        if name.lower().startswith("ce-")
    }
    return {**attributes, "data": data}


def _checked(
    members: list[Any], model: type[Input], places: list[str]
) -> list[EventIn]:
    events: list[EventIn] = []
    problems: list[Problem] = []
    for member, place in zip(members, places, strict=True):
        found, wrong = checked(model, member, within=place)
        problems += wrong
        if isinstance(found, CloudEvent):
            problems += _too_long(found, place)
            events.append(_translated(found))
        elif isinstance(found, EventIn):
            events.append(found)
    if problems:
        raise invalid(problems[:PROBLEMS_MAX])
    return events


def _occurrence(event: CloudEvent) -> str:
    # CloudEvents are told apart by source and id together: two sources may both
    # count from 1, and neither's event may be taken for the other's.
    return f"{event.source}#{event.id}"


def _too_long(event: CloudEvent, place: str) -> list[Problem]:
    if len(_occurrence(event)) <= _EVENT_ID_MAX:
        return []
    sentence = f"source and id may have {_EVENT_ID_MAX - 1} characters together."
    return [_problem(f"{place}.id".lstrip("."), "too_long", sentence)]


def _translated(event: CloudEvent) -> EventIn:
    return EventIn.model_construct(
        trigger_type=event.type,
        podcast_id=event.data.podcast_id,
        episode_id=event.data.episode_id,
        booking_id=event.data.booking_id,
        guest_id=event.data.guest_id,
        event_id=_occurrence(event),
        occurred_at=event.time,
        context=event.context or None,
    )


def _problem(field: str, code: str, message: str) -> Problem:
    return {"field": field, "code": code, "message": message}
