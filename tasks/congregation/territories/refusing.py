"""What speaks against giving a territory to a member: who, the campaign, its rest."""

from __future__ import annotations

from datetime import date
from uuid import UUID

from sqlalchemy import select
from sqlalchemy.orm import Session

from tasks.congregation.campaigns.scope import scope_of
from tasks.congregation.territories.resting import resting_until
from tasks.errors import Conflict, InvalidInput
from tasks.models import Attribution, Campaign, Member
from tasks.saying import say


def check_member(session: Session, row: Attribution, today: date) -> None:
    """Refuse a member who is none here, has left, or is inactive.

    Raises:
        InvalidInput: that is so.
    """
    member = session.get(Member, row.member_id)
    if member is None or member.congregation_id != row.congregation_id:
        raise InvalidInput("unknown_member", say("Choose a member."), field="member_id")
    if member.left_on is not None or member.anonymised_at is not None:
        raise InvalidInput("has_left", say("This member has left."), field="member_id")
    if member.inactive_on is not None and member.inactive_on <= today:
        raise InvalidInput(
            "inactive", say("This member is inactive."), field="member_id"
        )


def check_campaign(
    session: Session, campaign: Campaign | None, row: Attribution
) -> UUID:
    """Return the id of the active campaign for which a territory is given out.

    Raises:
        InvalidInput: the first day is not one of the campaign.
        Conflict: none is active, or it is not about this territory.
    """
    if campaign is None:
        raise Conflict(
            "no_campaign", say("No campaign is active now."), field="for_campaign"
        )
    scope = scope_of(session, campaign)
    if scope and row.territory_id not in scope:
        raise Conflict(
            "out_of_scope",
            say(
                "The campaign “%(name)s” is not about this territory.",
                name=campaign.name,
            ),
            field="for_campaign",
        )
    if not campaign.starts_on <= row.started_on <= campaign.ends_on:
        raise InvalidInput(
            "outside_campaign",
            say(
                "The campaign runs from %(first)s to %(last)s.",
                first=campaign.starts_on,
                last=campaign.ends_on,
            ),
            field="started_on",
        )
    return campaign.id


def check_regular(
    session: Session, campaign: Campaign | None, row: Attribution, *, despite_rest: bool
) -> None:
    """Refuse regular work while a campaign is active, or while the territory rests.

    Raises:
        Conflict: that is so.
    """
    if campaign is not None and row.started_on <= campaign.ends_on:
        raise Conflict(
            "campaign_active",
            say(
                "The campaign “%(name)s” is active: until %(last)s territories are "
                "given out for the campaign only. Choose a later first day, or give "
                "it out for the campaign.",
                name=campaign.name,
                last=campaign.ends_on,
            ),
            field="for_campaign",
        )
    until = resting_until(session, [row.territory_id]).get(row.territory_id)
    if until is not None and row.started_on <= until and not despite_rest:
        raise Conflict(
            "territory_rests",
            say(
                "This territory rests until %(day)s. Choose a later first day, or say "
                "that it is given out all the same.",
                day=until,
            ),
            field="despite_rest",
        )


def refuse_taken(session: Session, row: Attribution) -> None:
    """Refuse a second holder within one layer; the layers never conflict.

    Raises:
        Conflict: somebody has it.
    """
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
            say(
                "%(name)s has this territory. It has to be given back first.",
                name=f"{held[0]} {held[1]}",
            ),
            field="member_id",
        )
