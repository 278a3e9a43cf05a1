"""How much of their daily caps campaigns and agents have used, and who waits."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final
from uuid import UUID

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from tasks.bulk import among
from tasks.models.congregation import Congregation
from tasks.models.engagement import Agent, Engagement, WaitsFor
from tasks.models.outreach_campaign import OutreachCampaign, OutreachTally
from tasks.outreach.caps import local_day
from tasks.outreach.scheduling import IS_ARMED


@dataclass(frozen=True, slots=True)
class Usage:
    """What a campaign or an agent has used of its cap."""

    n_today: int = 0  # wake-ups of the congregation's present day; 0 without a cap
    n_waiting: int = 0  # engagements that are due, and wait for the cap


NONE: Final = Usage()


def of_campaigns(
    session: Session, rows: Sequence[OutreachCampaign], now: datetime
) -> Mapping[UUID, Usage]:
    """Return the usage of each campaign by its id; three queries for all of them."""
    of = {row.congregation_id for row in rows}
    waiting = session.execute(
        select(Engagement.congregation_id, Engagement.campaign, func.count())
        .where(
            IS_ARMED,
            Engagement.waits_for == WaitsFor.CAMPAIGN_CAP,
            among(session, Engagement.congregation_id, list(of)),
        )
        .group_by(Engagement.congregation_id, Engagement.campaign)
    )
    by_name = {(row[0], row[1]): row[2] for row in waiting}
    counts = {row.id: by_name.get((row.congregation_id, row.name), 0) for row in rows}
    return _usages(session, rows, counts, now)


def of_agents(
    session: Session, rows: Sequence[Agent], now: datetime
) -> Mapping[UUID, Usage]:
    """Return the usage of each agent by its id; three queries for all of them."""
    waiting = session.execute(
        select(Engagement.agent_id, func.count())
        .where(
            IS_ARMED,
            Engagement.waits_for == WaitsFor.AGENT_CAP,
            among(session, Engagement.agent_id, [row.id for row in rows]),
        )
        .group_by(Engagement.agent_id)
    )
    counts = {row[0]: row[1] for row in waiting}
    return _usages(session, rows, counts, now)


def _usages(
    session: Session,
    rows: Sequence[Agent] | Sequence[OutreachCampaign],
    waiting: Mapping[UUID, int],
    now: datetime,
) -> Mapping[UUID, Usage]:
    if not rows:
        return {}
    zones = _zones(session, {row.congregation_id for row in rows})
    tallies = session.scalars(
        select(OutreachTally).where(
            among(session, OutreachTally.congregation_id, list(zones)),
            among(session, OutreachTally.subject_id, [row.id for row in rows]),
            OutreachTally.day >= (now - timedelta(days=1)).date(),
        )
    )
    used = {(each.subject_id, each.day): each.n for each in tallies}
    return {
        row.id: Usage(
            used.get((row.id, local_day(zones[row.congregation_id], now)), 0),
            waiting.get(row.id, 0),
        )
        for row in rows
    }


def _zones(session: Session, ids: set[UUID]) -> dict[UUID, str]:
    found = session.execute(
        select(Congregation.id, Congregation.timezone).where(
            among(session, Congregation.id, list(ids))
        )
    )
    return {row[0]: row[1] for row in found}
