"""What happens next besides jobs: campaigns, and the lanes that work once a day."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from typing import Final
from uuid import UUID

from sqlalchemy import select
from sqlalchemy.orm import Session

from tasks import registry
from tasks.config import Config
from tasks.lane import Lane
from tasks.lanes import expirations
from tasks.models import Campaign, Congregation

#: Campaigns that are named.
CAMPAIGNS_MAX: Final = 3


@dataclass(frozen=True, slots=True)
class Plan:
    """A campaign's next day."""

    id: UUID
    name: str
    congregation: str
    begins: bool  # else it ends with this day
    on: date  # of the congregation's calendar


@dataclass(frozen=True, slots=True)
class Daily:
    """A lane and when its hour strikes next."""

    lane: Lane
    at: datetime


def campaigns(session: Session, *, now: datetime) -> list[Plan]:
    """Return the next days of campaigns, soonest first."""
    rows = session.execute(
        select(
            Campaign.id,
            Campaign.name,
            Congregation.name,
            Campaign.activated_at,
            Campaign.starts_on,
            Campaign.ends_on,
        )
        .join(Congregation, Congregation.id == Campaign.congregation_id)
        .where(Campaign.ended_at.is_(None), Campaign.missed_at.is_(None))
        .order_by(Campaign.starts_on, Campaign.id)
        .limit(50)
    )
    yesterday = (now - timedelta(days=1)).date()  # somewhere it still is
    plans = [
        Plan(id_, name, house, begun is None, starts if begun is None else ends)
        for id_, name, house, begun, starts, ends in rows
    ]
    coming = [plan for plan in plans if plan.on >= yesterday]
    return sorted(coming, key=lambda plan: (plan.on, plan.id))[:CAMPAIGNS_MAX]


def hours_of_day(config: Config) -> Mapping[str, int]:
    """Return the hours of UTC at which the daily lanes begin, by their names."""
    return {
        "campaign": config.campaign_hour,
        "retention": config.retention_hour,
        "expirations": expirations.HOUR,
    }


def dailies(config: Config, *, now: datetime) -> list[Daily]:
    """Return the daily lanes, the one whose hour strikes next first."""
    hours = hours_of_day(config)
    found = [Daily(registry.lane(name), _next(h, now)) for name, h in hours.items()]
    return sorted(found, key=lambda daily: daily.at)


def _next(hour: int, now: datetime) -> datetime:
    """Return when an hour of UTC strikes next."""
    today = now.replace(hour=hour, minute=0, second=0, microsecond=0)
    return today if today > now else today + timedelta(days=1)
