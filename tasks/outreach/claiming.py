"""Which due engagements the lane takes next: the oldest, fairly between tenants."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final
from uuid import UUID

from sqlalchemy import ColumnElement, Select, and_, or_, select
from sqlalchemy.orm import Session

from tasks.bulk import among
from tasks.models.congregation import Congregation
from tasks.models.contact import Contact
from tasks.models.engagement import Agent, Engagement
from tasks.models.outreach_campaign import OutreachCampaign
from tasks.models.suppression import Suppression
from tasks.outreach.scheduling import IS_ARMED
from tasks.sharing import having, share_out

#: What waits for one instant together goes by the age of its schedule.
_OLDEST_FIRST: Final = (
    Engagement.wake_at,
    Engagement.next_action_at,
    Engagement.id,
)


@dataclass(frozen=True, slots=True)
class Due:
    """An engagement whose instant has come, with what its event is made of."""

    row: Engagement
    contact: Contact
    agent: Agent
    congregation: Congregation
    is_suppressed: bool
    campaign: OutreachCampaign | None
    wake_at: datetime | None  # as it was claimed; never None of what is armed


def claim(session: Session, *, now: datetime, limit: int) -> list[Due]:
    """Lock and return up to ``limit`` due engagements, oldest first.

    What another worker is taking right now is skipped.  When more is due than one
    batch takes, each congregation gets an equal share before the oldest fill the rest.
    """
    ids = _due_ids(session, now, limit)
    if not ids:
        return []
    found = session.execute(
        select(
            Engagement,
            Contact,
            Agent,
            Congregation,
            is_suppressed(),
            OutreachCampaign,
            Engagement.wake_at,
        )
        .join(Contact, Contact.id == Engagement.contact_id)
        .join(Agent, Agent.id == Engagement.agent_id)
        .join(Congregation, Congregation.id == Engagement.congregation_id)
        .outerjoin(
            OutreachCampaign,
            and_(
                OutreachCampaign.congregation_id == Engagement.congregation_id,
                OutreachCampaign.name == Engagement.campaign,
            ),
        )
        .where(among(session, Engagement.id, ids))
        .order_by(*_OLDEST_FIRST)
        .execution_options(populate_existing=True)
    )
    return [Due(*row) for row in found]


def is_due(now: datetime) -> tuple[ColumnElement[bool], ...]:
    """Return what makes an engagement the lane's next work."""
    return (IS_ARMED, Engagement.wake_at <= now)


def is_suppressed() -> ColumnElement[bool]:
    """Return whether an engagement's agent may not write to its address.

    Looked up and never copied, so that it cannot differ from what mails obey.  The
    statement has to join ``Agent``.
    """
    return (
        select(Suppression.id)
        .where(
            Suppression.congregation_id == Engagement.congregation_id,
            Suppression.address == Engagement.address,
            or_(Suppression.agent == "", Suppression.agent == Agent.address),
        )
        .correlate(Engagement, Agent)
        .exists()
    )


def _due_ids(session: Session, now: datetime, limit: int) -> Sequence[UUID]:

    def own(of: UUID, share: int) -> Iterable[UUID]:
        return session.scalars(
            _locked(now, share).where(Engagement.congregation_id == of)
        )

    return share_out(
        session.scalars(_locked(now, limit)).all(),
        limit,
        lambda: _congregations_with_due(session, now),
        own,
        key=lambda id_: id_,
    )


def _locked(now: datetime, limit: int) -> Select[UUID]:
    return (
        select(Engagement.id)
        .where(*is_due(now))
        .order_by(*_OLDEST_FIRST)
        .limit(limit)
        .with_for_update(skip_locked=True, of=Engagement)
    )


def _congregations_with_due(session: Session, now: datetime) -> Sequence[UUID]:
    return session.scalars(having(Engagement, IS_ARMED, _OLDEST_FIRST, now)).all()
