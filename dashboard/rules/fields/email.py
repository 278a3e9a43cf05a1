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
from tasks.saying import later

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
        later("To"),
        choices=[
            SelectChoice("guest", later("The guest")),
            SelectChoice("host", later("The podcast’s host")),
            SelectChoice("contact", later("The contact (outreach)")),
            SelectChoice("agent", later("The agent (outreach)")),
            SelectChoice("fixed", later("This address")),
        ],
        default="guest",
        validate_choice=False,  # the action says it better
    )
    address = StringField(later("Address"), render_kw={"inputmode": "email"})
    subject = StringField(later("Subject"), render_kw={"maxlength": 1000})
    text = TextAreaField(later("Text"), render_kw={"rows": 10})
    html = TextAreaField(
        later("HTML"),
        description=later(
            "Optional. With it the text may stay empty: it is then made from the HTML."
        ),
        render_kw={"rows": 8, "spellcheck": "false"},
    )
    look = BooleanField(
        later("Send it in the built-in layout"),
        default=True,
        description=later(
            "Your words in a frame that fits every screen, light and dark, with the "
            "congregation’s name above. Without it the mail goes out as it is written."
        ),
    )
    calendar = BooleanField(
        later("Attach the booking’s calendar file"),
        description=later(
            "Calendars take it up, move it when the booking moves and remove it when "
            "it is cancelled, if your mails about that bring the file as well."
        ),
    )
    transactional = BooleanField(
        later("It is about something they arranged, such as their own booking"),
        description=later(
            "Then it has no link to unsubscribe, and goes to those who did, too. "
            "Never to an address that an operator stopped."
        ),
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
