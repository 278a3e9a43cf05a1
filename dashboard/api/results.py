"""Turns what the automation did into answers."""

from __future__ import annotations

from http import HTTPStatus
from typing import Any, Final

from dashboard.api.errors import RETRY_AFTER_SECONDS, ApiError, invalid
from dashboard.api.models.answers import EventResult, Trouble
from dashboard.api.models.record_answers import PlanAnswer
from tasks.automation.results import Changed, EmitEventResult, ScheduleResult

#: Codes that say that it was our fault.
_OURS: Final = {
    "database_unavailable": HTTPStatus.SERVICE_UNAVAILABLE,
    "internal_error": HTTPStatus.INTERNAL_SERVER_ERROR,
}
#: Which field of a request an error's code is about.
_FIELDS: Final = {
    "unknown_trigger": "trigger_type",
    "unknown_podcast": "podcast_id",
    "unknown_booking": "booking_id",
    "unknown_episode": "episode_id",
    "unknown_guest": "guest_id",
    "reserved_event_id": "event_id",
    "context_too_large": "context",
    "bad_context": "context",
}


def event_result(result: EmitEventResult) -> EventResult:
    """Return what became of one event."""
    trouble = None
    if not result.success:
        trouble = Trouble(
            code=result.error_code or "internal_error",
            message=result.error or "The event could not be taken.",
        )
    return EventResult(
        event_id=result.event_id,
        duplicate=result.is_duplicate,
        executions_created=result.executions_created,
        rule_ids=list(result.rule_ids),
        error=trouble,
    )


def check(result: EmitEventResult | ScheduleResult) -> None:
    """Refuse the request when an event or a plan failed, so that nothing is written.

    Raises:
        ApiError: 422 with the reason; 500 or 503 when it was not the producer's fault.
    """
    if result.success:
        return
    code = result.error_code or "internal_error"
    message = result.error or "Something went wrong."
    if code in _OURS:
        headers = {"Retry-After": str(RETRY_AFTER_SECONDS)}
        raise ApiError(_OURS[code], code, message, headers=headers)
    raise invalid([{"field": _FIELDS.get(code, ""), "code": code, "message": message}])


def with_automation(shown: dict[str, Any], done: Changed[Any]) -> dict[str, Any]:
    """Return a record together with what the automation made of its change.

    Raises:
        ApiError: an event or a plan failed; the transaction is to be rolled back.
    """
    event, plan = None, None
    if done.event is not None:
        check(done.event)
        event = event_result(done.event).model_dump(mode="json")
    if done.schedule is not None:
        check(done.schedule)
        plan = PlanAnswer.model_validate(done.schedule).model_dump(mode="json")
    return {
        **shown,
        "automation": {
            "changed": done.changed,
            "event": event,
            "schedule": plan,
            "jobs_cancelled": done.jobs_cancelled,
            "executions_cancelled": done.executions_cancelled,
        },
    }
