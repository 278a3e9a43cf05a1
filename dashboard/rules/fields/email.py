"""What a rule that sends an e-mail needs."""

from __future__ import annotations

from typing import Any

from wtforms import RadioField, SelectChoice, StringField, TextAreaField

from dashboard.rules.fields.base import ActionFields, line, lines


class EmailFields(ActionFields):
    """Recipient and words of a mail."""

    names: tuple[str, ...] = ("recipient", "address", "subject", "text", "html")

    recipient = RadioField(
        "To",
        choices=[
            SelectChoice("guest", "The guest"),
            SelectChoice("host", "The podcast’s host"),
            SelectChoice("fixed", "This address"),
        ],
        default="guest",
        validate_choice=False,  # the action says it better
    )
    address = StringField("Address", render_kw={"inputmode": "email"})
    subject = StringField("Subject", render_kw={"maxlength": 1000})
    text = TextAreaField("Text", render_kw={"rows": 10})
    html = TextAreaField(
        "HTML",
        description="Optional. Without it the mail is plain text.",
        render_kw={"rows": 8, "spellcheck": "false"},
    )

    def settings(self) -> dict[str, Any]:
        """Return the mail's settings."""
        recipient = self.recipient.data or ""
        settings = {
            "recipient": recipient,
            "subject": line(self.subject.data),
            "text": lines(self.text.data),
            "html": lines(self.html.data),
        }
        if recipient == "fixed":
            settings["address"] = line(self.address.data)
        return settings
