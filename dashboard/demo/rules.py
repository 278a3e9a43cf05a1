"""The demo's rules: what its operators wrote."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Final

from dashboard.demo.people import CONVERSATIONS, DOMAIN, VOICES
from tasks.models import LatePolicy, OffsetUnit
from tasks.operations.rules import RuleChange

#: The rule that was switched off while jobs of it were waiting.
FEEDBACK: Final = "Ask how it was"

_WHEN: Final = '{{ booking.start_time | date: "%A, %d %B, %H:%M" }}'
_QUAND: Final = '{{ booking.start_time | date: "%d.%m.%Y à %H:%M" }}'
_GUEST: Final = '{{ guest.name | default: "dear guest" }}'


def _mail(
    to: str, subject: str, *lines: str, address: str = "", calendar: bool = False
) -> dict[str, Any]:
    settings: dict[str, Any] = {
        "recipient": to,
        "subject": subject,
        "text": "\n\n".join(lines),
        "look": True,
        "transactional": True,
    }
    if address:
        settings["address"] = address
    return settings | ({"calendar": True} if calendar else {})


_FOR_BOOKINGS: Final = (
    RuleChange(
        "Tell the guest that it is settled",
        "booking.confirmed",
        "email",
        _mail(
            "guest",
            "See you on the square, {{ guest.name | default: booking.guest_name }}",
            f"Dear {_GUEST},",
            f"your recording is on {_WHEN}. The studio is on the first floor of "
            "the parish house; ring at the side door. 🔔",
            "{{ podcast.host_name }}",
            calendar=True,
        ),
        podcast_ids=(CONVERSATIONS.id,),
    ),
    RuleChange(
        "Reserve the studio",
        "booking.confirmed",
        "webhook",
        {"url": "/studio"},
        max_attempts=4,
    ),
    RuleChange(
        "Old room calendar",
        "booking.rescheduled",
        "webhook",
        {"url": "/old-calendar"},
        max_attempts=3,
    ),
    RuleChange(
        "Tell the guest about the new time",
        "booking.rescheduled",
        "email",
        _mail(
            "guest",
            "New time: {{ podcast.title }}",
            f"It is now on {_WHEN}.",
            calendar=True,
        ),
    ),
    RuleChange(
        "Thank those whom we declined",
        "booking.declined",
        "email",
        _mail("guest", "Your request", f"Dear {_GUEST}, this time we cannot."),
        conditions={
            "match": "all",
            "rows": [{"field": "booking.guest_email", "operator": "not_empty"}],
        },
    ),
    RuleChange(
        "Tell the host that a guest called off",
        "booking.canceled",
        "email",
        _mail("host", "Called off: {{ booking.guest_name }}", f"It was on {_WHEN}."),
    ),
    RuleChange(
        "Tell the host what the guest answered",
        "guest.responded",
        "email",
        _mail("host", "{{ guest.name }} answered", "Look at the guest's page."),
    ),
)


_FOR_DATES: Final = (
    RuleChange(
        "Remind the guest a day before",
        "time.before_recording",
        "email",
        _mail(
            "guest",
            'Tomorrow at {{ booking.start_time | date: "%H:%M" }}',
            f"Dear {_GUEST},",
            f"we meet on {_WHEN}.",
        ),
        offset_value=24,
    ),
    RuleChange(
        "Ring the host a quarter before",
        "time.before_recording",
        "email",
        _mail("host", "In 15 minutes: {{ booking.guest_name }}", "On air soon."),
        offset_value=15,
        offset_unit=OffsetUnit.MINUTES,
        late_policy=LatePolicy.SEND_NOW,
    ),
    RuleChange(
        "Thank the guest",
        "time.after_recording",
        "email",
        _mail("guest", "Thank you", f"Dear {_GUEST}, it was a pleasure."),
        offset_value=2,
    ),
    RuleChange(
        FEEDBACK,
        "time.after_recording",
        "email",
        _mail("guest", "How was it?", "Two lines would help us."),
        offset_value=3,
        offset_unit=OffsetUnit.DAYS,
    ),
)


_FOR_EPISODES: Final = (
    RuleChange(
        "Rebuild the website",
        "episode.published",
        "webhook",
        {"url": "/website"},
    ),
    RuleChange(
        "Put it into the newsletter",
        "time.before_publish",
        "email",
        _mail(
            "fixed",
            "Next week: {{ episode.title }}",
            'Out on {{ episode.scheduled_for | date: "%d %B" }}.',
            address=f"newsletter@{DOMAIN}",
        ),
        offset_value=2,
        offset_unit=OffsetUnit.DAYS,
    ),
)


_VOICES: Final = (
    RuleChange(
        "Confirmer à l'invité",
        "booking.confirmed",
        "email",
        _mail(
            "guest",
            "C'est noté pour {{ podcast.title }}",
            '{{ guest.name | default: "Bonjour" }},',
            f"nous vous attendons le {_QUAND}, à la cure. À bientôt !",
            "{{ podcast.host_name }}",
        ),
        podcast_ids=(VOICES.id,),
    ),
    RuleChange(
        "Envoyer le guide de préparation",
        "time.after_booking",
        "email",
        _mail("guest", "Pour préparer l'entretien", "Trois questions suffisent."),
        podcast_ids=(VOICES.id,),
        offset_value=5,
        offset_unit=OffsetUnit.MINUTES,
    ),
)


def rule_changes(hook_port: int) -> list[RuleChange]:
    """Return the rules; webhooks go to the demo's own receiver."""
    return [
        replace(
            rule,
            settings={"url": f"http://127.0.0.1:{hook_port}{rule.settings['url']}"},
        )
        if rule.action == "webhook"
        else rule
        for rule in (*_FOR_BOOKINGS, *_FOR_DATES, *_FOR_EPISODES, *_VOICES)
    ]
