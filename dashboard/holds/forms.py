"""The form of a hold: what, why, and until when."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Final
from uuid import UUID

from flask_wtf import FlaskForm
from wtforms import HiddenField, SelectChoice, SelectField, StringField

from dashboard.filter_fields import clean
from tasks.errors import InvalidInput
from tasks.holds.finding import CHANNELS
from tasks.holds.setting import WHY_MAX, What
from tasks.models import Channel, Congregation
from tasks.saying import later, say

#: After how long a hold ends by itself; none: when somebody lifts it.
ENDS: Final = {
    "": (later("When somebody lifts it"), None),
    "1h": (later("In 1 hour"), timedelta(hours=1)),
    "4h": (later("In 4 hours"), timedelta(hours=4)),
    "12h": (later("In 12 hours"), timedelta(hours=12)),
    "1d": (later("In 1 day"), timedelta(days=1)),
    "3d": (later("In 3 days"), timedelta(days=3)),
    "7d": (later("In 7 days"), timedelta(days=7)),
}
#: Channels that no rule uses.
_NO_RULES: Final = frozenset({Channel.DELIVERIES, Channel.NOTIFICATIONS})


class HoldForm(FlaskForm):  # type: ignore[misc]  # WTForms has no types
    """What an operator says about what must not leave."""

    rule_id = HiddenField()
    congregation_id = SelectField(
        later("Whose"),
        invalid_choice_message=later("Choose a congregation from the list."),
    )
    channel = SelectField(
        later("What"),
        invalid_choice_message=later("Choose what is held from the list."),
    )
    why = StringField(
        later("Why"),
        filters=[clean],
        description=later("Everybody who uses the console sees it while it is held."),
        render_kw={"maxlength": WHY_MAX},
    )
    end = SelectField(
        later("Ends"),
        invalid_choice_message=later("Choose an end from the list."),
        choices=[SelectChoice(key, label) for key, (label, _) in ENDS.items()],
        description=later(
            "When it ends by itself, what waited goes out by and by, as far as it is "
            "still of use. Lift it yourself to choose."
        ),
    )

    def offer(
        self, congregations: Sequence[Congregation], *, everywhere: bool, of_rule: bool
    ) -> None:
        """Say what may be chosen; a rule has its congregation already."""
        all_ = [SelectChoice("", say("All congregations"))] if everywhere else []
        self.congregation_id.choices = [
            *all_,
            *(SelectChoice(str(one.id), one.name) for one in congregations),
        ]
        if of_rule:
            self.congregation_id.choices = [SelectChoice("", "")]
        self.channel.choices = [SelectChoice("", say("Everything that leaves"))]
        for channel, text in CHANNELS.items():
            if not (of_rule and channel in _NO_RULES):
                label = say("Only %(what)s", what=say(text))
                self.channel.choices.append(SelectChoice(channel.value, label))

    @property
    def rule(self) -> UUID | None:
        """The rule that is meant, if one is.

        Raises:
            InvalidInput: it is no id.
        """
        try:
            return UUID(self.rule_id.data) if self.rule_id.data else None
        except ValueError:
            raise InvalidInput(
                "bad_rule", say("That is no rule's id; begin at the rule's page.")
            ) from None

    @property
    def what(self) -> What:
        """What is meant; only asked for when the form is valid."""
        of, channel = self.congregation_id.data, self.channel.data
        return What(
            UUID(of) if of else None, Channel(channel) if channel else None, self.rule
        )

    def until(self, now: datetime) -> datetime | None:
        """When it ends by itself; only asked for when the form is valid."""
        span = ENDS[self.end.data or ""][1]
        return now + span if span else None

    def refuse(self, refused: InvalidInput) -> None:
        """Show the engine's refusal at the field that it names."""
        name = refused.field if refused.field in self.data else "why"
        self[name].errors = [*self[name].errors, refused.message]
