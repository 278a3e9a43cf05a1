"""The forms of outreach: the filter of the list, and one engagement."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Self
from uuid import UUID

from flask_wtf import FlaskForm
from wtforms import (
    BooleanField,
    HiddenField,
    SelectChoice,
    SelectField,
    StringField,
)
from wtforms.validators import InputRequired

from dashboard.filter_fields import MomentField, by_own_clock, clean
from tasks.errors import InvalidInput
from tasks.models import Congregation, Engagement
from tasks.outreach.checks import CAMPAIGN_MAX, STAGE_MAX
from tasks.outreach.versions import check_version
from tasks.saying import later


class EngagementForm(FlaskForm):  # type: ignore[misc]  # WTForms has no types
    """What an operator may say about an engagement."""

    stage = StringField(
        later("Stage"),
        description=later("The agent’s own word for where it stands."),
        render_kw={"maxlength": STAGE_MAX},
    )
    campaign = StringField(
        later("Campaign"),
        description=later("Optional: a name; its engagements share a daily cap."),
        filters=[clean],
        render_kw={"maxlength": CAMPAIGN_MAX},
    )
    next_action_at = MomentField(by_own_clock(later("Next action")))
    stop_on_reply = BooleanField(later("Stop when the contact replies"))
    quiet_from = StringField(
        later("Quiet from"),
        description=later("Such as 21:00; empty for none."),
        filters=[clean],
    )
    quiet_until = StringField(later("Quiet until"), filters=[clean])
    timezone = StringField(
        later("Time zone of the quiet hours"),
        description=later("Such as Europe/Paris; empty: the congregation’s."),
        filters=[clean],
    )

    version = HiddenField()

    def values(self) -> dict[str, Any]:
        """Return the engagement's values in the engine's words."""
        return {
            "stage": self.stage.data or "",
            "campaign": self.campaign.data or None,
            "next_action_at": self.next_action_at.data,
            "stop_on_reply": bool(self.stop_on_reply.data),
            "quiet_from": self.quiet_from.data or None,
            "quiet_until": self.quiet_until.data or None,
            "timezone": self.timezone.data or None,
        }

    def values_for(self, row: Engagement) -> dict[str, Any]:
        """Return the values; an instant that was not touched keeps its seconds."""
        values, known = self.values(), row.next_action_at
        given = values["next_action_at"]
        if known and given == known.replace(second=0, microsecond=0):
            values["next_action_at"] = known
        return values

    def check(self, row: Engagement) -> None:
        """Refuse a page from before its agent, or somebody else, changed the row.

        Raises:
            Conflict: the row is another one by now.
        """
        is_same = self.version.data == str(row.version)
        check_version(row.version, frozenset({row.version} if is_same else ()))

    def refuse(self, refused: InvalidInput) -> None:
        """Show the engine's refusal at the field that it names."""
        name = refused.field if refused.field in self.data else "stage"
        self[name].errors = [*self[name].errors, refused.message]

    @classmethod
    def of(cls, row: Engagement) -> Self:
        """Return the form filled with what is known."""
        return cls(
            stage=row.stage,
            campaign=row.campaign or "",
            next_action_at=row.next_action_at,
            stop_on_reply=row.stop_on_reply,
            quiet_from=row.quiet_from or "",
            quiet_until=row.quiet_until or "",
            timezone=row.timezone or "",
            version=str(row.version),
        )


class EnrolForm(EngagementForm):
    """A new engagement: whom, and which agent."""

    congregation_id = SelectField(
        later("Congregation"),
        [InputRequired(later("Choose a congregation."))],
        invalid_choice_message=later("Choose a congregation."),
    )
    agent = StringField(
        later("Agent"),
        description=later("The address of the agent that is to be woken."),
        render_kw={"inputmode": "email", "autocomplete": "off"},
    )
    address = StringField(
        later("Contact"),
        description=later("The address of whom the agent writes to."),
        render_kw={"inputmode": "email", "autocomplete": "off"},
    )

    def offer(self, congregations: Sequence[Congregation]) -> None:
        """Say which congregations may be chosen."""
        self.congregation_id.choices = [
            SelectChoice(str(one.id), one.name) for one in congregations
        ]

    @property
    def congregation(self) -> UUID:
        """The chosen congregation; only asked for when the form is valid."""
        return UUID(self.congregation_id.data)
