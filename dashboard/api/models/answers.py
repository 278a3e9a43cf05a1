"""What the API answers: refusals, and what became of events."""

from __future__ import annotations

from uuid import UUID

from pydantic import BaseModel, ConfigDict, Field, RootModel


class Output(BaseModel):
    """An object of an answer, made from a row."""

    model_config = ConfigDict(from_attributes=True)


class ProblemAnswer(Output):
    """One thing that is wrong with a request."""

    field: str
    code: str
    message: str


class ErrorBody(Output):
    """Why a request was refused."""

    code: str = Field(description="a stable word for programs")
    message: str = Field(description="a sentence for people")
    problems: list[ProblemAnswer] | None = Field(
        default=None, description="every problem, when the code is invalid"
    )
    line: int | None = Field(default=None, description="of malformed JSON, from 1")
    column: int | None = Field(default=None, description="of malformed JSON, from 1")


class ErrorAnswer(Output):
    """A refusal."""

    error: ErrorBody


class Trouble(Output):
    """Why one event came to nothing."""

    code: str
    message: str


class EventResult(Output):
    """What became of one event."""

    event_id: UUID | None = Field(description="None when it was refused")
    duplicate: bool = Field(description="it was known already; nothing was done again")
    executions_created: int
    rule_ids: list[UUID]
    error: Trouble | None


class BatchAnswer(Output):
    """What became of each event, in the order in which they were sent."""

    results: list[EventResult]
    accepted: int
    refused: int


class EventsAnswer(RootModel[EventResult | BatchAnswer]):
    """One result for one event, a list of them for a batch."""
