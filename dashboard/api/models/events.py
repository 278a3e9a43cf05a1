"""Events as producers send them: our own form, and CloudEvents 1.0."""

from __future__ import annotations

from typing import Annotated, Any, Final, Literal

from pydantic import AfterValidator, ConfigDict, Field, RootModel

from dashboard.api.fields import (
    ExternalIdText,
    Input,
    Instant,
    Line64,
    Line255,
    nearest,
    refusal,
)
from tasks.automation.triggers import reportable

BATCH_MAX: Final = 500


def _trigger(value: str) -> str:
    known = reportable()
    if value not in known:
        raise refusal(
            "unknown_trigger",
            f"{value[:80]!r} is no event that Carillon knows{nearest(value, known)}; "
            f"known are {', '.join(known)}.",
        )
    return value


def _event_id(value: str) -> str:
    if not value:
        raise refusal("id_invalid", "must not be empty; leave it out instead.")
    return value


TriggerType = Annotated[Line64, AfterValidator(_trigger)]
EventId = Annotated[Line255, AfterValidator(_event_id)]


class EventIn(Input):
    """Something that happened."""

    trigger_type: TriggerType = Field(examples=["booking.confirmed"])
    podcast_id: ExternalIdText
    episode_id: ExternalIdText | None = None
    booking_id: ExternalIdText | None = None
    guest_id: ExternalIdText | None = None
    event_id: EventId | None = Field(
        default=None,
        description="Your own id of this occurrence. The same id twice is one event; "
        "without one, the same event of the same subject acts once a day.",
    )
    occurred_at: Instant | None = Field(default=None, description="None: now")
    context: dict[str, Any] | None = Field(
        default=None, description="Whatever else the rules' templates may use."
    )


class EventBatch(Input):
    """Several events, at most 500."""

    events: list[EventIn] = Field(min_length=1, max_length=BATCH_MAX)


class EventsBody(RootModel[EventIn | EventBatch | list[EventIn]]):
    """One event, or up to 500 of them.

    CloudEvents 1.0 are taken too: structured (application/cloudevents+json), batched
    (application/cloudevents-batch+json) and binary (ce-* headers).
    """


class CloudEventData(Input):
    """The data of a CloudEvent: ids of ours, and context."""

    model_config = ConfigDict(extra="allow")

    podcast_id: ExternalIdText
    episode_id: ExternalIdText | None = None
    booking_id: ExternalIdText | None = None
    guest_id: ExternalIdText | None = None
    context: dict[str, Any] | None = None


class CloudEvent(Input):
    """A CloudEvent; extension attributes are let through and not looked at."""

    model_config = ConfigDict(extra="ignore")

    specversion: Literal["1.0"]
    id: EventId
    source: EventId
    type: TriggerType
    time: Instant | None = None
    datacontenttype: Literal["application/json"] | None = None
    data: CloudEventData

    @property
    def context(self) -> dict[str, Any]:
        """Return what of the data is no id."""
        return {**(self.data.model_extra or {}), **(self.data.context or {})}
