"""The forms of outreach: the filter of the list, and one engagement."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Self
from uuid import UUID

from flask_wtf import FlaskForm
from wtforms import (
    BooleanField,
    HiddenField,
    SearchField,
    SelectChoice,
    SelectField,
    StringField,
)
from wtforms.validators import InputRequired

from dashboard.filter_fields import MomentField, clean
from dashboard.outreach.tabs import TABS
from tasks.errors import InvalidInput
from tasks.models import Congregation, Engagement
from tasks.outreach.checks import CAMPAIGN_MAX, STAGE_MAX
from tasks.outreach.finding import Wanted


class OutreachFilter(FlaskForm):  # type: ignore[misc]  # WTForms has no types
    """Which engagements to list; it reads the address, so a filtered list is a link."""

    class Meta:
        """A filter changes nothing, so it needs no token."""

        csrf = False

    q = SearchField("Address begins with", filters=[clean])
    agent = SearchField("Agent", filters=[clean])
    campaign = SearchField("Campaign", filters=[clean])
    tab = HiddenField(filters=[clean])

    @property
    def chosen(self) -> str:
        """The tab that is open.

        Raises:
            InvalidInput: there is no such tab.
        """
        tab = self.tab.data or ""
        if tab not in TABS:
            raise InvalidInput(
                "bad_filter", "The filter in this address cannot be read.", field="tab"
            )
        return str(tab)

    @property
    def is_narrow(self) -> bool:
        """Whether anything but the tab narrows the list."""
        return bool(self.q.data or self.agent.data or self.campaign.data)

    def wanted(self) -> Wanted:
        """Return the filter in the engine's words."""
        return replace(
            TABS[self.chosen].wanted,
            agent=(self.agent.data or "").lower()[:254],
            campaign=(self.campaign.data or "")[:CAMPAIGN_MAX] or None,
            beginning=(self.q.data or "").lower()[:254],
        )


class EngagementForm(FlaskForm):  # type: ignore[misc]  # WTForms has no types
    """What an operator may say about an engagement."""

    stage = StringField(
        "Stage",
        description="The agent’s own word for where it stands.",
        render_kw={"maxlength": STAGE_MAX},
    )
    campaign = StringField(
        "Campaign",
        description="Optional: a name; its engagements share a daily cap.",
        filters=[clean],
        render_kw={"maxlength": CAMPAIGN_MAX},
    )
    next_action_at = MomentField("Next action (UTC)")
    stop_on_reply = BooleanField("Stop when the contact replies")
    quiet_from = StringField(
        "Quiet from", description="Such as 21:00; empty for none.", filters=[clean]
    )
    quiet_until = StringField("Quiet until", filters=[clean])
    timezone = StringField(
        "Time zone of the quiet hours",
        description="Such as Europe/Paris; empty: the congregation’s.",
        filters=[clean],
    )

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
        )


class EnrolForm(EngagementForm):
    """A new engagement: whom, and which agent."""

    congregation_id = SelectField(
        "Congregation",
        [InputRequired("Choose a congregation.")],
        invalid_choice_message="Choose a congregation.",
    )
    agent = StringField(
        "Agent",
        description="The address of the agent that is to be woken.",
        render_kw={"inputmode": "email", "autocomplete": "off"},
    )
    address = StringField(
        "Contact",
        description="The address of whom the agent writes to.",
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
