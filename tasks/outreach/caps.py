"""Daily caps: how many wake-ups a campaign, an agent and a contact get on one day.

A day is the congregation's local one.  What goes beyond a cap waits for the next day,
the longest overdue first; it is neither passed over nor lost.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import date, datetime, time, timedelta
from typing import Final, NamedTuple
from uuid import UUID
from zoneinfo import ZoneInfo

from sqlalchemy import Table, select
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.orm import Session

from tasks.automation.records import chunks
from tasks.automation.zones import first_zone, instant_of
from tasks.bulk import is_postgres
from tasks.lookups import among_keys
from tasks.models.engagement import WaitsFor
from tasks.models.outreach_campaign import OutreachTally
from tasks.outreach.claiming import Due

_TALLIES: Final[Table] = OutreachTally.metadata.tables[OutreachTally.__tablename__]
_KEY: Final = (
    OutreachTally.congregation_id,
    OutreachTally.subject_id,
    OutreachTally.day,
)
#: Congregation, what is capped, local day.
_Key = tuple[UUID, UUID, date]


class Over(NamedTuple):
    """An engagement beyond a cap."""

    due: Due
    until: datetime
    waits_for: WaitsFor


class _Limit(NamedTuple):
    key: _Key
    cap: int
    waits_for: WaitsFor


def within_caps(
    session: Session, due: Sequence[Due], now: datetime
) -> tuple[list[Due], list[Over]]:
    """Return which may be announced today, in their order, and which have to wait.

    Counts the first ones.  Two workers that race for the last places wait for each
    other, so a cap holds exactly; where nothing has a cap, nothing is asked or locked.
    Caller commits.
    """
    limits = {each.row.id: list(_limits(each, now)) for each in due}
    used = _locked(session, {limit.key for found in limits.values() for limit in found})
    going: list[Due] = []
    over: list[Over] = []
    for each in due:
        own = limits[each.row.id]
        full = next((one for one in own if used[one.key].n >= one.cap), None)
        if full is not None:
            over.append(Over(each, _next_day(each, now), full.waits_for))
            continue
        for limit in own:
            used[limit.key].n += 1
        going.append(each)
    return going, over


def local_day(timezone: str, now: datetime) -> date:
    """Return which day it is in a congregation."""
    return now.astimezone(ZoneInfo(first_zone(timezone))).date()


def _limits(due: Due, now: datetime) -> Iterator[_Limit]:
    house, agent, campaign = due.congregation, due.agent, due.campaign
    day = local_day(house.timezone, now)
    if campaign is not None and campaign.daily_cap is not None:
        key = (house.id, campaign.id, day)
        yield _Limit(key, campaign.daily_cap, WaitsFor.CAMPAIGN_CAP)
    if agent.daily_cap is not None:
        yield _Limit((house.id, agent.id, day), agent.daily_cap, WaitsFor.AGENT_CAP)
    if house.contact_daily_cap is not None:
        key = (house.id, due.contact.id, day)
        yield _Limit(key, house.contact_daily_cap, WaitsFor.CONTACT_CAP)


def _locked(session: Session, keys: set[_Key]) -> dict[_Key, OutreachTally]:
    """Return the tallies, made where there are none, and locked in one order for all.

    Only this lane locks them, after the engagements: nobody waits in a circle.
    """
    found: dict[_Key, OutreachTally] = {}
    insert = postgresql.insert if is_postgres(session) else sqlite.insert
    for piece in chunks(sorted(keys)):
        rows = [
            {"congregation_id": of, "subject_id": id_, "day": day, "n": 0}
            for of, id_, day in piece
        ]
        session.execute(insert(_TALLIES).values(rows).on_conflict_do_nothing())
        tallies = session.scalars(
            select(OutreachTally)
            .where(among_keys(session, _KEY, piece))
            .order_by(*_KEY)
            .with_for_update()
            .execution_options(populate_existing=True)
        )
        found |= {
            (row.congregation_id, row.subject_id, row.day): row for row in tallies
        }
    return found


def _next_day(due: Due, now: datetime) -> datetime:
    """Return the next midnight of a congregation.

    Of all that comes due in that instant the lane takes the oldest schedule first, so
    newer ones cannot push one back day by day.
    """
    zone = ZoneInfo(first_zone(due.congregation.timezone))
    tomorrow = now.astimezone(zone).date() + timedelta(days=1)
    return instant_of(datetime.combine(tomorrow, time()), zone)
