"""Giving a territory to a member: regular work, or work of the active campaign."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date, datetime, timedelta
from typing import Final
from uuid import UUID

from sqlalchemy import select
from sqlalchemy.orm import Session

from tasks.congregation.days import local_day
from tasks.congregation.notifications.telling import News, notify
from tasks.congregation.territories.refusing import (
    check_campaign,
    check_member,
    check_regular,
    refuse_taken,
)
from tasks.congregation.territories.territories import locked_territory, note
from tasks.congregation.texts import notes, one_of, some_day
from tasks.errors import InvalidInput
from tasks.models import Attribution, Campaign, Method, Territory, new_id
from tasks.operations.audit import Actor
from tasks.saying import say

#: How long a member usually has a territory, in days.
USUAL_DAYS: Final = 120
#: The longest way from today to the first day, and from the first to the last.
AWAY_MAX: Final = timedelta(days=1_000)


@dataclass(frozen=True, slots=True)
class Gift:
    """What an operator says when a territory is given out."""

    member_id: UUID | None
    started_on: date | None
    due_on: date | None  # the last day that is not late
    method: str = Method.DEFAULT
    notes: str = ""
    for_campaign: bool = False  # the active one
    despite_rest: bool = False


def give(
    session: Session, territory_id: UUID, gift: Gift, actor: Actor, now: datetime
) -> Attribution:
    """Give a territory to a member.

    Raises:
        InvalidInput: a field cannot be accepted; ``field`` names it.
        Conflict: somebody has it, it rests, or the active campaign forbids it.
        NotFound: the session sees no such territory.
    """
    ground, congregation = locked_territory(session, territory_id)
    today = local_day(now, congregation.timezone)
    row = _checked(gift, ground, today)
    check_member(session, row, today)
    campaign = active_campaign(session, ground.congregation_id)
    if gift.for_campaign:
        row.campaign_id = check_campaign(session, campaign, row)
    else:
        check_regular(session, campaign, row, despite_rest=gift.despite_rest)
    refuse_taken(session, row)
    session.add(row)
    session.flush()
    layer = " for the campaign" if row.campaign_id else ""
    said = f"Territory {ground.number} was given out{layer} until {row.due_on}."
    note(session, actor, ground, "territory.given_out", said)
    news = News("territory.given", row.id, member_id=row.member_id)
    notify(session, row.congregation_id, news, now)
    return row


def active_campaign(session: Session, congregation_id: UUID) -> Campaign | None:
    """Return the campaign that is active, if one is."""
    return session.scalar(
        select(Campaign).where(
            Campaign.congregation_id == congregation_id,
            Campaign.activated_at.is_not(None),
            Campaign.ended_at.is_(None),
        )
    )


def _checked(gift: Gift, ground: Territory, today: date) -> Attribution:
    started_on = some_day(gift.started_on, "started_on", what=say("The first day"))
    due_on = some_day(gift.due_on, "due_on", what=say("The day on which it is due"))
    if abs(started_on - today) > AWAY_MAX:
        raise InvalidInput(
            "day_too_far", say("This day is too far from today."), field="started_on"
        )
    if not started_on <= due_on <= started_on + AWAY_MAX:
        raise InvalidInput(
            "due_out_of_range",
            say(
                "It is due on its first day at the earliest, and %(days)s days "
                "later at the latest.",
                days=str(AWAY_MAX.days),
            ),
            field="due_on",
        )
    if gift.member_id is None:
        raise InvalidInput("missing", say("Choose a member."), field="member_id")
    return Attribution(
        id=new_id(),
        congregation_id=ground.congregation_id,
        territory_id=ground.id,
        member_id=gift.member_id,
        method=one_of(gift.method, Method, "method"),
        started_on=started_on,
        due_on=due_on,
        notes=notes(gift.notes),
    )
