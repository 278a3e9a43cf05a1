"""Lists of contacts: taken over row by row, and taken back.

A row that cannot be taken is told with its reason and does not hold up the others.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final
from uuid import UUID

from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import Session

from tasks.automation.scope import known_congregation
from tasks.clock import utcnow
from tasks.errors import Conflict
from tasks.models.base import new_id
from tasks.models.contact import ContactImport
from tasks.operations.audit import Actor, Subject, record
from tasks.outreach.checks import checked_address
from tasks.outreach.contact_files import ContactFile, checked_rows
from tasks.outreach.import_rows import How, Line, ListRow, check_size, read_rows
from tasks.outreach.taking import take
from tasks.saying import say

FILENAME_MAX: Final = 200


@dataclass(frozen=True, slots=True)
class ImportDone:
    """What became of a list."""

    row: ContactImport
    lines: Sequence[Line]


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
    read = read_rows(rows, enrols=bool(how.agent))
    return take_rows(session, congregation_id, read, how, actor, now=now)


def import_file(
    session: Session,
    congregation_id: UUID,
    file: ContactFile,
    how: How,
    actor: Actor,
) -> ImportDone:
    """Take a file of up to ``ROWS_MAX`` contacts over at once.  Caller commits.

    Raises:
        InvalidInput: the file is too long, or the agent's address is wrong.
        Conflict: somebody else makes the same contacts known at this moment.
    """
    check_size(file.rows)
    read = checked_rows(file, enrols=bool(how.agent))
    return take_rows(session, congregation_id, read, how, actor)


def take_rows(
    session: Session,
    congregation_id: UUID,
    read: Sequence[ListRow | Line],
    how: How,
    actor: Actor,
    *,
    import_id: UUID | None = None,
    now: datetime | None = None,
) -> ImportDone:
    """Take rows over that were checked one by one.  Caller commits.

    Args:
        import_id: the id that the list gets; None: a new one.

    Raises:
        InvalidInput: the agent's address is wrong.
        Conflict: somebody else makes the same contacts known at this moment.
    """
    at = now or utcnow()
    agent_address = checked_address(how.agent, "agent") if how.agent else None
    known_congregation(session, congregation_id)
    made = ContactImport(
        id=import_id or new_id(),
        congregation_id=congregation_id,
        filename=shown_name(how.filename),
        created_by=actor.name[:255],
        created_at=at,
        counts={},
        n_removed=0,
    )
    session.add(made)
    try:
        lines = take(session, made, read, agent_address, merge=how.merge)
        session.flush()
    except IntegrityError as error:
        raise Conflict(
            "import_raced",
            say("Somebody else makes the same contacts known right now; try again."),
        ) from error
    counts = Counter(str(line.outcome) for line in lines)
    made.counts = dict(counts)
    _record(session, made, actor)
    session.flush()
    return ImportDone(made, lines)


def shown_name(filename: str) -> str:
    """Return a file's name as it is kept and shown."""
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
