"""Making, changing, ending and deleting campaigns.

Each verb locks the congregation, so that two of them cannot both find the days free,
and moves its campaigns on in the same transaction: one that is due starts at once.
"""

from __future__ import annotations

from dataclasses import asdict
from datetime import date, datetime
from uuid import UUID

from sqlalchemy import select
from sqlalchemy.orm import Session

from tasks.congregation.campaigns import transitions, treatment, work
from tasks.congregation.campaigns.drafts import CampaignDraft, Checked, checked
from tasks.congregation.campaigns.locks import check_change, check_new
from tasks.congregation.campaigns.noting import facts, note
from tasks.congregation.campaigns.scope import ScopeChange, difference, write_scope
from tasks.congregation.days import local_day, locked
from tasks.errors import Conflict, NotFound
from tasks.models import Campaign, CampaignState, StartAction, new_id
from tasks.operations.audit import Actor
from tasks.saying import say


def create_campaign(
    session: Session,
    congregation_id: UUID,
    draft: CampaignDraft,
    actor: Actor,
    now: datetime,
) -> Campaign:
    """Add a campaign; it starts at once when today is one of its days.

    Raises:
        InvalidInput: a field cannot be accepted, or its days are over.
        Conflict: another campaign has one of its days.
        NotFound: the session sees no such congregation.
    """
    today = local_day(now, locked(session, congregation_id).timezone)
    values = checked(session, congregation_id, draft)
    check_new(session, congregation_id, values, today)
    row = Campaign(id=new_id(), congregation_id=congregation_id, created_by=actor.name)
    _fill(row, values)
    session.add(row)
    session.flush()
    write_scope(session, row, values.territory_ids)
    note(session, actor, row, "created", f"Made the campaign “{row.name}”.")
    transitions.move(session, congregation_id, now)
    return row


def edit_campaign(
    session: Session,
    campaign_id: UUID,
    draft: CampaignDraft,
    actor: Actor,
    now: datetime,
    *,
    version: int | None = None,
) -> Campaign:
    """Change a campaign; of one that is active, what the scope gains or loses as well.

    Args:
        version: what the operator saw; None: whatever there is.

    Raises:
        InvalidInput: a field cannot be accepted.
        Conflict: its state or another campaign does not allow it, or somebody else
            changed it meanwhile.
        NotFound: the session sees no such campaign.
    """
    row, today = _locked(session, campaign_id, now)
    if version is not None and row.version != version:
        raise Conflict(
            "changed_meanwhile",
            say(
                "Somebody changed this campaign while you were at it; look at it anew."
            ),
        )
    values = checked(session, row.congregation_id, draft)
    check_change(session, row, values, today)
    before, ended = facts(row), row.ends_on
    change = difference(session, row, values.territory_ids)
    _fill(row, values)
    if row.state is CampaignState.MISSED and row.ends_on >= today:
        row.missed_at = None  # it gets another chance
    row.version += 1
    session.flush()
    write_scope(session, row, values.territory_ids)
    if row.state is CampaignState.ACTIVE:
        _treat(session, row, change, today, now)
        _follow_end(session, row, ended, today)
    note(session, actor, row, "edited", f"Changed the campaign “{row.name}”.", before)
    transitions.move(session, row.congregation_id, now)
    return row


def end_campaign(
    session: Session, campaign_id: UUID, actor: Actor, now: datetime
) -> Campaign:
    """End an active campaign today, with all that its end does.

    Raises:
        Conflict: it is not active.
        NotFound: the session sees no such campaign.
    """
    row, today = _locked(session, campaign_id, now)
    if row.state is not CampaignState.ACTIVE:
        raise Conflict("not_active", say("Only an active campaign can be ended."))
    before = facts(row)
    row.ends_on = min(row.ends_on, today)
    note(
        session, actor, row, "cut_short", f"Ended “{row.name}” before its time.", before
    )
    transitions.end(session, row, today, now)
    transitions.move(session, row.congregation_id, now)
    return row


def delete_campaign(
    session: Session, campaign_id: UUID, actor: Actor, now: datetime
) -> None:
    """Delete a campaign that is to come; one that ran stays as history.

    Raises:
        Conflict: it is active, or work belongs to it.
        NotFound: the session sees no such campaign.
    """
    row, _ = _locked(session, campaign_id, now)
    if row.state is CampaignState.ACTIVE:
        raise Conflict(
            "campaign_active",
            say(
                "An active campaign cannot be deleted, since work is paused or given "
                "out by it. End it first."
            ),
        )
    if row.state is CampaignState.ENDED:
        raise Conflict(
            "campaign_ended",
            say(
                "A campaign that ran stays, since the history of territories names it."
            ),
        )
    note(session, actor, row, "deleted", f"Deleted the campaign “{row.name}”.")
    session.delete(row)
    session.flush()


def _locked(
    session: Session, campaign_id: UUID, now: datetime
) -> tuple[Campaign, date]:
    """Return a campaign and its congregation's day, the congregation locked."""
    found = select(Campaign).where(Campaign.id == campaign_id)
    row = session.scalar(found)
    if row is None:
        raise NotFound("unknown_campaign", say("There is no such campaign."))
    today = local_day(now, locked(session, row.congregation_id).timezone)
    # What was read before the lock may have changed, or be gone.
    fresh = session.scalar(found.execution_options(populate_existing=True))
    if fresh is None:
        raise NotFound("unknown_campaign", say("There is no such campaign."))
    return fresh, today


def _fill(row: Campaign, values: Checked) -> None:
    for name, value in asdict(values).items():
        if name != "territory_ids":
            setattr(row, name, value)


def _follow_end(session: Session, row: Campaign, before: date, today: date) -> None:
    """Let the work follow an active campaign's last day to where it was moved."""
    if row.ends_on == before:
        return
    work.move_due(session, row, before)
    if row.start_action is not StartAction.LEAVE:
        work.postpone(session, row, work.covered(session, row), today)


def _treat(
    session: Session, row: Campaign, change: ScopeChange, today: date, now: datetime
) -> None:
    """Treat what the scope of an active campaign gained as its start, the rest as its
    end."""
    if change.added:
        piece = work.on_territories(session, sorted(change.added))
        done = treatment.start(session, row, piece, today)
        treatment.tell(session, row, "start", done, now)
    if change.removed:
        piece = work.on_territories(session, sorted(change.removed))
        done = treatment.end(session, row, piece, today, last=today)
        treatment.tell(session, row, "end", done, now)
