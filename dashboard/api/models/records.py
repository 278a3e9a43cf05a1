"""Records as producers PUT them: what is absent stays, what is null is cleared."""

from __future__ import annotations

from typing import Any, ClassVar

from pydantic import Field

from dashboard.api.fields import (
    Email,
    ExternalIdText,
    Input,
    Instant,
    Line40,
    Line64,
    Line120,
    Line200,
    Line255,
    Text20k,
    Timezone,
    WebAddress,
)


class Change(Input):
    """Some fields, of which the request names all or a few."""

    def given(self) -> dict[str, Any]:
        """Return the fields that the request names."""
        return {name: getattr(self, name) for name in self.model_fields_set}


class Record(Change):
    """The fields of one record."""

    #: What a new record cannot do without, and no record may clear.
    needed: ClassVar[tuple[str, ...]]


class PodcastIn(Record):
    """A podcast."""

    needed = ("title",)

    title: Line200 | None = None
    slug: Line64 | None = None
    timezone: Timezone | None = Field(default=None, description="None: congregation's")
    host_name: Line120 | None = None
    host_email: Email | None = None


class BookingLinkIn(Record):
    """A page on which guests choose a slot."""

    needed = ("podcast_id", "name")

    podcast_id: ExternalIdText | None = None
    name: Line200 | None = None


class BookingIn(Record):
    """A booking; its status is changed by the lifecycle verbs."""

    needed = ("podcast_id", "start_time")

    podcast_id: ExternalIdText | None = None
    booking_link_id: ExternalIdText | None = None
    episode_id: ExternalIdText | None = None
    guest_id: ExternalIdText | None = None
    guest_name: Line120 | None = None
    guest_email: Email | None = None
    guest_phone: Line40 | None = None
    start_time: Instant | None = None
    end_time: Instant | None = None
    timezone: Timezone | None = Field(default=None, description="None: podcast's")
    meeting_url: WebAddress | None = None


class EpisodeIn(Record):
    """An episode; its status is changed by the lifecycle verbs."""

    needed = ("podcast_id", "title")

    podcast_id: ExternalIdText | None = None
    title: Line200 | None = None
    episode_number: int | None = Field(default=None, ge=0, le=1_000_000)
    description: Text20k | None = None
    recording_at: Instant | None = None
    scheduled_for: Instant | None = None
    timezone: Timezone | None = Field(default=None, description="None: podcast's")


class GuestIn(Record):
    """A guest."""

    needed = ("podcast_id", "name")

    podcast_id: ExternalIdText | None = None
    episode_id: ExternalIdText | None = None
    name: Line120 | None = None
    email: Email | None = None
    access_token: Line255 | None = Field(default=None, description="never given back")


class RescheduleIn(Change):
    """A booking's new time."""

    start_time: Instant
    end_time: Instant | None = Field(
        default=None, description="absent: the booking keeps its length"
    )
    timezone: Timezone | None = None


class ScheduleIn(Change):
    """When an episode goes out."""

    scheduled_for: Instant


class PublishIn(Change):
    """When an episode went out."""

    published_at: Instant | None = Field(default=None, description="None: now")


class EpisodeDatesIn(Change):
    """An episode's new dates; absent leaves a date, null takes it away."""

    recording_at: Instant | None = None
    scheduled_for: Instant | None = None


class NothingIn(Input):
    """No body, or an empty object."""
