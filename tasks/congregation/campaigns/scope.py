"""The territories that a campaign is about; none at all means every one."""

from __future__ import annotations

from collections.abc import Set
from dataclasses import dataclass
from uuid import UUID

from sqlalchemy import delete, insert, select
from sqlalchemy.orm import Session

from tasks.models import Campaign, CampaignTerritory, Territory


@dataclass(frozen=True, slots=True)
class ScopeChange:
    """What another scope adds and takes out, as territories."""

    added: frozenset[UUID] = frozenset()
    removed: frozenset[UUID] = frozenset()


def scope_of(session: Session, campaign: Campaign) -> frozenset[UUID]:
    """Return the ids that the scope names; none: every territory."""
    return frozenset(
        session.scalars(
            select(CampaignTerritory.territory_id).where(
                CampaignTerritory.campaign_id == campaign.id
            )
        )
    )


def difference(session: Session, campaign: Campaign, after: Set[UUID]) -> ScopeChange:
    """Return what the scope ``after`` changes; an empty one means all there are."""
    before = scope_of(session, campaign)
    if before == after:
        return ScopeChange()
    every = frozenset(
        session.scalars(
            select(Territory.id).where(
                Territory.congregation_id == campaign.congregation_id
            )
        )
    )
    had, has = before or every, frozenset(after) or every
    return ScopeChange(added=has - had, removed=had - has)


def write_scope(session: Session, campaign: Campaign, ids: Set[UUID]) -> None:
    """Let the campaign be about these territories."""
    known = scope_of(session, campaign)
    session.execute(
        delete(CampaignTerritory)
        .where(
            CampaignTerritory.campaign_id == campaign.id,
            CampaignTerritory.territory_id.in_(known - ids),
        )
        .execution_options(synchronize_session=False)
    )
    rows = [
        {
            "congregation_id": campaign.congregation_id,
            "campaign_id": campaign.id,
            "territory_id": each,
        }
        for each in sorted(ids - known)
    ]
    if rows:
        session.execute(insert(CampaignTerritory), rows)
