"""Rows of a list that may be taken over: written, each with what became of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from uuid import UUID

from sqlalchemy.orm import Session

from tasks.models.contact import Contact, ContactImport, ContactSource
from tasks.models.engagement import Agent, Engagement
from tasks.outreach.agents import agent_of
from tasks.outreach.contacts import apply_values as apply_to_contact
from tasks.outreach.contacts import new_contact
from tasks.outreach.engagements import apply_values, new_engagement
from tasks.outreach.import_rows import Line, ListRow, RowOutcome
from tasks.outreach.known import known_contacts, known_engagements
from tasks.outreach.scheduling import touch


@dataclass(frozen=True, slots=True)
class _Place:
    """What rows are written into."""

    row: ContactImport
    agent: Agent | None
    contacts: dict[str, Contact]
    engagements: dict[UUID, Engagement]  # by contact
    merge: bool
    now: datetime


def take(
    session: Session,
    made: ContactImport,
    read: Sequence[ListRow | Line],
    agent_address: str | None,
    *,
    merge: bool,
) -> list[Line]:
    """Write the rows of a list; those that are refused already pass through.

    Args:
        made: the list, added to the session.
        agent_address: who enrols the contacts, normalised; None: nobody does.
        merge: change contacts that are known; else leave them.
    """
    of, now = made.congregation_id, made.created_at
    contacts = known_contacts(
        session, of, [row.address for row in read if isinstance(row, ListRow)]
    )
    agent = agent_of(session, of, agent_address, now) if agent_address else None
    engagements = known_engagements(session, agent, list(contacts.values()))
    place = _Place(made, agent, contacts, engagements, merge, now)
    # The keys in the database: first the list, then contacts, then engagements.
    session.flush()
    taken = [
        each if isinstance(each, Line) else _take_contact(session, place, each)
        for each in read
    ]
    session.flush()
    return [
        _enrolled(session, place, each, line) if isinstance(each, ListRow) else line
        for each, line in zip(read, taken, strict=True)
    ]


def _take_contact(session: Session, place: _Place, row: ListRow) -> Line:
    known = place.contacts.get(row.address)
    outcome = RowOutcome.UNCHANGED
    if known is None:
        new = place.contacts[row.address] = new_contact(
            place.row.congregation_id,
            row.address,
            ContactSource.IMPORT,
            place.now,
            import_id=place.row.id,
        )
        apply_to_contact(new, row.contact)
        session.add(new)
        outcome = RowOutcome.CREATED
    elif not place.merge:
        outcome = RowOutcome.SKIPPED
    elif apply_to_contact(known, row.contact):
        known.version += 1
        known.updated_at = place.now
        outcome = RowOutcome.CHANGED
    return Line(row.number, row.address, outcome)


def _enrolled(session: Session, place: _Place, row: ListRow, line: Line) -> Line:
    contact = place.contacts[row.address]
    if place.agent is None or not _enrol(session, place, place.agent, contact, row):
        return line
    if line.outcome is RowOutcome.CREATED:
        return line
    return replace(line, outcome=RowOutcome.CHANGED)


def _enrol(
    session: Session, place: _Place, agent: Agent, contact: Contact, row: ListRow
) -> bool:
    """Enrol a contact as the row says; returns whether anything changed."""
    found = place.engagements.get(contact.id)
    if found is None:
        new = new_engagement(agent, contact, place.now, import_id=place.row.id)
        apply_values(new, row.engagement)
        session.add(new)
        return True
    if not place.merge or not apply_values(found, row.engagement):
        return False
    touch(found, place.now)
    return True
