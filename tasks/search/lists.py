"""Every list that can be searched, and its fields: one row each."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from tasks.automation.actions import ACTIONS
from tasks.automation.triggers import TRIGGERS
from tasks.models import DeliveryState, ExecutionState, JobState, Reason
from tasks.saying import mark
from tasks.search.fields import Field, Fields, Kind
from tasks.webhooks.filters import EVENT_TYPES
from tasks.webhooks.messages import TEST_TYPE

_K = Kind
_REASONS: Final = tuple(each.value for each in Reason)
_TIMES: Final = tuple(one.name for one in TRIGGERS.values() if one.is_time)
_HAPPENINGS: Final = tuple(one.name for one in TRIGGERS.values() if not one.is_time)

_RULE: Final = (
    Field("rule", _K.TEXT, mark("Part of the rule’s name"), example='"24h reminder"'),
    Field("action", _K.WORD, mark("How the rule acts"), tuple(ACTIONS), "email"),
)
_ABOUT: Final = (
    Field("guest", _K.TEXT, mark("Part of the guest’s name"), example="anna"),
    Field("episode", _K.TEXT, mark("Part of the episode’s title, or its id")),
    Field("podcast", _K.TEXT, mark("Part of the podcast’s title, or its id")),
    Field("booking", _K.ID, mark("The booking’s id")),
)
_WHERE: Final = Field(
    "congregation", _K.ID, mark("The congregation’s short name"), example="st-mary"
)
_MADE: Final = Field("made", _K.MOMENT, mark("When it was made"))
_ID: Final = Field("id", _K.UUID, mark("Its own id"))
#: All of it is carried by one lane; what differs is which lane it is to start.
_LANE: Final = Field("lane", _K.ID, mark("The lane that it starts"), example="feeds")


def _fields(*fields: Field) -> Fields:
    return {field.name: field for field in fields}


EXECUTIONS: Final = _fields(
    Field("state", _K.WORD, mark("How it stands"), tuple(ExecutionState), "failed"),
    *_RULE,
    *_ABOUT,
    Field("to", _K.TEXT, mark("Part of the recipient"), example="@example.org"),
    Field("error", _K.TEXT, mark("Part of the last error"), example="timeout"),
    Field("reason", _K.WORD, mark("Why it waits, or ended"), _REASONS),
    Field(
        "trigger",
        _K.WORD,
        mark("What its rule waits for"),
        (*_HAPPENINGS, *_TIMES),
        "booking.confirmed",
    ),
    Field("event", _K.UUID, mark("The event’s id")),
    _LANE,
    _MADE,
    Field("due", _K.MOMENT, mark("When it was to happen"), example="<2026-12-01"),
    Field("late", _K.FLAG, mark("Whether it waits past its time")),
    Field("failures", _K.NUMBER, mark("How often it has failed")),
    Field("version", _K.NUMBER, mark("The rule’s version"), example="2"),
    _WHERE,
    _ID,
)
SCHEDULED: Final = _fields(
    Field("state", _K.WORD, mark("How it stands"), (*JobState, "all"), "pending"),
    *_RULE,
    *_ABOUT,
    Field("reason", _K.WORD, mark("Why it ended"), _REASONS),
    Field("trigger", _K.WORD, mark("What its rule counts from"), _TIMES),
    Field("due", _K.MOMENT, mark("When it is to happen"), example="<+2d"),
    _LANE,
    _MADE,
    Field("late", _K.FLAG, mark("Whether it waits past its time")),
    Field("version", _K.NUMBER, mark("The rule’s version"), example="2"),
    _WHERE,
    _ID,
)
EVENTS: Final = _fields(
    Field("type", _K.WORD, mark("What happened"), _HAPPENINGS, "booking.confirmed"),
    *_ABOUT,
    Field("contact", _K.TEXT, mark("A contact’s name, or how the address begins")),
    Field("source", _K.TEXT, mark("Who told of it"), example="api"),
    Field("heard", _K.MOMENT, mark("When we heard of it")),
    Field("happened", _K.MOMENT, mark("When it happened")),
    _WHERE,
    _ID,
)
DELIVERIES: Final = _fields(
    Field("state", _K.WORD, mark("How it stands"), tuple(DeliveryState), "failed"),
    Field(
        "type",
        _K.WORD,
        mark("What it tells of"),
        (*EVENT_TYPES, TEST_TYPE),
        "booking.confirmed",
    ),
    Field("endpoint", _K.TEXT, mark("Part of the endpoint’s name or address")),
    Field("error", _K.TEXT, mark("Part of the last error"), example="timeout"),
    Field("status", _K.NUMBER, mark("The status of the last answer"), example=">=500"),
    Field("reason", _K.WORD, mark("Why it waits, or ended"), _REASONS),
    Field("tries", _K.NUMBER, mark("How often it was tried")),
    _MADE,
    Field("event", _K.UUID, mark("The event’s id")),
    _WHERE,
    _ID,
)
#: The word for a list, also in addresses -> its fields.
LISTS: Final[Mapping[str, Fields]] = {
    "executions": EXECUTIONS,
    "scheduled": SCHEDULED,
    "events": EVENTS,
    "deliveries": DELIVERIES,
}
