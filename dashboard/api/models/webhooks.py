"""Webhook endpoints and deliveries as applications send and see them."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Literal
from uuid import UUID

from pydantic import AfterValidator, Field

from dashboard.api.fields import ExternalIdText, Input, Line64, Line200, refusal
from dashboard.api.models.answers import Output
from dashboard.api.models.outreach import Paged
from dashboard.api.models.records import Change
from tasks.models import DeliveryState, EndpointEnd, Reason

DeliveryStateWord = Literal["pending", "running", "delivered", "failed", "disabled"]


def _uuid(value: str) -> str:
    try:
        return str(UUID(value))
    except ValueError:
        raise refusal("id_invalid", "is no id of ours.") from None


class OurPath(Input):
    """An endpoint or a delivery, by the id that we gave it."""

    id: Annotated[str, AfterValidator(_uuid)]

    @property
    def uuid(self) -> UUID:
        """The id."""
        return UUID(self.id)


class EndpointIn(Change):
    """An endpoint; what is absent stays, and null means all."""

    url: str | None = Field(default=None, description="https://…, public")
    description: Line200 | None = None
    event_types: list[Line64] | None = Field(default=None, description="null: all")
    podcast_ids: list[ExternalIdText] | None = Field(
        default=None, description="null: all, and events that are about none"
    )


class RotateIn(Input):
    """How long the present secret is still good."""

    keep_former: bool = Field(
        default=True,
        description="true: it signs as well for 24 hours; false: it has leaked",
    )


class DeliveriesQuery(Paged):
    """Which deliveries to list."""

    state: DeliveryStateWord | None = None


class EndpointAnswer(Output):
    """An endpoint, without its secret."""

    id: UUID
    url: str
    description: str
    event_types: list[str] | None
    podcast_ids: list[str] | None
    enabled: bool
    disabled_at: datetime | None
    disabled_reason: EndpointEnd | None
    failing_since: datetime | None
    delivered_at: datetime | None = Field(description="the last good answer")
    created_at: datetime


class EndpointSecretAnswer(EndpointAnswer):
    """An endpoint with its secret, which is not shown again."""

    secret: str


class EndpointsAnswer(Output):
    """A page of endpoints, newest first."""

    endpoints: list[EndpointAnswer]
    next_cursor: str | None


class DeliveryAnswer(Output):
    """One event on its way to one endpoint."""

    id: UUID
    endpoint_id: UUID
    message_id: UUID = Field(description="the webhook-id that the receiver sees")
    type: str
    state: DeliveryState
    reason: Reason | None
    error: str | None
    status_code: int | None
    attempt: int
    run_at: datetime
    settled_at: datetime | None
    created_at: datetime


class DeliveriesAnswer(Output):
    """A page of deliveries, newest first."""

    deliveries: list[DeliveryAnswer]
    next_cursor: str | None
