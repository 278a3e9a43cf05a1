"""Events: producers tell what happened."""

from __future__ import annotations

from http import HTTPStatus

from dashboard.api.answer import Answer
from dashboard.api.blueprint import EVENTS, answers, api
from dashboard.api.endpoint import Call, Reader, endpoint
from dashboard.api.models.answers import BatchAnswer, EventsAnswer
from dashboard.api.models.events import EventIn, EventsBody
from dashboard.api.reported import Reported, read_events
from dashboard.api.results import check, event_result
from tasks.automation.events import AutomationEvent, emit_events

#: What stands in the ``source`` of events that came over HTTP.
SOURCE = "api"


@api.post("/events", tags=[EVENTS], responses=answers(EventsAnswer, 202))
@endpoint("events:write", reader=Reader(read_events, described_by=EventsBody))
def post_events(call: Call, body: Reported) -> Answer:
    """Report one event, or up to 500 at once.

    One event is answered by one result, and refused with 422 when it names what does
    not exist. A batch is answered by a list of results in the same order; there a
    refused event does not hold up the others.
    """
    results = emit_events(call.session, [_payload(event) for event in body.events])
    if not body.is_batch:
        check(results[0])
        told = event_result(results[0]).model_dump(mode="json")
        return Answer(told, HTTPStatus.ACCEPTED)
    for result in results:
        if result.error_code == "database_unavailable":
            check(result)  # nothing was taken, so the whole batch is to come again
    each = [event_result(result) for result in results]
    refused = sum(result.error is not None for result in each)
    batch = BatchAnswer(results=each, accepted=len(each) - refused, refused=refused)
    return Answer(batch.model_dump(mode="json"), HTTPStatus.ACCEPTED)


def _payload(event: EventIn) -> AutomationEvent:
    return AutomationEvent(
        trigger_type=event.trigger_type,
        podcast_id=event.podcast_id,
        episode_id=event.episode_id,
        booking_id=event.booking_id,
        guest_id=event.guest_id,
        context=event.context,
        event_id=event.event_id,
        occurred_at=event.occurred_at,
        source=SOURCE,
    )
