"""Files of contacts: uploaded, looked at, and taken over or thrown away."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from uuid import UUID

from sqlalchemy import select
from sqlalchemy.orm import Session, undefer

from tasks.automation.scope import known_congregation
from tasks.clock import utcnow
from tasks.errors import Conflict, NotFound
from tasks.models.base import new_id
from tasks.models.contact import ContactImport
from tasks.models.contact_list import ContactDraft, ContactImportLines
from tasks.operations.audit import Actor
from tasks.outreach.contact_files import ContactFile, checked_rows
from tasks.outreach.import_rows import How, ListRow
from tasks.outreach.importing import shown_name, take_rows
from tasks.outreach.previewing import Fate, Told, told
from tasks.saying import in_english, say


def upload(
    session: Session,
    congregation_id: UUID,
    filename: str,
    file: ContactFile,
    actor: Actor,
    *,
    now: datetime | None = None,
) -> ContactDraft:
    """Keep a list for a day, until an operator has looked at it.  Caller commits.

    Raises:
        NotFound: the session sees no such congregation.
    """
    known_congregation(session, congregation_id)
    row = ContactDraft(
        id=new_id(),
        congregation_id=congregation_id,
        filename=shown_name(filename) or "contacts.csv",
        content=file.as_json(),
        n_rows=len(file.rows),
        created_by=actor.name[:255],
        created_at=now or utcnow(),
    )
    session.add(row)
    session.flush()
    return row


def get_draft(
    session: Session, draft_id: UUID, *, locked: bool = False
) -> ContactDraft:
    """Return a list that waits, with what it holds.

    Raises:
        NotFound: the session sees none.
    """
    statement = select(ContactDraft).where(ContactDraft.id == draft_id)
    statement = statement.options(undefer(ContactDraft.content))
    row = session.scalar(statement.with_for_update() if locked else statement)
    if row is None:
        raise NotFound(
            "unknown_contact_list",
            say(
                "This list is gone: it was imported, thrown away, or is older than "
                "a day."
            ),
        )
    return row


def take_draft(
    session: Session,
    draft_id: UUID,
    how: How,
    actor: Actor,
    *,
    now: datetime | None = None,
) -> ContactImport:
    """Take a list over, all rows that can be, and forget the file.  Caller commits.

    Raises:
        NotFound: the session sees no such list.
        InvalidInput: the agent's address is wrong.
        Conflict: no row can be taken, or somebody else makes the same contacts known.
    """
    draft = get_draft(session, draft_id, locked=True)
    file = ContactFile.of_json(draft.content)
    with in_english():  # what becomes of each row is kept
        read = checked_rows(file, enrols=how.agent is not None)
    if not any(isinstance(each, ListRow) for each in read):
        raise Conflict("nothing_to_import", say("No row of this file can be imported."))
    done = take_rows(
        session, draft.congregation_id, read, how, actor, import_id=draft.id, now=now
    )
    with in_english():
        lines = [told(file, line) for line in done.lines]
    session.add(
        ContactImportLines(
            congregation_id=draft.congregation_id,
            import_id=done.row.id,
            lines=_stored(file.unit, lines),
            created_at=done.row.created_at,
        )
    )
    session.delete(draft)
    session.flush()
    return done.row


def discard_draft(session: Session, draft_id: UUID) -> ContactDraft:
    """Throw a list away.  Caller commits.

    Raises:
        NotFound: the session sees no such list.
    """
    row = get_draft(session, draft_id, locked=True)
    session.delete(row)
    session.flush()
    return row


def lines_of(session: Session, import_id: UUID) -> tuple[str, list[Told]] | None:
    """Return what ``Told.place`` counts and what became of each row.

    ``None``: the list came over the API, or that is too long ago.
    """
    found = session.scalar(select(ContactImportLines).filter_by(import_id=import_id))
    if found is None:
        return None
    kept = found.lines
    return kept["unit"], [
        Told(place, address, name, Fate(fate), sentence)
        for place, address, name, fate, sentence in kept["rows"]
    ]


def _stored(unit: str, lines: Sequence[Told]) -> dict[str, object]:
    rows = [
        [line.place, line.address, line.name, line.fate, line.sentence]
        for line in lines
    ]
    return {"unit": unit, "rows": rows}
