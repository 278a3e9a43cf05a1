"""Lists of contacts: taken over row by row, and taken back.

A row that cannot be taken is told with its reason and does not hold up the others.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Final
from uuid import UUID

from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import Session

from tasks.automation.scope import known_congregation
from tasks.clock import utcnow
from tasks.errors import Conflict
from tasks.models.base import new_id
from tasks.models.contact import Contact, ContactImport, ContactSource
from tasks.models.engagement import Agent, Engagement
from tasks.operations.audit import Actor, Subject, record
from tasks.outreach.agents import agent_of
from tasks.outreach.checks import checked_address
from tasks.outreach.contacts import apply_values as apply_to_contact
from tasks.outreach.contacts import new_contact
from tasks.outreach.engagements import apply_values, new_engagement
from tasks.outreach.import_rows import (
    How,
    Line,
    ListRow,
    RowOutcome,
    check_size,
    read_rows,
)
from tasks.outreach.known import known_contacts, known_engagements
from tasks.outreach.scheduling import touch

FILENAME_MAX: Final = 200


@dataclass(frozen=True, slots=True)
class ImportDone:
    """What became of a list."""

    row: ContactImport
    lines: Sequence[Line]


@dataclass(frozen=True, slots=True)
class _Place:
    """What rows are written into."""

    row: ContactImport
    agent: Agent | None
    contacts: dict[str, Contact]
    engagements: dict[UUID, Engagement]  # by contact
    merge: bool
    now: datetime


def import_contacts(
    session: Session,
    congregation_id: UUID,
    rows: Sequence[Mapping[str, object]],
    how: How,
    actor: Actor,
    *,
    now: datetime | None = None,
) -> ImportDone:
    """Take a list of up to ``ROWS_MAX`` contacts over.  Caller commits.

    Args:
        rows: each with ``address``, perhaps ``display_name`` and ``metadata``, and,
            where an agent enrols them, ``stage`` and ``next_action_at``.

    Raises:
        InvalidInput: the list is empty or too long, or the agent's address is wrong.
        Conflict: somebody else makes the same contacts known at this moment.
    """
    check_size(rows)
    at = now or utcnow()
    agent_address = checked_address(how.agent, "agent") if how.agent else None
    known_congregation(session, congregation_id)
    read = read_rows(rows, enrols=agent_address is not None)
    made = ContactImport(
        id=new_id(),
        congregation_id=congregation_id,
        filename=_shown(how.filename),
        created_by=actor.name[:255],
        created_at=at,
        counts={},
        n_removed=0,
    )
    session.add(made)
    try:
        lines = _take(session, made, read, agent_address, merge=how.merge)
        session.flush()
    except IntegrityError as error:
        raise Conflict(
            "import_raced",
            "Somebody else makes the same contacts known right now; try again.",
        ) from error
    counts = Counter(str(line.outcome) for line in lines)
    made.counts = dict(counts)
    _record(session, made, actor)
    session.flush()
    return ImportDone(made, lines)


def _take(
    session: Session,
    made: ContactImport,
    read: Sequence[ListRow | Line],
    agent_address: str | None,
    *,
    merge: bool,
) -> list[Line]:
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


def _shown(filename: str) -> str:
    shown = "".join(char if char.isprintable() else " " for char in filename).strip()
    return shown[-FILENAME_MAX:]


def _record(session: Session, made: ContactImport, actor: Actor) -> None:
    told = ", ".join(f"{n} {word}" for word, n in sorted(made.counts.items()))
    what = f" from “{made.filename}”" if made.filename else ""
    record(
        session,
        actor,
        "contacts.imported",
        Subject("contact_import", str(made.id), made.congregation_id),
        f"Imported contacts{what}: {told}",
        after=dict(made.counts),
    )
