"""Records as the API shows them."""

from __future__ import annotations

from datetime import datetime
from uuid import UUID

from pydantic import Field

from dashboard.api.models.answers import EventResult, Output


class PodcastAnswer(Output):
    """A podcast."""

    id: str
    title: str
    slug: str
    timezone: str | None
    host_name: str
    host_email: str | None
    created_at: datetime
    updated_at: datetime


class BookingLinkAnswer(Output):
    """A page on which guests choose a slot."""

    id: str
    podcast_id: str
    name: str
    created_at: datetime
    updated_at: datetime


class BookingAnswer(Output):
    """A booking."""

    id: str
    podcast_id: str
    booking_link_id: str | None
    episode_id: str | None
    guest_id: str | None
    guest_name: str
    guest_email: str | None
    guest_phone: str | None
    start_time: datetime
    end_time: datetime | None
    timezone: str | None
    meeting_url: str | None
    status: str
    confirmed_at: datetime | None
    revision: int
    created_at: datetime
    updated_at: datetime


class EpisodeAnswer(Output):
    """An episode."""

    id: str
    podcast_id: str
    title: str
    episode_number: int | None
    description: str
    status: str
    recording_at: datetime | None
    scheduled_for: datetime | None
    published_at: datetime | None
    timezone: str | None
    revision: int
    created_at: datetime
    updated_at: datetime


class GuestAnswer(Output):
    """A guest; the access token can be set and is never given back."""

    id: str
    podcast_id: str
    episode_id: str | None
    name: str
    email: str | None
    created_at: datetime
    updated_at: datetime


class PlanAnswer(Output):
    """What became of the time rules."""

    jobs_created: int
    jobs_skipped: int
    jobs_cancelled: int
    rule_ids: list[UUID]


class AutomationAnswer(Output):
    """What a change of a record set in motion."""

    changed: bool = Field(description="false: it was so already")
    event: EventResult | None
    schedule: PlanAnswer | None
    jobs_cancelled: int
    executions_cancelled: int


class Automated(Output):
    """A record that was changed, and what that set in motion."""

    automation: AutomationAnswer


class PodcastChanged(PodcastAnswer, Automated):
    """A podcast, and what its change set in motion."""


class BookingLinkChanged(BookingLinkAnswer, Automated):
    """A booking link, and what its change set in motion."""


class BookingChanged(BookingAnswer, Automated):
    """A booking, and what its change set in motion."""


class EpisodeChanged(EpisodeAnswer, Automated):
    """An episode, and what its change set in motion."""


class GuestChanged(GuestAnswer, Automated):
    """A guest, and what the change set in motion."""
