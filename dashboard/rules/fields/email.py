"""What a rule that sends an e-mail needs."""

from __future__ import annotations

from types import MappingProxyType
from typing import Any, Final

from wtforms import (
    BooleanField,
    RadioField,
    SelectChoice,
    StringField,
    TextAreaField,
)

from dashboard.rules.fields.base import ActionFields, line, lines

#: Settings that are on or off; what is off is not kept.
_SWITCHES: Final = ("look", "calendar", "transactional")


class EmailFields(ActionFields):
    """Recipient and words of a mail."""

    names: tuple[str, ...] = (
        *("recipient", "address", "subject", "text", "html"),
        *_SWITCHES,
    )
    unsaid = MappingProxyType({"look": False})

    recipient = RadioField(
        "To",
        choices=[
            SelectChoice("guest", "The guest"),
            SelectChoice("host", "The podcast’s host"),
            SelectChoice("contact", "The contact (outreach)"),
            SelectChoice("agent", "The agent (outreach)"),
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
        description="Optional. With it the text may stay empty: it is then made from "
        "the HTML.",
        render_kw={"rows": 8, "spellcheck": "false"},
    )
    look = BooleanField(
        "Send it in the built-in layout",
        default=True,
        description="Your words in a frame that fits every screen, light and dark, "
        "with the congregation’s name above. Without it the mail goes out as it is "
        "written.",
    )
    calendar = BooleanField(
        "Attach the booking’s calendar file",
        description="Calendars take it up, move it when the booking moves and remove "
        "it when it is cancelled, if your mails about that bring the file as well.",
    )
    transactional = BooleanField(
        "It is about something they arranged, such as their own booking",
        description="Then it has no link to unsubscribe, and goes to those who did, "
        "too. Never to an address that an operator stopped.",
    )

    def settings(self) -> dict[str, Any]:
        """Return the mail's settings."""
        recipient = self.recipient.data or ""
        settings: dict[str, Any] = {
            "recipient": recipient,
            "subject": line(self.subject.data),
            "text": lines(self.text.data),
            "html": lines(self.html.data),
        }
        if recipient == "fixed":
            settings["address"] = line(self.address.data)
        switched_on = {name: True for name in _SWITCHES if getattr(self, name).data}
        return settings | switched_on
