"""Campaigns, daily caps and suppressions as producers send and see them."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Literal
from uuid import UUID

from pydantic import AfterValidator, Field

from dashboard.api.fields import Input, Line200, refusal
from dashboard.api.models.answers import Output
from dashboard.api.models.outreach import Address, Paged, Switch
from tasks.models.outreach_campaign import CAP_MAX
from tasks.outreach.checks import CAMPAIGN_MAX


def _cap(value: int) -> int:
    if not 1 <= value <= CAP_MAX:
        raise refusal(
            "bad_cap",
            f"must be a whole number from 1 to {CAP_MAX}, or null for no cap.",
        )
    return value


def _name(value: str) -> str:
    clean = value.strip()
    if not clean or len(clean) > CAMPAIGN_MAX or not clean.isprintable():
        raise refusal("bad_name", f"must be a line of 1 to {CAMPAIGN_MAX} characters.")
    if "/" in clean:
        raise refusal("bad_name", "must not contain a slash.")
    return clean


Cap = Annotated[int, AfterValidator(_cap)]
CampaignName = Annotated[str, AfterValidator(_name)]
ReasonWord = Literal["unsubscribed", "asked", "bounced", "complained"]


class CampaignPath(Input):
    """A campaign, by its name."""

    name: CampaignName


class CapIn(Input):
    """How many wake-ups a local day there may be."""

    daily_cap: Cap | None = Field(description="null: any number")


class ContactCapIn(Input):
    """How many wake-ups a local day may concern one contact, over all agents."""

    contact_daily_cap: Cap | None = Field(description="null: any number")


class ContactCapAnswer(Output):
    """How many wake-ups a local day may concern one contact, over all agents."""

    contact_daily_cap: int | None


class CampaignAnswer(Output):
    """A campaign of outreach."""

    name: str
    daily_cap: int | None
    announced_today: int = Field(description="counted where there is a cap")
    waiting: int = Field(description="engagements that are due and wait for the cap")
    created_at: datetime


class CampaignsAnswer(Output):
    """One page of campaigns, newest first."""

    campaigns: list[CampaignAnswer]
    next_cursor: str | None


class SuppressionsQuery(Paged):
    """Which suppressions to list."""

    address: Address | None = None
    agent: Address | None = Field(default=None, description="those of one agent alone")
    everybody: Switch | None = Field(
        default=None, description="true: those that hold for all, false: for one agent"
    )
    reason: ReasonWord | None = None


class ForAgent(Input):
    """For whom a suppression holds."""

    agent: Address | None = Field(
        default=None, description="one agent alone; absent: everybody"
    )


class LiftQuery(ForAgent):
    """Which suppression to remove."""

    consent: Switch = Field(
        default=False,
        description="that the recipient asked for mails again; needed where the "
        "recipient unsubscribed by the link in a mail",
    )


class SuppressionIn(Input):
    """Why an address gets no mails."""

    reason: ReasonWord = "asked"
    note: Line200 = ""


class SuppressionAnswer(Output):
    """An address that gets no mails, and wakes no agent."""

    id: UUID
    address: str
    agent: str | None = Field(description="null: it holds for everybody")
    reason: ReasonWord
    note: str
    created_by: str
    created_at: datetime


class SuppressionsAnswer(Output):
    """One page of suppressions, newest first."""

    suppressions: list[SuppressionAnswer]
    next_cursor: str | None
