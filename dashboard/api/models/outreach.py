"""Contacts and engagements as producers send and see them."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Any, Final, Literal
from uuid import UUID

from pydantic import AfterValidator, BeforeValidator, Field, StringConstraints

from dashboard.api.fields import (
    Input,
    Instant,
    Line80,
    Line120,
    Line255,
    Timezone,
    refusal,
)
from dashboard.api.models.answers import Output
from dashboard.api.models.records import Change
from tasks.outbound.mailboxes import ADDRESS_MAX, BadAddress, normal_address

LIMIT_MAX: Final = 100
_SWITCHES: Final = {"true": True, "false": False}


def _address(value: str) -> str:
    try:
        return normal_address(value)
    except BadAddress as error:
        raise refusal("email_invalid", f"must be one e-mail address. {error}") from None


def _switch(value: object) -> object:
    if not isinstance(value, str):
        return value
    if value not in _SWITCHES:
        raise refusal("wrong_type", "must be true or false.")
    return _SWITCHES[value]


def _limit(value: object) -> object:
    if not isinstance(value, str):
        return value
    is_number = value.isascii() and value.isdigit() and len(value) < 9
    if not is_number or not 1 <= int(value) <= LIMIT_MAX:
        raise refusal("range", f"must be a whole number from 1 to {LIMIT_MAX}.")
    return int(value)


def _clock(value: str) -> str:
    hours, _, minutes = value.partition(":")
    is_time = len(value) == 5 and value.isascii() and (hours + minutes).isdigit()
    if not is_time or int(hours) > 23 or int(minutes) > 59:
        raise refusal("bad_clock", "must be a time of day such as 18:30.")
    return value


Address = Annotated[
    str, StringConstraints(max_length=ADDRESS_MAX), AfterValidator(_address)
]
Switch = Annotated[bool, BeforeValidator(_switch)]
Clock = Annotated[str, AfterValidator(_clock)]
StateWord = Literal["idle", "armed", "announced", "passed", "set_aside"]


class AddressPath(Input):
    """A contact, by its address."""

    address: Address


class AgentPath(Input):
    """An agent, by its address."""

    agent: Address


class EngagementPath(Input):
    """An agent's engagement with a contact."""

    agent: Address
    address: Address


class ContactIn(Change):
    """A contact; absent leaves a field as it is, null clears it."""

    display_name: Line120 | None = None
    metadata: dict[str, Any] | None = None


class EngagementIn(Change):
    """An engagement; absent leaves a field as it is, null clears it."""

    stage: Line120 | None = None
    next_action_at: Instant | None = Field(
        default=None, description="null stops it; an instant that has passed is due"
    )
    metadata: dict[str, Any] | None = None
    campaign: Line80 | None = Field(
        default=None, description="one that is not known yet is made; null: none"
    )
    stop_on_reply: bool = False
    quiet_from: Clock | None = None
    quiet_until: Clock | None = None
    timezone: Timezone | None = Field(default=None, description="None: congregation's")


class MessageIn(Input):
    """That a mail went to or fro; never what it said."""

    direction: Literal["outbound", "inbound"]
    message_id: Line255 = Field(description="the same one is counted once")
    at: Instant | None = Field(default=None, description="None: now")
    conversation_id: Line255 | None = None


class Paged(Input):
    """One page of a list, newest first."""

    cursor: str | None = Field(
        default=None, description="next_cursor of the page before, same filters"
    )
    limit: Annotated[int, BeforeValidator(_limit)] = Field(
        default=50, ge=1, le=LIMIT_MAX
    )


class EngagementsQuery(Paged):
    """Which engagements of an agent to list."""

    stage: Line120 | None = None
    campaign: Line80 | None = None
    state: StateWord | None = None
    waiting: Switch | None = Field(
        default=None, description="true: due, and waiting for quiet hours or a cap"
    )
    replied: Switch | None = None
    suppressed: Switch | None = None
    next_action_before: Instant | None = None
    last_outbound_before: Instant | None = Field(
        default=None, description="also those never mailed"
    )


class ContactAnswer(Output):
    """A contact."""

    id: UUID
    address: str
    display_name: str
    metadata: dict[str, Any] = Field(validation_alias="details")
    source: str
    created_at: datetime
    updated_at: datetime


class ContactsAnswer(Output):
    """One page of contacts, newest first."""

    contacts: list[ContactAnswer]
    next_cursor: str | None


class EngagementAnswer(Output):
    """An engagement; what is not in ``EngagementIn`` is the server's own."""

    id: UUID
    agent: str
    address: str
    stage: str
    next_action_at: datetime | None
    state: StateWord
    passed_because: str | None
    settled_at: datetime | None
    metadata: dict[str, Any]
    campaign: str | None
    waits_for: str | None = Field(description="what a due one waits for")
    wake_at: datetime | None = Field(description="when it is looked at next")
    stop_on_reply: bool
    quiet_from: str | None
    quiet_until: str | None
    timezone: str | None
    paused: bool = Field(description="the engagement, or its agent")
    suppressed: bool
    replied: bool
    first_outbound_at: datetime | None
    last_outbound_at: datetime | None
    last_inbound_at: datetime | None
    outbound_count: int
    inbound_count: int
    last_conversation_id: str | None
    created_at: datetime
    updated_at: datetime
    contact: ContactAnswer


class EngagementsAnswer(Output):
    """One page of engagements, newest first."""

    engagements: list[EngagementAnswer]
    next_cursor: str | None


class RemovedAnswer(Output):
    """Something is removed."""

    removed: bool


class MessageAnswer(Output):
    """What the report of a mail came to."""

    counted: bool = Field(description="false: this mail was reported before")
    stopped: bool = Field(description="the reply let the schedule pass")


class AgentAnswer(Output):
    """An agent."""

    address: str
    paused: bool
    passed: int = Field(description="schedules that had come due and wake nobody")
    daily_cap: int | None
    announced_today: int = Field(description="counted where there is a cap")
    waiting: int = Field(description="engagements that are due and wait for the cap")
