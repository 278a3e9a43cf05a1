"""What a new rule's mail begins with, in the congregation's language."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from types import ModuleType
from typing import Final

from dashboard.rules import drafts_en, drafts_fr
from tasks.automation.triggers import TRIGGERS

_LANGUAGES: Final[Mapping[str, ModuleType]] = {"en": drafts_en, "fr": drafts_fr}
#: Triggers whose first words are for the guest; the others are for the host.
_FOR_GUESTS: Final = frozenset(
    {
        "booking.confirmed",
        "booking.declined",
        "booking.canceled",
        "booking.rescheduled",
        "time.before_recording",
        "time.after_recording",
        "time.after_booking",
    }
)


@dataclass(frozen=True, slots=True)
class Draft:
    """First words for a mail."""

    recipient: str  # "guest", "host", "agent" or "fixed"
    subject: str
    text: str


@cache
def draft(trigger_type: str, locale: str) -> Draft | None:
    """Return first words for a trigger; None when there is no such trigger.

    A language without words gets the English ones.
    """
    if trigger_type not in TRIGGERS:
        return None
    words = _LANGUAGES.get(locale, drafts_en)
    reader = "guest" if trigger_type in _FOR_GUESTS else "host"
    sender = "{{ podcast.title }}"
    if TRIGGERS[trigger_type].is_own:
        is_outreach = TRIGGERS[trigger_type].subject == "contact"
        reader = "agent" if is_outreach else "fixed"
        sender = "{{ congregation.name }}"
    subject, body = words.TEXTS[trigger_type]
    text = f"{words.GREETINGS[reader]}\n\n{body.strip()}\n\n{sender}"
    return Draft(reader, subject, text)


@cache
def _all() -> tuple[frozenset[str], frozenset[str]]:
    drafts = [
        one
        for trigger in TRIGGERS
        for locale in _LANGUAGES
        if (one := draft(trigger, locale))
    ]
    return (
        frozenset(one.subject for one in drafts),
        frozenset(one.text for one in drafts),
    )


def is_untouched(subject: str, text: str) -> bool:
    """Whether nobody has written here yet, so that another draft may take the place.

    >>> is_untouched("", "")
    True
    >>> is_untouched("Mine", "")
    False
    """
    subjects, texts = _all()
    plain = text.replace("\r\n", "\n").strip("\n")
    return subject.strip() in {"", *subjects} and plain in {"", *texts}
