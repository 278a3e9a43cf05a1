"""What the pages of campaigns and caps read: few queries, however many rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final
from uuid import UUID

from sqlalchemy import ColumnElement, Select, select
from sqlalchemy.orm import Session

from dashboard.paging import Page, paginate
from tasks.errors import NotFound
from tasks.models import Congregation, OutreachCampaign
from tasks.outreach.usage import Usage, of_campaigns
from tasks.saying import say

#: Congregations that a page shows at most.
HOUSES_MAX: Final = 500


@dataclass(frozen=True, slots=True)
class CampaignRow:
    """A campaign as a list shows it."""

    campaign: OutreachCampaign
    congregation: str
    usage: Usage


def campaigns(
    session: Session,
    conditions: Sequence[ColumnElement[bool]],
    now: datetime,
    cursor: str | None,
    limit: int,
) -> Page[CampaignRow]:
    """Return a page of campaigns, newest first."""
    newest = [OutreachCampaign.id.desc()]
    page = paginate(session, selected(conditions), newest, cursor, limit)
    used = of_campaigns(session, [row[0] for row in page.rows], now)
    rows = [CampaignRow(row[0], row[1], used[row[0].id]) for row in page.rows]
    return Page(rows, page.next_cursor, page.previous_cursor)


def campaign(session: Session, campaign_id: UUID, now: datetime) -> CampaignRow:
    """Return one campaign.

    Raises:
        NotFound: the session sees none.
    """
    statement = selected([OutreachCampaign.id == campaign_id])
    found = session.execute(statement).one_or_none()
    if found is None:
        raise NotFound("unknown_campaign", say("There is no such campaign."))
    row, name = found
    return CampaignRow(row, name, of_campaigns(session, [row], now)[row.id])


def houses(session: Session) -> Sequence[Congregation]:
    """Return the congregations, by name."""
    statement = select(Congregation).order_by(Congregation.name).limit(HOUSES_MAX)
    return session.scalars(statement).all()


def house(session: Session, slug: str) -> Congregation:
    """Return one congregation.

    Raises:
        NotFound: the session sees none.
    """
    statement = select(Congregation).where(Congregation.slug == slug)
    found = session.scalars(statement).one_or_none()
    if found is None:
        raise NotFound("unknown_congregation", say("There is no such congregation."))
    return found


def selected(
    conditions: Sequence[ColumnElement[bool]],
) -> Select[OutreachCampaign, str]:
    """Select campaigns with their congregation's names."""
    return (
        select(OutreachCampaign, Congregation.name)
        .join(Congregation, Congregation.id == OutreachCampaign.congregation_id)
        .where(*conditions)
    )
