"""First words for the mails of new rules, in English."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

_WHEN: Final = (
    '{{ booking.start_time | date: "%d %B %Y, %H:%M" }} ({{ booking.timezone }})'
)
_LINK: Final = (
    "{% if booking.meeting_url %}\nYou can join here: {{ booking.meeting_url }}\n"
    "{% endif %}"
)

#: Who reads it -> how the mail begins.
GREETINGS: Final[Mapping[str, str]] = {
    "guest": 'Hello {{ guest.name | default: "there" }},',
    "agent": "Hello,",
    "fixed": "Hello,",
    "host": 'Hello {{ podcast.host_name | default: "there" }},',
}

#: Trigger -> subject, and body without greeting.
TEXTS: Final[Mapping[str, tuple[str, str]]] = {
    "booking.confirmed": (
        "{{ podcast.title }}: your recording is confirmed",
        f"Your recording is set for {_WHEN}.\n{_LINK}\nWe look forward to it.",
    ),
    "booking.declined": (
        "{{ podcast.title }}: about your recording",
        f"We are sorry: {_WHEN} does not work for us.\nPlease choose another time.",
    ),
    "booking.canceled": (
        "{{ podcast.title }}: your recording is cancelled",
        f"The recording on {_WHEN} will not take place.",
    ),
    "booking.rescheduled": (
        "{{ podcast.title }}: your recording has a new time",
        f"Your recording is now on {_WHEN}.\n{_LINK}",
    ),
    "episode.published": (
        "“{{ episode.title }}” is out",
        "“{{ episode.title }}” of {{ podcast.title }} is published.",
    ),
    "episode.scheduled": (
        "“{{ episode.title }}” has its date",
        "“{{ episode.title }}” goes out on "
        '{{ episode.scheduled_for | date: "%d %B %Y, %H:%M" }}.',
    ),
    "episode.draft_created": (
        "New draft: {{ episode.title }}",
        "There is a new draft for {{ podcast.title }}: {{ episode.title }}.",
    ),
    "guest.responded": (
        "{{ guest.name }} has answered",
        "{{ guest.name }} has answered your invitation to {{ podcast.title }}.",
    ),
    "guest.reminder_sent": (
        "{{ guest.name }} was reminded",
        "A reminder for {{ podcast.title }} went to {{ guest.name }}.",
    ),
    "contact.due": (
        "{{ contact.display_name | default: contact.address }} is due",
        "It is time to look at {{ contact.address }} again."
        "{% if engagement.stage %}\nStage: {{ engagement.stage }}.{% endif %}",
    ),
    "campaign.activated": (
        "{{ campaign.name }} has started",
        "{{ campaign.name }} runs until {{ campaign.ends_on }}.",
    ),
    "campaign.ended": (
        "{{ campaign.name }} has ended",
        "{{ campaign.name }} ended on {{ campaign.ends_on }}.",
    ),
    "member.anonymised": (
        "A member was anonymised",
        "Who left on {{ member.left_on }} was anonymised, as it was planned.",
    ),
    "notification.failed": (
        "A notification could not be sent",
        "{{ notification.type }} could not be sent: {{ notification.error }}",
    ),
    "sync.completed": (
        "The addresses are up to date",
        "{{ sync.n_created }} new, {{ sync.n_updated }} changed, "
        "{{ sync.n_missing }} missing.",
    ),
    "sync.failed": (
        "The addresses could not be synchronised",
        "Nothing was changed: {{ sync.error }}",
    ),
    "document.thumbnail_ready": (
        "{{ document.title }} is on the board",
        "{{ document.title }} can be seen on the board with its first page.",
    ),
    "document.thumbnail_failed": (
        "{{ document.title }} has no thumbnail",
        "No thumbnail of {{ document.title }} could be made: {{ document.error }}",
    ),
    "data_transfer.completed": (
        "The {{ transfer.direction }} is done",
        "{{ transfer.n_rows }} rows went through.",
    ),
    "data_transfer.failed": (
        "The {{ transfer.direction }} failed",
        "Nothing was changed: {{ transfer.error }}",
    ),
    "endpoint.warned": (
        "The webhook endpoint {{ endpoint.name }} is failing",
        "It has failed {{ endpoint.failures }} times since "
        "{{ endpoint.failing_since }}, and is switched off at {{ endpoint.off_at }} "
        "if that goes on.",
    ),
    "endpoint.disabled": (
        "The webhook endpoint {{ endpoint.name }} was switched off",
        "{{ endpoint.reason }} It hears of nothing until it is switched on again.",
    ),
    "time.before_recording": (
        "{{ podcast.title }}: your recording is coming up",
        f"A reminder: we record on {_WHEN}.\n{_LINK}",
    ),
    "time.after_recording": (
        "{{ podcast.title }}: thank you",
        "Thank you for recording with us. We will let you know when the "
        "episode is out.",
    ),
    "time.before_publish": (
        "“{{ episode.title }}” goes out soon",
        "“{{ episode.title }}” of {{ podcast.title }} goes out on "
        '{{ episode.scheduled_for | date: "%d %B %Y, %H:%M" }}.',
    ),
    "time.after_publish": (
        "“{{ episode.title }}” is out: tell your listeners",
        "“{{ episode.title }}” of {{ podcast.title }} is out. A good moment "
        "to share it.",
    ),
    "time.after_booking": (
        "{{ podcast.title }}: before we record",
        f"Thank you for booking {_WHEN}.\nA quiet room and headphones are "
        "all you need.",
    ),
}
