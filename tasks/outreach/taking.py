"""Rows of a list that may be taken over: written, each with what became of it.

What is known is read and compared in the transaction that writes, under its locks:
between the look at a file and the yes to it anybody may change or remove a contact.
Rows were checked before, for themselves, and nobody else can change what that found.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from operator import itemgetter
from typing import Any, Final
from uuid import UUID

from sqlalchemy import Table
from sqlalchemy.orm import Session

from tasks.automation.records import chunks
from tasks.bulk import insert_many, update_many
from tasks.models.contact import Contact, ContactImport, ContactSource
from tasks.models.engagement import Agent, Engagement
from tasks.outreach.agents import agent_of
from tasks.outreach.contacts import contact_values
from tasks.outreach.engagements import engagement_values
from tasks.outreach.import_rows import Line, ListRow, RowOutcome
from tasks.outreach.known import (
    KnownContact,
    KnownEngagement,
    known_contacts,
    known_engagements,
)
from tasks.outreach.scheduling import rescheduled

_Values = dict[str, Any]
_CONTACTS: Final = Contact.metadata.tables[Contact.__tablename__]
_ENGAGEMENTS: Final = Engagement.metadata.tables[Engagement.__tablename__]


@dataclass(frozen=True, slots=True)
class _Place:
    """What is there, and what is to be written, as values of columns."""

    row: ContactImport
    agent: Agent | None
    contacts: Mapping[str, KnownContact]
    engagements: Mapping[UUID, KnownEngagement]  # by contact
    merge: bool
    now: datetime
    new_contacts: list[_Values] = field(default_factory=list)
    new_engagements: list[_Values] = field(default_factory=list)
    changed_contacts: list[_Values] = field(default_factory=list)
    changed_engagements: list[_Values] = field(default_factory=list)


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
    lines = [each if isinstance(each, Line) else _taken(place, each) for each in read]
    # The keys in the database: first the list, then contacts, then engagements.
    session.flush()
    _write(session, place)
    return lines


def _taken(place: _Place, row: ListRow) -> Line:
    known = place.contacts.get(row.address)
    if known is None:
        contact_id, outcome = _add(place, row), RowOutcome.CREATED
    else:
        contact_id, outcome = known.id, _change(place, known, row)
    enrolled = place.agent and _enrol(place, place.agent, contact_id, row)
    if enrolled and outcome is not RowOutcome.CREATED:
        outcome = RowOutcome.CHANGED
    return Line(row.number, row.address, outcome)


def _add(place: _Place, row: ListRow) -> UUID:
    made, source = place.row, ContactSource.IMPORT
    new = contact_values(
        made.congregation_id, row.address, source, place.now, import_id=made.id
    )
    place.new_contacts.append({**new, **_columns(row.contact)})
    id_: UUID = new["id"]
    return id_


def _change(place: _Place, known: KnownContact, row: ListRow) -> RowOutcome:
    if not place.merge:
        return RowOutcome.SKIPPED
    changes = {
        name: value
        for name, value in _columns(row.contact).items()
        if getattr(known, name) != value
    }
    if not changes:
        return RowOutcome.UNCHANGED
    place.changed_contacts.append(_touched(place, known, changes))
    return RowOutcome.CHANGED


def _columns(given: Mapping[str, Any]) -> _Values:
    """Return a contact's checked values by the names of its attributes."""
    return {("details" if n == "metadata" else n): v for n, v in given.items()}


def _enrol(place: _Place, agent: Agent, contact_id: UUID, row: ListRow) -> bool:
    """Enrol a contact as the row says; returns whether anything changed."""
    found = place.engagements.get(contact_id)
    if found is None:
        new = engagement_values(
            agent, contact_id, row.address, place.now, import_id=place.row.id
        )
        place.new_engagements.append({**new, **_engaged(None, row.engagement)})
        return True
    changes = _engaged(found, row.engagement) if place.merge else {}
    if changes:
        place.changed_engagements.append(_touched(place, found, changes))
    return bool(changes)


def _engaged(found: KnownEngagement | None, given: Mapping[str, Any]) -> _Values:
    """Return what the row changes of an engagement; None: of a new one."""
    was, revision = (found.next_action_at, found.revision) if found else (None, 0)
    changes: _Values = {}
    if "next_action_at" in given:
        changes |= rescheduled(was, revision, given["next_action_at"])
    if "stage" in given and (found is None or given["stage"] != found.stage):
        changes["stage"] = given["stage"]
    return changes


def _touched(
    place: _Place, found: KnownContact | KnownEngagement, changes: _Values
) -> _Values:
    """Return changes with the note of them, as ``scheduling.touch`` makes it."""
    told = {"id": found.id, "version": found.version + 1, "updated_at": place.now}
    return told | changes


def _write(session: Session, place: _Place) -> None:
    # In an order that all writers share, or two of them could deadlock.
    new_contacts = sorted(place.new_contacts, key=itemgetter("address"))
    _insert(session, _CONTACTS, new_contacts)
    _update(session, _CONTACTS, place.changed_contacts)
    _insert(session, _ENGAGEMENTS, place.new_engagements)
    _update(session, _ENGAGEMENTS, place.changed_engagements)
    # What the session has read before is not told by these statements.
    for row in session.identity_map.values():
        if isinstance(row, Contact | Engagement):
            session.expire(row)


def _insert(session: Session, table: Table, rows: Sequence[_Values]) -> None:
    for chunk in chunks([_named(row) for row in rows]):
        insert_many(session, table, chunk)


def _update(session: Session, table: Table, rows: Sequence[_Values]) -> None:
    alike: dict[tuple[str, ...], list[_Values]] = defaultdict(list)
    for row in rows:
        alike[tuple(row)].append(_named(row))
    for some in alike.values():
        for chunk in chunks(some):
            update_many(session, table, chunk)


def _named(row: _Values) -> _Values:
    """Return values by the names of their columns."""
    return {("metadata" if n == "details" else n): v for n, v in row.items()}
