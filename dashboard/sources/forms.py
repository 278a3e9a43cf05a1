"""The forms of sources, feeds and guest lists."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final
from uuid import UUID

from flask_wtf import FlaskForm
from wtforms import (
    BooleanField,
    FileField,
    PasswordField,
    RadioField,
    SelectChoice,
    SelectField,
    StringField,
    TextAreaField,
)

from dashboard.sources.places import chosen_podcast
from tasks.errors import InvalidInput
from tasks.models import Source, SourceKind
from tasks.operations.source_checks import NAME_MAX, SECRET_MAX
from tasks.operations.sources import SourceChange
from tasks.outbound.urls import URL_MAX
from tasks.saying import later, mark, say
from tasks.sources.providers import PROVIDERS

#: What becomes of guests that are known: the form's word -> what operators read.
KNOWN_GUESTS: Final = {
    "merge": mark("Give them what the file says"),
    "keep": mark("Leave them as they are"),
}
_NAME: Final = {"maxlength": NAME_MAX, "autocomplete": "off"}


class _RefusableForm(FlaskForm):  # type: ignore[misc]  # WTForms has no types
    def refuse(self, refused: InvalidInput) -> None:
        """Show the engine's refusal at the field that it names, else at the first."""
        names = [name for name in self.data if name != "csrf_token"]
        name = refused.field if refused.field in names else names[0]
        self[name].errors = [*self[name].errors, refused.message]


class OfPodcastForm(_RefusableForm):
    """A form that begins with the choice of a podcast."""

    podcast_id = SelectField(later("Podcast"), validate_choice=False)

    def offer(self, podcasts: Sequence[SelectChoice]) -> None:
        """Say which podcasts may be chosen."""
        self.podcast_id.choices = list(podcasts)

    @property
    def podcast(self) -> tuple[UUID, str]:
        """The congregation and its podcast that are chosen.

        Raises:
            InvalidInput: none is chosen.
        """
        return chosen_podcast(self.podcast_id.data)


class NewSourceForm(OfPodcastForm):
    """What an admin says about a new source."""

    kind = RadioField(
        later("Service"),
        choices=[SelectChoice(str(kind), row.title) for kind, row in PROVIDERS.items()],
        default=str(SourceKind.CALCOM),
        validate_choice=False,
    )
    name = StringField(
        later("Name"),
        description=later("Such as “Interviews at Cal.com”."),
        render_kw=_NAME,
    )
    secret = PasswordField(
        later("Secret"),
        description=later(
            "Only if the service has made one already; else leave it empty and "
            "get a good one here."
        ),
        render_kw={"maxlength": SECRET_MAX, "autocomplete": "new-password"},
    )

    @property
    def source_kind(self) -> SourceKind:
        """The chosen service.

        Raises:
            InvalidInput: none is chosen.
        """
        if self.kind.data not in set(SourceKind):
            raise InvalidInput("required", say("Choose a service."), field="kind")
        return SourceKind(self.kind.data)


class SecretForm(_RefusableForm):
    """Another secret for a source."""

    secret = PasswordField(
        later("New secret"),
        description=later("Empty: one is made here."),
        render_kw={"maxlength": SECRET_MAX, "autocomplete": "new-password"},
    )


class SourceForm(_RefusableForm):
    """What an admin may change about a source."""

    name = StringField(later("Name"), render_kw=_NAME)
    event_types = TextAreaField(
        later("Event types"), render_kw={"rows": 4, "spellcheck": "false"}
    )
    only_listed = BooleanField(later("Ignore event types that are not listed"))

    def fill(self, source: Source) -> None:
        """Show what is set."""
        self.name.data = source.name
        lines = (f"{name} = {link}" for name, link in source.event_types.items())
        self.event_types.data = "\n".join(lines)
        self.only_listed.data = source.only_listed

    def change(self) -> SourceChange:
        """Return the input in the engine's words.

        Raises:
            InvalidInput: a line of the event types cannot be read.
        """
        types: dict[str, str] = {}
        for number, line in enumerate((self.event_types.data or "").splitlines(), 1):
            if not line.strip():
                continue
            name, sign, link = (part.strip() for part in line.rpartition("="))
            if not sign or not name or not link:
                raise InvalidInput(
                    "bad_event_types",
                    say(
                        "Line %(number)s must say: event type = booking link.",
                        number=number,
                    ),
                    field="event_types",
                )
            types[name] = link
        return SourceChange(self.name.data or "", types, bool(self.only_listed.data))


class FeedUrlForm(_RefusableForm):
    """Another address for a feed."""

    url = StringField(
        later("Address of the feed"),
        render_kw={"maxlength": URL_MAX, "inputmode": "url", "autocomplete": "off"},
    )


class NewFeedForm(OfPodcastForm):
    """What an operator says about a new feed."""

    url = StringField(
        later("Address of the feed"),
        description=later(
            "RSS or Atom, as podcast apps use it. What it holds already is "
            "imported without events; what comes later fires “Episode published”."
        ),
        render_kw={"maxlength": URL_MAX, "inputmode": "url", "autocomplete": "off"},
    )


class GuestFileForm(OfPodcastForm):
    """A list of guests to look at."""

    file = FileField(
        later("File"),
        description=later(
            "CSV, up to 5 MB and 5,000 guests. The first line names the "
            "columns, such as Name, E-mail; Nom, Courriel; Vorname, Nachname."
        ),
        render_kw={"accept": ".csv,.tsv,.txt,text/csv"},
    )


class TakeGuestsForm(_RefusableForm):
    """How a list of guests is taken over."""

    known = RadioField(
        later("Guests that are known already"),
        choices=[
            SelectChoice(word, later(title)) for word, title in KNOWN_GUESTS.items()
        ],
        default="merge",
        validate_choice=False,
    )

    @property
    def merge(self) -> bool:
        """Whether known guests get what the file says."""
        return bool(self.known.data != "keep")
