"""What the days and the state of campaigns forbid."""

from __future__ import annotations

from datetime import date
from uuid import UUID

from sqlalchemy import select
from sqlalchemy.orm import Session

from tasks.congregation.campaigns.drafts import Checked
from tasks.congregation.campaigns.scope import scope_of
from tasks.errors import Conflict, InvalidInput
from tasks.models import Campaign, CampaignState, StartAction
from tasks.saying import say


def check_new(
    session: Session, congregation_id: UUID, values: Checked, today: date
) -> None:
    """Refuse a new campaign that is over, or that shares a day with another.

    Raises:
        InvalidInput: its last day is past.
        Conflict: another campaign has one of its days.
    """
    _refuse_past(values, today)
    refuse_overlap(session, congregation_id, values.starts_on, values.ends_on)


def check_change(session: Session, row: Campaign, values: Checked, today: date) -> None:
    """Refuse what the campaign's state forbids.

    Raises:
        InvalidInput: its last day is past.
        Conflict: its state, or another campaign, does not allow it.
    """
    days_change = (values.starts_on, values.ends_on) != (row.starts_on, row.ends_on)
    if row.state is CampaignState.ENDED:
        is_other = days_change or scope_of(session, row) != values.territory_ids
        _refuse_rewriting(row, values, is_other=is_other)
        return
    if row.state is CampaignState.ACTIVE:
        _refuse_restarting(row, values, today)
    elif days_change:
        _refuse_past(values, today)
    if days_change:
        refuse_overlap(
            session,
            row.congregation_id,
            values.starts_on,
            values.ends_on,
            but=row.id,
        )


def refuse_overlap(
    session: Session,
    congregation_id: UUID,
    starts_on: date,
    ends_on: date,
    *,
    but: UUID | None = None,
) -> None:
    """Refuse days of which another campaign has one; ended ones count, missed do not.

    The caller has locked the congregation.

    Raises:
        Conflict: one shares a day; the sentence names it and its days.
    """
    others = select(Campaign).where(
        Campaign.congregation_id == congregation_id,
        Campaign.starts_on <= ends_on,
        Campaign.ends_on >= starts_on,
        Campaign.missed_at.is_(None),
    )
    if but is not None:
        others = others.where(Campaign.id != but)
    other = session.scalar(others.order_by(Campaign.starts_on).limit(1))
    if other is not None:
        raise Conflict(
            "campaign_overlap",
            say(
                "“%(name)s” has the days from %(first)s to %(last)s; two campaigns "
                "cannot share a day.",
                name=other.name,
                first=other.starts_on,
                last=other.ends_on,
            ),
            field="starts_on" if other.starts_on <= starts_on else "ends_on",
        )


def _refuse_past(values: Checked, today: date) -> None:
    if values.ends_on < today:
        raise InvalidInput(
            "campaign_past",
            say(
                "The last day is past: today is %(today)s. A campaign that is over "
                "would do nothing.",
                today=today,
            ),
            field="ends_on",
        )


def _refuse_rewriting(row: Campaign, values: Checked, *, is_other: bool) -> None:
    names = ("start_action", "reassigns", "closes_work", "end_action")
    if is_other or any(getattr(row, n) != getattr(values, n) for n in names):
        raise Conflict(
            "campaign_ended",
            say(
                "This campaign is over: only its name, its notes and the rest that "
                "follows it can still be changed."
            ),
        )


def _refuse_restarting(row: Campaign, values: Checked, today: date) -> None:
    if values.starts_on > today:
        raise Conflict(
            "campaign_started",
            say("This campaign is active; its first day cannot lie ahead."),
            field="starts_on",
        )
    was: tuple[StartAction, bool] = (row.start_action, row.reassigns)
    if was != (values.start_action, values.reassigns):
        raise Conflict(
            "start_locked",
            say(
                "This campaign has started; what its start does can no longer be "
                "changed."
            ),
            field="start_action",
        )
