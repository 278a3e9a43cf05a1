"""What stands in addresses: ids, filters and pages."""

from __future__ import annotations

from typing import Annotated, Final, Literal

from pydantic import BeforeValidator, Field

from dashboard.api.fields import ExternalIdText, Input, Line255, refusal

LIMIT_MAX: Final = 200

ExecutionStateWord = Literal[
    "pending", "running", "succeeded", "failed", "quarantined", "cancelled", "skipped"
]
JobStateWord = Literal[
    "pending", "dispatched", "cancelled", "skipped", "missed", "superseded"
]


def _limit(value: object) -> object:
    if not isinstance(value, str):
        return value
    is_number = value.isascii() and value.isdigit() and len(value) < 9
    if not is_number or not 1 <= int(value) <= LIMIT_MAX:
        raise refusal("range", f"must be a whole number from 1 to {LIMIT_MAX}.")
    return int(value)


class RecordPath(Input):
    """The id that the producer gave to a record."""

    id: ExternalIdText


class EventPath(Input):
    """An event's id: ours, or the producer's own."""

    id: Line255


class Listed(Input):
    """One page of a list, newest or soonest first."""

    booking_id: ExternalIdText | None = None
    episode_id: ExternalIdText | None = None
    cursor: str | None = Field(
        default=None, description="next_cursor of the page before"
    )
    limit: Annotated[int, BeforeValidator(_limit)] = Field(
        default=50, ge=1, le=LIMIT_MAX
    )


class ExecutionsQuery(Listed):
    """Which executions to list."""

    state: ExecutionStateWord | None = None


class JobsQuery(Listed):
    """Which scheduled jobs to list."""

    state: JobStateWord | None = None
