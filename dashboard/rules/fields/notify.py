"""What a rule that notifies a chat or a phone needs."""

from __future__ import annotations

from typing import Any

from wtforms import StringField, TextAreaField

from dashboard.rules.fields.base import ActionFields, line, lines
from tasks.saying import later


class NotifyFields(ActionFields):
    """Where it goes, which is a secret, and what it says."""

    names: tuple[str, ...] = ("target", "title", "words")

    target = StringField(
        later("Address to notify"),
        description=later(
            "Of Apprise, such as discord://id/token, or what the service gives you to "
            "copy. It is kept encrypted: later only its end is shown."
        ),
        render_kw={
            "autocomplete": "off",
            "spellcheck": "false",
            "placeholder": "ntfys://ntfy.example.org/topic",
        },
    )
    title = StringField(
        later("Title"), description=later("Optional."), render_kw={"maxlength": 1000}
    )
    words = TextAreaField(later("Message"), render_kw={"rows": 4})

    def settings(self) -> dict[str, Any]:
        """Return the notification's settings."""
        return {
            "target": line(self.target.data),
            "title": line(self.title.data),
            "words": lines(self.words.data),
        }
