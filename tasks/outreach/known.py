"""Reading many contacts and engagements at once, and locking them."""

from __future__ import annotations

from collections.abc import Sequence
from uuid import UUID

from sqlalchemy import select
from sqlalchemy.orm import Session

from tasks.automation.records import chunks
from tasks.bulk import among
from tasks.models.contact import Contact
from tasks.models.engagement import Agent, Engagement


def known_contacts(
    session: Session, congregation_id: UUID, addresses: Sequence[str]
) -> dict[str, Contact]:
    """Return the contacts that are known, by normalised address."""
    found: dict[str, Contact] = {}
    for chunk in chunks(sorted(addresses)):
        rows = session.scalars(
            select(Contact)
            .where(
                Contact.congregation_id == congregation_id,
                among(session, Contact.address, chunk),
            )
            .order_by(Contact.id)
            .with_for_update()
            .execution_options(populate_existing=True)
        )
        found.update({row.address: row for row in rows})
    return found


def known_engagements(
    session: Session, agent: Agent | None, contacts: Sequence[Contact]
) -> dict[UUID, Engagement]:
    """Return an agent's engagements with contacts, by the contacts' ids."""
    found: dict[UUID, Engagement] = {}
    if agent is None:
        return found
    for chunk in chunks(sorted(contact.id for contact in contacts)):
        rows = session.scalars(
            select(Engagement)
            .where(
                Engagement.agent_id == agent.id,
                among(session, Engagement.contact_id, chunk),
            )
            .order_by(Engagement.id)
            .with_for_update()
            .execution_options(populate_existing=True)
        )
        found.update({row.contact_id: row for row in rows})
    return found
