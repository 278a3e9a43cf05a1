"""What a rule that calls a webhook needs."""

from __future__ import annotations

from typing import Any

from wtforms import StringField

from dashboard.rules.fields.base import ActionFields, line
from tasks.saying import later


class WebhookFields(ActionFields):
    """Where the webhook is."""

    names: tuple[str, ...] = ("url",)

    url = StringField(
        later("Address"),
        description=later("Gets a signed POST with the event as JSON."),
        render_kw={"inputmode": "url", "placeholder": "https://example.org/hook"},
    )

    def settings(self) -> dict[str, Any]:
        """Return the webhook's settings."""
        return {"url": line(self.url.data)}
