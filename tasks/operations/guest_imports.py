"""Lists of guests: uploaded, looked at, and taken over or thrown away."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from sqlalchemy import select
from sqlalchemy.orm import Session

from tasks.clock import utcnow
from tasks.errors import NotFound
from tasks.models import GuestImport, Podcast, new_id
from tasks.operations.audit import Actor, Subject, record
from tasks.saying import say
from tasks.sources.guest_tables import GuestTable
from tasks.sources.guests import Line, LineOutcome, carry_out, plan
from tasks.sources.guests_csv import read_guests


@dataclass(frozen=True, slots=True)
class Imported:
    """What became of a list."""

    lines: list[Line]

    @property
    def counts(self) -> Mapping[LineOutcome, int]:
        """How many rows each outcome has."""
        return Counter(line.outcome for line in self.lines)


def upload_guests(
    session: Session,
    congregation_id: UUID,
    podcast_id: str,
    filename: str,
    data: bytes,
    actor: Actor,
    *,
    now: datetime | None = None,
) -> GuestImport:
    """Keep a list for a day, until an operator has looked at it.

    Raises:
        NotFound: the session sees no such podcast.
        InvalidInput: the file cannot be read as a list of guests.
    """
    if session.get(Podcast, (congregation_id, podcast_id)) is None:
        raise NotFound(
            "unknown_podcast", say("There is no such podcast."), field="podcast_id"
        )
    shown = "".join(char if char.isprintable() else " " for char in filename).strip()
    row = GuestImport(
        id=new_id(),
        congregation_id=congregation_id,
        podcast_id=podcast_id,
        filename=shown[-200:] or "guests.csv",
        content=read_guests(data).as_json(),
        created_by=actor.name[:255],
        created_at=now or utcnow(),
    )
    session.add(row)
    session.flush()
    return row


def look_at_guests(session: Session, row: GuestImport, *, merge: bool) -> Imported:
    """Return what would become of a list."""
    table = GuestTable.of_json(row.content)
    lines = plan(session, row.congregation_id, row.podcast_id, table.rows, merge=merge)
    return Imported(lines)


def take_guests(
    session: Session, import_id: UUID, actor: Actor, *, merge: bool
) -> Imported:
    """Take a list over, all rows that can be kept, and forget the file.

    Raises:
        NotFound: the session sees no such list; it was taken over, or is too old.
    """
    row = get_guest_import(session, import_id, locked=True)
    done = look_at_guests(session, row, merge=merge)
    carry_out(session, row.congregation_id, row.podcast_id, done.lines)
    counts = {str(outcome): n for outcome, n in sorted(done.counts.items())}
    told = ", ".join(f"{n} {outcome}" for outcome, n in counts.items())
    record(
        session,
        actor,
        "guests.imported",
        Subject("podcast", row.podcast_id, row.congregation_id),
        f"Imported guests from “{row.filename}”: {told}.",
        after={"merge": merge, **counts},
    )
    session.delete(row)
    session.flush()
    return done


def discard_guests(session: Session, import_id: UUID) -> GuestImport:
    """Throw a list away.

    Raises:
        NotFound: the session sees no such list.
    """
    row = get_guest_import(session, import_id, locked=True)
    session.delete(row)
    session.flush()
    return row


def get_guest_import(
    session: Session, import_id: UUID, *, locked: bool = False
) -> GuestImport:
    """Return a list that waits.

    Raises:
        NotFound: the session sees none.
    """
    statement = select(GuestImport).where(GuestImport.id == import_id)
    row = session.scalar(statement.with_for_update() if locked else statement)
    if row is None:
        raise NotFound(
            "unknown_guest_list",
            say(
                "This list is gone: it was imported, thrown away, or is older than "
                "a day."
            ),
        )
    return row
