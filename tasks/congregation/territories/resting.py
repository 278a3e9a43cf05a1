"""How long territories rest after somebody worked on them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import date
from typing import Final
from uuid import UUID

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from tasks.congregation.days import plus_days
from tasks.models import Attribution, Campaign

#: A territory rests so many days, unless a campaign says otherwise.
REST_DAYS: Final = 15


def resting_until(session: Session, ids: Sequence[UUID]) -> Mapping[UUID, date]:
    """Return until which day territories rest, that day included; never worked: none.

    The day may be past.
    """
    rest = func.coalesce(Campaign.rest_days, REST_DAYS)
    rows = session.execute(
        select(
            Attribution.territory_id, func.max(plus_days(Attribution.ended_on, rest))
        )
        .outerjoin(Campaign, Campaign.id == Attribution.campaign_id)
        .where(Attribution.territory_id.in_(ids), Attribution.ended_on.is_not(None))
        .group_by(Attribution.territory_id)
    )
    return {row[0]: row[1] for row in rows}
