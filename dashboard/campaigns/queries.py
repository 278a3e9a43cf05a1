"""What the pages of campaigns read."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from typing import Any, Final
from uuid import UUID

from sqlalchemy import ColumnElement, Row, Select, select
from sqlalchemy.orm import Session

from dashboard.paging import Key, Page, paginate
from tasks.errors import NotFound
from tasks.models import (
    Attribution,
    Campaign,
    CampaignTerritory,
    Congregation,
    Member,
    Territory,
)
from tasks.saying import say

#: Campaigns in one strip, and rows of one section.
SHOWN_MAX: Final = 200
#: The latest first.
KEYS: Final[tuple[Key, ...]] = (Campaign.starts_on.desc(), Campaign.id.desc())


@dataclass(frozen=True, slots=True)
class Refused:
    """Somebody who got no territory for the campaign, and why."""

    member: str
    territory: str
    why: str  # a code of ``reassigning.WHY``


def selected(wanted: Sequence[ColumnElement[bool]]) -> Select[Campaign, Congregation]:
    """Select campaigns with their congregation."""
    return (
        select(Campaign, Congregation)
        .join(Congregation, Congregation.id == Campaign.congregation_id)
        .where(*wanted)
    )


def listed(
    session: Session,
    wanted: Sequence[ColumnElement[bool]],
    cursor: str | None,
    limit: int,
) -> Page[Row[Campaign, Congregation]]:
    """Return a page of campaigns, the latest first."""
    return paginate(session, selected(wanted), KEYS, cursor, limit)


def of_year(session: Session, number: int) -> Sequence[Campaign]:
    """Return the campaigns with a day in a year, at most ``SHOWN_MAX``."""
    return session.scalars(
        select(Campaign)
        .where(
            Campaign.starts_on <= date(number, 12, 31),
            Campaign.ends_on >= date(number, 1, 1),
        )
        .order_by(Campaign.congregation_id, Campaign.starts_on)
        .limit(SHOWN_MAX)
    ).all()


def campaign(session: Session, campaign_id: UUID) -> Campaign:
    """Return a campaign as it is now.

    Raises:
        NotFound: the session sees none.
    """
    row = session.scalar(
        select(Campaign)
        .where(Campaign.id == campaign_id)
        .execution_options(populate_existing=True)
    )
    if row is None:
        raise NotFound("unknown_campaign", say("There is no such campaign."))
    return row


def scope(session: Session, row: Campaign) -> Sequence[Territory]:
    """Return the territories that the scope names, at most ``SHOWN_MAX``."""
    return session.scalars(
        select(Territory)
        .join(CampaignTerritory, CampaignTerritory.territory_id == Territory.id)
        .where(CampaignTerritory.campaign_id == row.id)
        .order_by(Territory.number)
        .limit(SHOWN_MAX)
    ).all()


def still_paused(
    session: Session, row: Campaign
) -> Sequence[Row[Attribution, Member, Territory]]:
    """Return what the campaign paused and nobody resumed, at most ``SHOWN_MAX``."""
    return session.execute(
        select(Attribution, Member, Territory)
        .join(Member, Member.id == Attribution.member_id)
        .join(Territory, Territory.id == Attribution.territory_id)
        .where(Attribution.paused_by_id == row.id, Attribution.ended_on.is_(None))
        .order_by(Territory.number, Attribution.id)
        .limit(SHOWN_MAX)
    ).all()


def refused(session: Session, row: Campaign) -> Sequence[Refused]:
    """Return the pairs that the report names, with the names of today."""
    lines = row.report.get("start", {}).get("refused", ())
    members = {
        row.id: row.name
        for row in session.scalars(
            select(Member).where(Member.id.in_(_ids(lines, "member_id")))
        )
    }
    grounds = {
        row.id: row.number
        for row in session.scalars(
            select(Territory).where(Territory.id.in_(_ids(lines, "territory_id")))
        )
    }
    return [
        Refused(
            members.get(UUID(line["member_id"]), say("Somebody who is gone")),
            grounds.get(UUID(line["territory_id"]), "—"),
            line["why"],
        )
        for line in lines
    ]


def _ids(lines: Sequence[Mapping[str, Any]], key: str) -> set[UUID]:
    return {UUID(line[key]) for line in lines}
