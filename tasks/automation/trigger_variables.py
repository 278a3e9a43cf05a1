"""What messages and conditions may use, trigger by trigger: section and field."""

from __future__ import annotations

from typing import Final

_CONGREGATION: Final = (
    "congregation.name",
    "congregation.slug",
    "congregation.locale",
    "congregation.timezone",
)
_PODCAST: Final = (
    "podcast.id",
    "podcast.title",
    "podcast.slug",
    "podcast.timezone",
    "podcast.host_name",
    "podcast.host_email",
)
_BOOKING: Final = (
    "booking.id",
    "booking.guest_name",
    "booking.guest_email",
    "booking.guest_phone",
    "booking.start_time",
    "booking.end_time",
    "booking.timezone",
    "booking.meeting_url",
    "booking.status",
    "booking.revision",
    "booking_link.id",
    "booking_link.name",
)
_EPISODE: Final = (
    "episode.id",
    "episode.title",
    "episode.episode_number",
    "episode.description",
    "episode.status",
    "episode.recording_at",
    "episode.scheduled_for",
    "episode.published_at",
    "episode.timezone",
)
_GUEST: Final = ("guest.id", "guest.name", "guest.email")

_CONTACT: Final = (
    "contact.id",
    "contact.address",
    "contact.display_name",
    "contact.metadata",
)
_ENGAGEMENT: Final = (
    "engagement.id",
    "engagement.agent_email",
    "engagement.stage",
    "engagement.campaign",
    "engagement.next_action_at",
    "engagement.revision",
    "engagement.replied",
    "engagement.outbound_count",
    "engagement.last_outbound_at",
    "engagement.last_conversation_id",
)

OF_BOOKING: Final = _CONGREGATION + _PODCAST + _BOOKING + _EPISODE + _GUEST
OF_EPISODE: Final = _CONGREGATION + _PODCAST + _EPISODE + _GUEST
OF_GUEST: Final = _CONGREGATION + _PODCAST + _GUEST + _EPISODE
OF_CONTACT: Final = _CONGREGATION + _CONTACT + _ENGAGEMENT
OF_CAMPAIGN: Final = (
    *_CONGREGATION,
    "campaign.id",
    "campaign.name",
    "campaign.starts_on",
    "campaign.ends_on",
)
OF_MEMBER: Final = (*_CONGREGATION, "member.id", "member.left_on")
OF_NOTIFICATION: Final = (
    *_CONGREGATION,
    "notification.id",
    "notification.type",
    "notification.error",
)
OF_SYNC: Final = (
    *_CONGREGATION,
    "sync.id",
    "sync.source",
    "sync.n_created",
    "sync.n_updated",
    "sync.n_missing",
    "sync.n_rejected",
    "sync.error",
)
OF_DOCUMENT: Final = (
    *_CONGREGATION,
    "document.id",
    "document.title",
    "document.error",
)
OF_TRANSFER: Final = (
    *_CONGREGATION,
    "transfer.id",
    "transfer.direction",
    "transfer.n_rows",
    "transfer.error",
)
OF_ENDPOINT: Final = (
    *_CONGREGATION,
    "endpoint.id",
    "endpoint.name",
    "endpoint.failures",
    "endpoint.failing_since",
)
