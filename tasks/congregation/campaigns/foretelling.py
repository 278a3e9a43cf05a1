"""What a campaign's start and end would do, were it today or on its first day.

It asks with the same conditions as the treatment itself, and changes nothing.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from typing import Final
from uuid import UUID

from sqlalchemy import Row, func, select, true
from sqlalchemy.orm import Session

from tasks.congregation.campaigns import work
from tasks.congregation.campaigns.drafts import Checked
from tasks.congregation.campaigns.reassigning import is_unfit
from tasks.models import (
    Attribution,
    Campaign,
    EndAction,
    Member,
    StartAction,
    Territory,
    new_id,
)

#: Rows that are shown; the counts tell of all.
FIRST_ROWS: Final = 10


@dataclass(frozen=True, slots=True)
class Foretold:
    """What one treatment would do."""

    counts: Mapping[str, int] = field(default_factory=dict)
    #: Attribution, member, territory: the first that are paused, closed or resumed.
    rows: Sequence[Row[Attribution, Member, Territory]] = ()


def imagined(congregation_id: UUID, values: Checked) -> Campaign:
    """Return a campaign that is not kept, to ask about."""
    named = {
        name: getattr(values, name)
        for name in Checked.__dataclass_fields__
        if name != "territory_ids"
    }
    return Campaign(id=new_id(), congregation_id=congregation_id, **named)


def piece_of(session: Session, ids: frozenset[UUID]) -> work.Piece:
    """Return the work on territories; none of them means on every one."""
    return work.on_territories(session, sorted(ids)) if ids else true()


def start(
    session: Session, campaign: Campaign, piece: work.Piece, today: date
) -> Foretold:
    """Return what the start would do with the work as it is now."""
    if campaign.start_action is StartAction.LEAVE:
        return Foretold()
    day = max(today, campaign.starts_on)
    postponed = _count(
        session, work.regular(campaign) & work.to_postpone(campaign, day) & piece
    )
    moved = work.regular(campaign) & work.begun(day) & piece
    if campaign.start_action is StartAction.CLOSE:
        closed = {"closed": _count(session, moved), "postponed": postponed}
        return Foretold(closed, _first(session, moved))
    moved &= Attribution.paused_on.is_(None)
    counts = {"paused": _count(session, moved), "postponed": postponed}
    if campaign.reassigns:
        unfit = select(Member.id).where(
            Member.congregation_id == campaign.congregation_id, is_unfit(day)
        )
        lost = _count(session, moved & Attribution.member_id.in_(unfit))
        counts |= {"reassigned": counts["paused"] - lost, "not_reassigned": lost}
    return Foretold(counts, _first(session, moved))


def end(session: Session, campaign: Campaign, piece: work.Piece) -> Foretold:
    """Return what the end would do with the work as it is now."""
    counts = {}
    if campaign.closes_work:
        counts["work_closed"] = _count(session, work.own(campaign) & piece)
    paused = work.paused_by(campaign) & piece
    words = {
        EndAction.RESUME: "resumed",
        EndAction.CLOSE: "closed",
        EndAction.KEEP_PAUSED: "kept_paused",
    }
    counts[words[campaign.end_action]] = _count(session, paused)
    return Foretold(counts, _first(session, paused))


def _count(session: Session, piece: work.Piece) -> int:
    found = select(func.count()).select_from(Attribution).where(piece)
    return session.scalar(found) or 0


def _first(
    session: Session, piece: work.Piece
) -> Sequence[Row[Attribution, Member, Territory]]:
    found = (
        select(Attribution, Member, Territory)
        .join(Member, Member.id == Attribution.member_id)
        .join(Territory, Territory.id == Attribution.territory_id)
        .where(piece)
        .order_by(Territory.number, Attribution.id)
    )
    return session.execute(found.limit(FIRST_ROWS)).all()
