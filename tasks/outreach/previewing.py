"""What would become of a file of contacts, row by row; nothing is written."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Final
from uuid import UUID

from sqlalchemy import select
from sqlalchemy.orm import Session

from tasks.models.engagement import Agent
from tasks.outreach.checks import NAME_MAX
from tasks.outreach.contact_files import ContactFile, FileRow, checked_rows
from tasks.outreach.import_rows import How, Line, ListRow, RowOutcome
from tasks.outreach.known import (
    KnownContact,
    KnownEngagement,
    known_contacts,
    known_engagements,
)
from tasks.saying import mark, say


class Fate(StrEnum):
    """What becomes of one row of a file, before the import and after it."""

    NEW = "new"
    CHANGED = "changed"
    SAME = "same"  # everything is known already
    LEFT = "left"  # it is known, and known ones stay as they are
    TWICE = "twice"  # an earlier row of the file has the same address
    WRONG = "wrong"


#: What is written; the rest stays as it is.
WRITTEN: Final = frozenset({Fate.NEW, Fate.CHANGED})
_FATES: Final[Mapping[RowOutcome, Fate]] = {
    RowOutcome.CREATED: Fate.NEW,
    RowOutcome.CHANGED: Fate.CHANGED,
    RowOutcome.UNCHANGED: Fate.SAME,
    RowOutcome.SKIPPED: Fate.LEFT,
}
_ENROLLED: Final = mark("It is enrolled.")
#: Fields -> words for people.
_WORDS: Final[Mapping[str, str]] = {
    "display_name": mark("name"),
    "stage": mark("stage"),
    "metadata": mark("metadata"),
    "next_action_at": mark("next action"),
}


@dataclass(frozen=True, slots=True)
class Told:
    """One row of a file and what becomes of it."""

    place: int  # as in ``FileRow``
    address: str
    name: str  # as the file says
    fate: Fate
    sentence: str = ""  # why it is wrong, or what changes


@dataclass(frozen=True, slots=True)
class Preview:
    """Every row of a file, in its order."""

    rows: Sequence[Told]

    @property
    def counts(self) -> Mapping[Fate, int]:
        """How many rows each fate has; every fate is there."""
        counted = Counter(row.fate for row in self.rows)
        return {fate: counted[fate] for fate in Fate}

    @property
    def n_written(self) -> int:
        """How many contacts are made or changed."""
        return sum(row.fate in WRITTEN for row in self.rows)


def preview(
    session: Session, congregation_id: UUID, file: ContactFile, how: How
) -> Preview:
    """Return what would become of each row, as things stand now.

    Args:
        how: with the agent's address normalised.
    """
    read = checked_rows(file, enrols=how.agent is not None)
    known = _Known.of(session, congregation_id, read, how)
    return Preview(
        [
            told(file, each) if isinstance(each, Line) else known.told(file, each)
            for each in read
        ]
    )


def told(file: ContactFile, line: Line) -> Told:
    """Return a row that was refused, or taken over, with where it stands."""
    row = file.rows[line.number - 1]
    if line.error is None:
        return Told(row.place, line.address, _name(row), _FATES[line.outcome])
    is_twice = line.error.code == "listed_twice"
    where = file.where(row, line.error.field)
    return Told(
        row.place,
        line.address,
        _name(row),
        Fate.TWICE if is_twice else Fate.WRONG,
        say("%(where)s: %(what)s", where=where, what=line.error.message),
    )


def _name(row: FileRow) -> str:
    given = row.values.get("display_name")
    return given[:NAME_MAX] if isinstance(given, str) else ""


@dataclass(frozen=True, slots=True)
class _Known:
    """What rows of the file may mean."""

    how: How
    contacts: Mapping[str, KnownContact]
    engagements: Mapping[UUID, KnownEngagement]  # by contact

    @classmethod
    def of(
        cls,
        session: Session,
        congregation_id: UUID,
        read: Sequence[ListRow | Line],
        how: How,
    ) -> _Known:
        addresses = [row.address for row in read if isinstance(row, ListRow)]
        contacts = known_contacts(session, congregation_id, addresses, locked=False)
        agent = session.scalars(
            select(Agent).where(
                Agent.congregation_id == congregation_id, Agent.address == how.agent
            )
        ).one_or_none()
        engagements = known_engagements(
            session, agent, list(contacts.values()), locked=False
        )
        return cls(how, contacts, engagements)

    def told(self, file: ContactFile, row: ListRow) -> Told:
        source = file.rows[row.number - 1]
        contact = self.contacts.get(row.address)
        changes = self._changes(contact, row) if contact else []
        fate = Fate.SAME if self.how.merge else Fate.LEFT
        if contact is None:
            fate = Fate.NEW
        elif changes:
            fate = Fate.CHANGED
        return Told(source.place, row.address, _name(source), fate, _sentence(changes))

    def _changes(self, contact: KnownContact, row: ListRow) -> list[str]:
        """Return what changes, in words; what is taken over does the same."""
        found = _differing(contact, row.contact) if self.how.merge else []
        if self.how.agent is None:
            return found
        engagement = self.engagements.get(contact.id)
        if engagement is None:
            return [*found, _ENROLLED]
        if self.how.merge:
            found += _differing(engagement, row.engagement)
        return found


def _differing(
    row: KnownContact | KnownEngagement, values: Mapping[str, Any]
) -> list[str]:
    return [
        say(_WORDS.get(name, name))
        for name, value in values.items()
        if getattr(row, "details" if name == "metadata" else name) != value
    ]


def _sentence(changes: Sequence[str]) -> str:
    names = ", ".join(change for change in changes if change != _ENROLLED)
    told = [say("Another %(names)s.", names=names)] if names else []
    return " ".join([*told, say(_ENROLLED)] if _ENROLLED in changes else told)
