"""What producers see when they look: events, executions, scheduled jobs."""

from __future__ import annotations

from datetime import datetime
from typing import Any
from uuid import UUID

from pydantic import Field

from dashboard.api.models.answers import Output


class DecisionAnswer(Output):
    """What one rule made of an event."""

    rule_id: UUID
    rule_version: int
    outcome: str
    reason: str | None
    message: str | None
    execution_id: UUID | None
    scheduled_job_id: UUID | None


class EventAnswer(Output):
    """An event and what every rule made of it."""

    id: UUID
    trigger_type: str
    producer_event_id: str | None
    podcast_id: str | None
    episode_id: str | None
    booking_id: str | None
    guest_id: str | None
    source: str
    occurred_at: datetime
    created_at: datetime
    context: dict[str, Any]
    decisions: list[DecisionAnswer]


class ExecutionAnswer(Output):
    """One rule acting once for one event and one recipient."""

    id: UUID
    rule_id: UUID
    event_id: UUID | None
    scheduled_job_id: UUID | None
    trigger_type: str
    action: str
    step: int = Field(description="0: the rule's own action; a later step's number")
    podcast_id: str | None
    episode_id: str | None
    booking_id: str | None
    guest_id: str | None
    recipient: str | None
    state: str
    reason: str | None
    message: str | None = Field(description="the reason or the error, for people")
    attempt: int
    due_at: datetime
    run_at: datetime
    settled_at: datetime | None
    created_at: datetime


class ExecutionsAnswer(Output):
    """One page of executions, newest first."""

    executions: list[ExecutionAnswer]
    next_cursor: str | None


class JobAnswer(Output):
    """An execution that is to exist at a later instant."""

    id: UUID
    rule_id: UUID
    execution_id: UUID | None
    trigger_type: str
    podcast_id: str
    episode_id: str | None
    booking_id: str | None
    guest_id: str | None
    state: str
    reason: str | None
    message: str | None = Field(description="the reason, for people")
    reference_at: datetime
    due_at: datetime
    run_at: datetime
    settled_at: datetime | None
    created_at: datetime


class JobsAnswer(Output):
    """One page of scheduled jobs, soonest first."""

    scheduled_jobs: list[JobAnswer]
    next_cursor: str | None
