"""Reading many contacts and engagements at once, and locking them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar
from uuid import UUID

from sqlalchemy import Select, select
from sqlalchemy.orm import InstrumentedAttribute, Session

from tasks.automation.records import chunks
from tasks.bulk import among
from tasks.models.contact import Contact
from tasks.models.engagement import Agent, Engagement

_Row = TypeVar("_Row", Contact, Engagement)


def known_contacts(
    session: Session,
    congregation_id: UUID,
    addresses: Sequence[str],
    *,
    locked: bool = True,
) -> dict[str, Contact]:
    """Return the contacts that are known, by normalised address."""
    found: dict[str, Contact] = {}
    for chunk in chunks(sorted(addresses)):
        statement = select(Contact).where(
            Contact.congregation_id == congregation_id,
            among(session, Contact.address, chunk),
        )
        rows = session.scalars(_locked(statement, Contact.id) if locked else statement)
        found.update({row.address: row for row in rows})
    return found


def known_engagements(
    session: Session,
    agent: Agent | None,
    contacts: Sequence[Contact],
    *,
    locked: bool = True,
) -> dict[UUID, Engagement]:
    """Return an agent's engagements with contacts, by the contacts' ids."""
    found: dict[UUID, Engagement] = {}
    if agent is None:
        return found
    for chunk in chunks(sorted(contact.id for contact in contacts)):
        statement = select(Engagement).where(
            Engagement.agent_id == agent.id,
            among(session, Engagement.contact_id, chunk),
        )
        rows = session.scalars(
            _locked(statement, Engagement.id) if locked else statement
        )
        found.update({row.contact_id: row for row in rows})
    return found


def _locked(statement: Select[_Row], by: InstrumentedAttribute[UUID]) -> Select[_Row]:
    """Lock the rows, always in the same order, and read them as they are now."""
    return (
        statement.order_by(by)
        .with_for_update()
        .execution_options(populate_existing=True)
    )
