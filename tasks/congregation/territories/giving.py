"""Giving a territory to a member: regular work, or work of the active campaign."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date, datetime, timedelta
from typing import Final
from uuid import UUID

from sqlalchemy import select
from sqlalchemy.orm import Session

from tasks.congregation.campaigns.scope import scope_of
from tasks.congregation.days import local_day, locked
from tasks.congregation.notifications.telling import News, notify
from tasks.congregation.territories.resting import resting_until
from tasks.congregation.territories.territories import note, territory
from tasks.congregation.texts import notes, one_of, some_day
from tasks.errors import Conflict, InvalidInput
from tasks.models import Attribution, Campaign, Member, Method, Territory, new_id
from tasks.operations.audit import Actor

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
    ground = territory(session, territory_id)
    today = local_day(now, locked(session, ground.congregation_id).timezone)
    row = _checked(gift, ground, today)
    _check_member(session, row, today)
    campaign = active_campaign(session, ground.congregation_id)
    if gift.for_campaign:
        row.campaign_id = _check_campaign(session, campaign, row)
    else:
        _check_regular(session, campaign, row, despite_rest=gift.despite_rest)
    _refuse_taken(session, row)
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
    started_on = some_day(gift.started_on, "started_on", what="The first day")
    due_on = some_day(gift.due_on, "due_on", what="The day on which it is due")
    if abs(started_on - today) > AWAY_MAX:
        raise InvalidInput(
            "day_too_far", "This day is too far from today.", field="started_on"
        )
    if not started_on <= due_on <= started_on + AWAY_MAX:
        raise InvalidInput(
            "due_out_of_range",
            f"It is due on its first day at the earliest, and {AWAY_MAX.days} days "
            "later at the latest.",
            field="due_on",
        )
    if gift.member_id is None:
        raise InvalidInput("missing", "Choose a member.", field="member_id")
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


def _check_member(session: Session, row: Attribution, today: date) -> None:
    member = session.get(Member, row.member_id)
    if member is None or member.congregation_id != row.congregation_id:
        raise InvalidInput("unknown_member", "Choose a member.", field="member_id")
    if member.left_on is not None or member.anonymised_at is not None:
        raise InvalidInput("has_left", "This member has left.", field="member_id")
    if member.inactive_on is not None and member.inactive_on <= today:
        raise InvalidInput("inactive", "This member is inactive.", field="member_id")


def _check_campaign(
    session: Session, campaign: Campaign | None, row: Attribution
) -> UUID:
    if campaign is None:
        raise Conflict(
            "no_campaign", "No campaign is active now.", field="for_campaign"
        )
    scope = scope_of(session, campaign)
    if scope and row.territory_id not in scope:
        raise Conflict(
            "out_of_scope",
            f"The campaign “{campaign.name}” is not about this territory.",
            field="for_campaign",
        )
    if not campaign.starts_on <= row.started_on <= campaign.ends_on:
        raise InvalidInput(
            "outside_campaign",
            f"The campaign runs from {campaign.starts_on} to {campaign.ends_on}.",
            field="started_on",
        )
    return campaign.id


def _check_regular(
    session: Session, campaign: Campaign | None, row: Attribution, *, despite_rest: bool
) -> None:
    if campaign is not None and row.started_on <= campaign.ends_on:
        raise Conflict(
            "campaign_active",
            f"The campaign “{campaign.name}” is active: until {campaign.ends_on} "
            "territories are given out for the campaign only. Choose a later first "
            "day, or give it out for the campaign.",
            field="for_campaign",
        )
    until = resting_until(session, [row.territory_id]).get(row.territory_id)
    if until is not None and row.started_on <= until and not despite_rest:
        raise Conflict(
            "territory_rests",
            f"This territory rests until {until}. Choose a later first day, or say "
            "that it is given out all the same.",
            field="despite_rest",
        )


def _refuse_taken(session: Session, row: Attribution) -> None:
    """Refuse a second holder within one layer; the layers never conflict."""
    same = (
        Attribution.campaign_id.is_(None)
        if row.campaign_id is None
        else Attribution.campaign_id == row.campaign_id
    )
    held = session.execute(
        select(Member.first_name, Member.last_name)
        .join(Attribution, Attribution.member_id == Member.id)
        .where(
            Attribution.congregation_id == row.congregation_id,
            Attribution.territory_id == row.territory_id,
            Attribution.ended_on.is_(None),
            same,
        )
        .limit(1)
    ).first()
    if held is not None:
        raise Conflict(
            "territory_taken",
            f"{held[0]} {held[1]} has this territory. It has to be given back first.",
            field="member_id",
        )
