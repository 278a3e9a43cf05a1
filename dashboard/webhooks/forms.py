"""The forms of endpoints: what they hear of, a new secret, a replay."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from flask_wtf import FlaskForm
from wtforms import (
    BooleanField,
    RadioField,
    SelectChoice,
    SelectField,
    SelectMultipleField,
    StringField,
)
from wtforms.widgets import CheckboxInput, ListWidget

from dashboard.filter_fields import MomentField, by_own_clock
from dashboard.rules.scope import SEVERAL, Place, RuleScope, scope_choices
from tasks.errors import InvalidInput
from tasks.models import Endpoint
from tasks.outbound.urls import URL_MAX
from tasks.saying import later, meant, say
from tasks.webhooks.endpoint_fields import DESCRIPTION_MAX, EndpointChange
from tasks.webhooks.filters import EVENT_TYPES

_ALL: Final = "all"
_CHOSEN: Final = "chosen"


class _RefusableForm(FlaskForm):  # type: ignore[misc]  # WTForms has no types
    def refuse(self, refused: InvalidInput) -> None:
        """Show the engine's refusal at the field that it names, else at the first."""
        names = [name for name in self.data if name != "csrf_token"]
        aliases = {"podcast_ids": "scope"}
        wanted = aliases.get(refused.field or "", refused.field)
        name = wanted if wanted in names else names[0]
        self[name].errors = [*self[name].errors, refused.message]


class EndpointForm(_RefusableForm):
    """What an admin says about an endpoint."""

    url = StringField(
        later("Address"),
        description=later(
            "Where events are posted to, such as https://example.org/hook."
        ),
        render_kw={"maxlength": URL_MAX, "inputmode": "url", "autocomplete": "off"},
    )
    description = StringField(
        later("Description"),
        description=later("Optional: whose it is, or what it is for."),
        render_kw={"maxlength": DESCRIPTION_MAX, "autocomplete": "off"},
    )
    scope = SelectField(later("Events of"), validate_choice=False)
    podcasts = SelectMultipleField(
        later("These podcasts"),
        validate_choice=False,  # the engine says it better
        description=later("They count when “Several podcasts” is chosen above."),
        widget=ListWidget(prefix_label=False),
        option_widget=CheckboxInput(),
    )
    which = RadioField(
        later("Which events"),
        choices=[
            SelectChoice(
                _ALL, later("Every event, also of kinds that are yet to come")
            ),
            SelectChoice(_CHOSEN, later("These:")),
        ],
        default=_ALL,
        validate_choice=False,
    )
    event_types = SelectMultipleField(
        later("Types"),
        choices=[
            SelectChoice(name, later(title)) for name, title in EVENT_TYPES.items()
        ],
        validate_choice=False,
        widget=ListWidget(prefix_label=False),
        option_widget=CheckboxInput(),
    )

    def offer(self, found: Sequence[Place]) -> None:
        """Say which congregations and podcasts may be chosen."""
        self.scope.choices = scope_choices(found, several=True)
        is_one = len({place.congregation_id for place in found}) < 2
        self.podcasts.choices = [
            SelectChoice(
                place.podcast_id,
                place.title if is_one else f"{place.title} ({place.congregation})",
            )
            for place in found
            if place.podcast_id is not None
        ]

    @property
    def offers_several(self) -> bool:
        """Whether there are enough podcasts to choose several of them."""
        return any(str(c.value).endswith(SEVERAL) for c in self.scope.choices)

    def fill(self, endpoint: Endpoint) -> None:
        """Show what is set."""
        ids, types = endpoint.podcast_ids, endpoint.event_types
        scope = RuleScope(endpoint.congregation_id, None if ids is None else tuple(ids))
        self.url.data = endpoint.url
        self.description.data = endpoint.description
        self.scope.data = str(scope)
        self.podcasts.data = ids or []
        self.which.data = _ALL if types is None else _CHOSEN
        self.event_types.data = types or []

    @property
    def place(self) -> RuleScope:
        """Where the events are from.

        Raises:
            InvalidInput: nothing that can be chosen.
        """
        found = RuleScope.of(self.scope.data, self.podcasts.data or ())
        if found is None:
            raise InvalidInput(
                "required", say("Choose a congregation or a podcast."), field="scope"
            )
        return found

    def change(self) -> EndpointChange:
        """Return the input in the engine's words.

        Raises:
            InvalidInput: no congregation is chosen.
        """
        hears_all = self.which.data != _CHOSEN
        return EndpointChange(
            url=self.url.data or "",
            description=self.description.data or "",
            event_types=None if hears_all else self.event_types.data or (),
            podcast_ids=self.place.podcast_ids,
        )


class RotateForm(_RefusableForm):
    """How long the former secret is still good."""

    former = RadioField(
        later("The present secret"),
        choices=[
            SelectChoice(
                "keep", later("signs as well for 24 hours, to change over in peace")
            ),
            SelectChoice(
                "drop", later("is worth nothing at once, because somebody knows it")
            ),
        ],
        default="keep",
        validate_choice=False,
    )

    @property
    def keeps_former(self) -> bool:
        """Whether the former secret signs for another day."""
        return bool(self.former.data != "drop")


class ReplayForm(_RefusableForm):
    """What is to be told again."""

    since = MomentField(by_own_clock(later(meant("a time", "From"))))
    until = MomentField(by_own_clock(later(meant("a time", "Until"))))
    again = BooleanField(later("Also what arrived already"))
