"""Every trigger: what a rule can wait for, one row each."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final, Literal

from tasks.automation.trigger_variables import (
    OF_BOOKING,
    OF_CAMPAIGN,
    OF_CONTACT,
    OF_DOCUMENT,
    OF_ENDPOINT,
    OF_EPISODE,
    OF_GUEST,
    OF_MEMBER,
    OF_NOTIFICATION,
    OF_SYNC,
    OF_TRANSFER,
)
from tasks.saying import mark

#: "work": one of our own lanes ended something; its values come with the event alone.
Subject = Literal["booking", "episode", "guest", "contact", "work"]
#: Subjects that only Carillon itself reports on; no podcast is concerned then.
OWN_SUBJECTS: Final = frozenset({"contact", "work"})
#: The date a time trigger counts from.
Reference = Literal["recording", "publish", "booking"]


@dataclass(frozen=True, slots=True)
class Trigger:
    """One thing that rules can wait for: an event, or a distance from a date."""

    name: str  # stored in rules and events, e.g. "booking.confirmed"
    title: str  # for lists of operators; whoever shows it says it
    sentence: str  # the same; ends "…" of "When …" or of "{offset} …"
    subject: Subject
    variables: tuple[str, ...]  # what messages may use, e.g. "guest.name"
    reference: Reference | None = None  # None: an event, not a date
    direction: Literal[-1, 0, 1] = 0  # before or after the reference; 0: an event

    @property
    def is_time(self) -> bool:
        """Whether it counts from a date instead of waiting for an event."""
        return self.reference is not None

    @property
    def is_own(self) -> bool:
        """Whether only Carillon itself reports it; no podcast is concerned then."""
        return self.subject in OWN_SUBJECTS


_ROWS: Final = (
    Trigger(
        "booking.confirmed",
        mark("Booking confirmed"),
        mark("a booking is confirmed"),
        "booking",
        OF_BOOKING,
    ),
    Trigger(
        "booking.declined",
        mark("Booking declined"),
        mark("a booking is declined"),
        "booking",
        OF_BOOKING,
    ),
    Trigger(
        "booking.canceled",
        mark("Booking cancelled"),
        mark("a booking is cancelled"),
        "booking",
        OF_BOOKING,
    ),
    Trigger(
        "booking.rescheduled",
        mark("Booking moved"),
        mark("a booking moves to another time"),
        "booking",
        OF_BOOKING,
    ),
    Trigger(
        "episode.published",
        mark("Episode published"),
        mark("an episode is published"),
        "episode",
        OF_EPISODE,
    ),
    Trigger(
        "episode.scheduled",
        mark("Episode scheduled"),
        mark("an episode gets its publication date"),
        "episode",
        OF_EPISODE,
    ),
    Trigger(
        "episode.draft_created",
        mark("Episode draft created"),
        mark("a draft of an episode is created"),
        "episode",
        OF_EPISODE,
    ),
    Trigger(
        "guest.responded",
        mark("Guest responded"),
        mark("a guest responds"),
        "guest",
        OF_GUEST,
    ),
    Trigger(
        "guest.reminder_sent",
        mark("Guest reminded"),
        mark("a guest was reminded"),
        "guest",
        OF_GUEST,
    ),
    Trigger(
        "contact.due",
        mark("Contact due"),
        mark("an agent is to look at a contact again"),
        "contact",
        OF_CONTACT,
    ),
    Trigger(
        "campaign.activated",
        mark("Campaign started"),
        mark("a campaign starts"),
        "work",
        OF_CAMPAIGN,
    ),
    Trigger(
        "campaign.ended",
        mark("Campaign ended"),
        mark("a campaign ends"),
        "work",
        OF_CAMPAIGN,
    ),
    Trigger(
        "member.anonymised",
        mark("Member anonymised"),
        mark("a member who left is anonymised"),
        "work",
        OF_MEMBER,
    ),
    Trigger(
        "notification.failed",
        mark("Notification failed"),
        mark("a notification cannot be sent"),
        "work",
        OF_NOTIFICATION,
    ),
    Trigger(
        "sync.completed",
        mark("Addresses synchronised"),
        mark("addresses are synchronised"),
        "work",
        OF_SYNC,
    ),
    Trigger(
        "sync.failed",
        mark("Address sync failed"),
        mark("addresses cannot be synchronised"),
        "work",
        OF_SYNC,
    ),
    Trigger(
        "document.thumbnail_ready",
        mark("Thumbnail ready"),
        mark("a document has its thumbnail"),
        "work",
        OF_DOCUMENT,
    ),
    Trigger(
        "document.thumbnail_failed",
        mark("Thumbnail failed"),
        mark("a document gets no thumbnail"),
        "work",
        OF_DOCUMENT,
    ),
    Trigger(
        "data_transfer.completed",
        mark("Data transfer completed"),
        mark("an export or import is done"),
        "work",
        OF_TRANSFER,
    ),
    Trigger(
        "data_transfer.failed",
        mark("Data transfer failed"),
        mark("an export or import fails"),
        "work",
        OF_TRANSFER,
    ),
    Trigger(
        "endpoint.warned",
        mark("Webhook endpoint failing"),
        mark("a webhook endpoint fails for hours and is going to be switched off"),
        "work",
        (*OF_ENDPOINT, "endpoint.off_at"),
    ),
    Trigger(
        "endpoint.disabled",
        mark("Webhook endpoint switched off"),
        mark("a webhook endpoint is switched off because it does not answer"),
        "work",
        (*OF_ENDPOINT, "endpoint.reason"),
    ),
    Trigger(
        "time.before_recording",
        mark("Before the recording"),
        mark("before the recording"),
        "booking",
        OF_BOOKING,
        reference="recording",
        direction=-1,
    ),
    Trigger(
        "time.after_recording",
        mark("After the recording"),
        mark("after the recording"),
        "booking",
        OF_BOOKING,
        reference="recording",
        direction=1,
    ),
    Trigger(
        "time.before_publish",
        mark("Before the publication"),
        mark("before the publication"),
        "episode",
        OF_EPISODE,
        reference="publish",
        direction=-1,
    ),
    Trigger(
        "time.after_publish",
        mark("After the publication"),
        mark("after the publication"),
        "episode",
        OF_EPISODE,
        reference="publish",
        direction=1,
    ),
    Trigger(
        "time.after_booking",
        mark("After the booking"),
        mark("after the booking is confirmed"),
        "booking",
        OF_BOOKING,
        reference="booking",
        direction=1,
    ),
)

#: All triggers by name, in the order in which operators see them.
TRIGGERS: Final[Mapping[str, Trigger]] = MappingProxyType(
    {trigger.name: trigger for trigger in _ROWS}
)
#: The names of the triggers that count from a date.
TIME_TRIGGERS: Final = tuple(row.name for row in _ROWS if row.is_time)


def reportable() -> list[str]:
    """Return the triggers that producers may report."""
    return [row.name for row in _ROWS if not row.is_time and not row.is_own]
