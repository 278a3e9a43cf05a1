"""Lists of contacts as producers send them, and what became of each row."""

from __future__ import annotations

from typing import Annotated, Any, Literal
from uuid import UUID

from pydantic import AfterValidator, Field

from dashboard.api.fields import Input, Instant, Line120, Line200, refusal
from dashboard.api.models.answers import Output, Trouble
from dashboard.api.models.outreach import Address


def _uuid(value: str) -> str:
    try:
        return str(UUID(value))
    except ValueError:
        raise refusal("id_invalid", "is no id of ours.") from None


class ImportPath(Input):
    """A list that was taken over."""

    id: Annotated[str, AfterValidator(_uuid)]


class ImportQuery(Input):
    """How a list is to be taken over."""

    mode: Literal["merge", "skip"] = Field(
        default="merge", description="what becomes of contacts that are known"
    )
    agent: Address | None = Field(
        default=None, description="enrol every contact for this agent"
    )
    filename: Line200 | None = None


class ContactRowIn(Input):
    """One contact of a list."""

    address: str
    display_name: Line120 | None = None
    metadata: dict[str, Any] | None = None
    stage: Line120 | None = None
    next_action_at: Instant | None = None


class ContactsIn(Input):
    """A list of contacts."""

    contacts: list[ContactRowIn]


class ContactRowAnswer(Output):
    """What became of one row."""

    row: int = Field(description="counted from 1")
    address: str
    outcome: Literal["created", "changed", "unchanged", "skipped", "refused"]
    error: Trouble | None


class ImportAnswer(Output):
    """What became of a list."""

    import_id: UUID
    counts: dict[str, int]
    results: list[ContactRowAnswer]


class UndoneAnswer(Output):
    """What taking a list back did."""

    contacts_removed: int
    engagements_removed: int
    contacts_kept: int = Field(description="somebody has touched them since")
