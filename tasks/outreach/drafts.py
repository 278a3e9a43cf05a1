"""Files of contacts: uploaded, looked at, and taken over or thrown away."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from sqlalchemy import Select, select
from sqlalchemy.orm import Session, undefer

from tasks.automation.scope import known_congregation
from tasks.clock import utcnow
from tasks.errors import Conflict, NotFound
from tasks.models.base import new_id
from tasks.models.contact import ContactImport
from tasks.models.contact_list import ContactDraft, ContactImportLines
from tasks.operations.audit import Actor
from tasks.outreach.contact_files import ContactFile, checked_rows
from tasks.outreach.import_rows import How, Line, ListRow
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


def get_draft(session: Session, draft_id: UUID) -> ContactDraft:
    """Return a list that waits, with what it holds.

    Raises:
        NotFound: the session sees none.
    """
    return _found(session, _wanted(draft_id).options(undefer(ContactDraft.content)))


def _wanted(draft_id: UUID) -> Select[ContactDraft]:
    return select(ContactDraft).where(ContactDraft.id == draft_id)


def _found(session: Session, statement: Select[ContactDraft]) -> ContactDraft:
    row = session.scalar(statement)
    if row is None:
        raise NotFound(
            "unknown_contact_list",
            say(
                "This list is gone: it was imported, thrown away, or is older than "
                "a day."
            ),
        )
    return row


@dataclass(frozen=True, slots=True)
class CheckedDraft:
    """A list whose rows were checked, each for itself."""

    id: UUID
    congregation_id: UUID
    file: ContactFile
    how: How
    rows: Sequence[ListRow | Line]
    refused: Mapping[int, Told]  # by the row's number


def check_draft(draft: ContactDraft, how: How) -> CheckedDraft:
    """Check the rows of a list that waits, before the transaction that writes.

    It takes most of the time.  What it finds stays true: nobody can change a list that
    waits, only take it over or throw it away.

    Raises:
        Conflict: no row can be taken.
    """
    file = ContactFile.of_json(draft.content)
    with in_english():  # what becomes of each row is kept
        rows = checked_rows(file, enrols=how.agent is not None)
        wrong = [each for each in rows if isinstance(each, Line)]
        refused = {line.number: told(file, line) for line in wrong}
    if len(refused) == len(rows):
        raise Conflict("nothing_to_import", say("No row of this file can be imported."))
    return CheckedDraft(draft.id, draft.congregation_id, file, how, rows, refused)


def take_draft(
    session: Session,
    checked: CheckedDraft,
    actor: Actor,
    *,
    now: datetime | None = None,
) -> ContactImport:
    """Take a list over, all rows that can be, and forget the file.  Caller commits.

    Raises:
        NotFound: the list is gone, also when somebody took it since it was checked.
        InvalidInput: the agent's address is wrong.
        Conflict: somebody else makes the same contacts known.
    """
    draft = _found(session, _wanted(checked.id).with_for_update())
    of, rows, how = checked.congregation_id, checked.rows, checked.how
    done = take_rows(session, of, rows, how, actor, import_id=checked.id, now=now)
    file, refused = checked.file, checked.refused
    lines = [refused.get(line.number) or told(file, line) for line in done.lines]
    session.add(
        ContactImportLines(
            congregation_id=of,
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
    row = _found(session, _wanted(draft_id).with_for_update())
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
