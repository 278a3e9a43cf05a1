"""Reading many contacts and engagements at once, and locking them.

As plain values: making and tracking objects of many thousand rows takes longer than
everything else that an import does with them.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any, NamedTuple, TypeVar
from uuid import UUID

from sqlalchemy import Select, select
from sqlalchemy.orm import InstrumentedAttribute, Session

from tasks.automation.records import chunks
from tasks.bulk import among_rows
from tasks.models.base import Json
from tasks.models.contact import Contact
from tasks.models.engagement import Agent, Engagement

_Rows = TypeVar("_Rows", bound=Select[*tuple[Any, ...]])


class KnownContact(NamedTuple):
    """What a list may change of a contact."""

    id: UUID
    address: str
    display_name: str
    details: Json
    version: int


class KnownEngagement(NamedTuple):
    """What a list may change of an engagement."""

    id: UUID
    contact_id: UUID
    stage: str
    next_action_at: datetime | None
    revision: int
    version: int


def known_contacts(
    session: Session,
    congregation_id: UUID,
    addresses: Sequence[str],
    *,
    locked: bool = True,
) -> dict[str, KnownContact]:
    """Return the contacts that are known, by normalised address."""
    columns = [getattr(Contact, name) for name in KnownContact._fields]
    found: dict[str, KnownContact] = {}
    for chunk in chunks(sorted(addresses)):
        statement = select(*columns).where(
            Contact.congregation_id == congregation_id,
            among_rows(session, Contact.address, chunk),
        )
        rows = session.execute(
            _locked(statement, Contact.address) if locked else statement
        )
        found.update({row.address: KnownContact(*row) for row in rows})
    return found


def known_engagements(
    session: Session,
    agent: Agent | None,
    contacts: Sequence[KnownContact],
    *,
    locked: bool = True,
) -> dict[UUID, KnownEngagement]:
    """Return an agent's engagements with contacts, by the contacts' ids."""
    columns = [getattr(Engagement, name) for name in KnownEngagement._fields]
    found: dict[UUID, KnownEngagement] = {}
    if agent is None:
        return found
    # By numbers: comparing UUIDs is Python.
    ids = sorted((contact.id for contact in contacts), key=lambda id_: id_.int)
    for chunk in chunks(ids):
        statement = select(*columns).where(
            Engagement.congregation_id == agent.congregation_id,
            Engagement.agent_id == agent.id,
            among_rows(session, Engagement.contact_id, chunk),
        )
        rows = session.execute(
            _locked(statement, Engagement.contact_id) if locked else statement
        )
        found.update({row.contact_id: KnownEngagement(*row) for row in rows})
    return found


def _locked(statement: _Rows, by: InstrumentedAttribute[Any]) -> _Rows:
    """Lock the rows, always in the same order: that of the key that finds them.

    For another order PostgreSQL may read all of an agent's rows for each chunk.
    """
    return statement.order_by(by).with_for_update()
