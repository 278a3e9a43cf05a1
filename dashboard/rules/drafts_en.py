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
