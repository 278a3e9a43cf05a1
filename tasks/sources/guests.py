"""A list of guests, row by row: who is new, who changes, and what cannot be kept."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Final
from uuid import UUID

from sqlalchemy import func, select
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.orm import Session

from tasks.automation import fields, rows
from tasks.automation.checks import checked_id
from tasks.automation.episode_changes import GUEST_CHECKS
from tasks.automation.records import by_key, chunks
from tasks.bulk import is_postgres
from tasks.errors import InvalidInput
from tasks.models.episode import EpisodeGuest
from tasks.saying import say
from tasks.sources.guest_tables import GuestRow


class LineOutcome(StrEnum):
    """What becomes of one row of the file."""

    NEW = "new"
    CHANGED = "changed"
    SAME = "same"  # everything is known already
    LEFT = "left"  # the guest is known, and known ones are to stay as they are
    REFUSED = "refused"


@dataclass(frozen=True, slots=True)
class Line:
    """One row of the file and what becomes of it."""

    line: int
    outcome: LineOutcome
    name: str
    email: str
    sentence: str = ""  # why it is refused
    guest_id: str = ""
    values: Mapping[str, Any] | None = None  # what is written; None: nothing


_REFUSED: Final = LineOutcome.REFUSED


def plan(
    session: Session,
    congregation_id: UUID,
    podcast_id: str,
    given: Sequence[GuestRow],
    *,
    merge: bool,
) -> list[Line]:
    """Return what would become of each row, in the order of the file; writes nothing.

    A guest is known by the id, when the file has one, else by the e-mail address
    within the podcast.

    Args:
        merge: whether known guests get what the file says; else they stay as they are.
    """
    known = _Known.of(session, congregation_id, podcast_id, given)
    seen: dict[str, int] = {}
    return [_line(row, known, seen, merge=merge) for row in given]


def carry_out(
    session: Session, congregation_id: UUID, podcast_id: str, lines: Sequence[Line]
) -> None:
    """Write what was planned in this transaction; the caller commits."""
    of = congregation_id
    born = [
        {"congregation_id": of, "id": line.guest_id, "podcast_id": podcast_id}
        | {"name": "", "email": None, "episode_id": None}
        | dict(line.values or {})
        for line in sorted(lines, key=lambda line: line.guest_id)
        if line.outcome is LineOutcome.NEW
    ]  # by id: two lists with the same guests wait for one another, and tie no knot
    dialect = postgresql if is_postgres(session) else sqlite
    # Somebody may have told of the same guest since this was planned: theirs stays.
    statement = dialect.insert(EpisodeGuest).on_conflict_do_nothing()
    for some in chunks(born):
        session.execute(statement, list(some))
    changed = {
        (of, line.guest_id): line.values or {}
        for line in lines
        if line.outcome is LineOutcome.CHANGED
    }
    for key, guest in by_key(session, EpisodeGuest, changed).items():
        rows.apply(guest, changed[key])
    session.flush()


@dataclass(frozen=True, slots=True)
class _Known:
    """The guests that rows of the file may mean."""

    podcast_id: str
    by_id: Mapping[str, EpisodeGuest]
    by_email: Mapping[str, EpisodeGuest]

    @classmethod
    def of(
        cls,
        session: Session,
        congregation_id: UUID,
        podcast_id: str,
        given: Sequence[GuestRow],
    ) -> _Known:
        ids = {_id_of(podcast_id, row.values) for row in given}
        found = by_key(session, EpisodeGuest, {(congregation_id, each) for each in ids})
        emails = {_address(row.values) for row in given if "email" in row.values}
        by_email: dict[str, EpisodeGuest] = {}
        for some in chunks(sorted(emails)):
            statement = select(EpisodeGuest).where(
                EpisodeGuest.congregation_id == congregation_id,
                EpisodeGuest.podcast_id == podcast_id,
                func.lower(EpisodeGuest.email).in_(some),
            )
            for guest in session.scalars(statement):
                by_email.setdefault((guest.email or "").lower(), guest)
        return cls(podcast_id, {key[1]: row for key, row in found.items()}, by_email)

    def guest(self, values: Mapping[str, str]) -> EpisodeGuest | None:
        """Return the guest that a row means; ``None``: nobody who is known."""
        found = self.by_id.get(_id_of(self.podcast_id, values))
        if found is None and "id" not in values and "email" in values:
            found = self.by_email.get(_address(values))
        return found


def _line(row: GuestRow, known: _Known, seen: dict[str, int], *, merge: bool) -> Line:
    given = row.values
    shown = (given.get("name", ""), given.get("email", ""))
    if row.trouble:
        return Line(row.line, _REFUSED, *shown, say(row.trouble, **row.numbers))
    guest = known.guest(given)
    guest_id = guest.id if guest else _id_of(known.podcast_id, given)
    if guest_id in seen:
        same = say("It is the same guest as in line %(line)s.", line=seen[guest_id])
        return Line(row.line, _REFUSED, *shown, same)
    try:
        clean = _checked(given, guest, known.podcast_id)
    except InvalidInput as error:
        return Line(row.line, _REFUSED, *shown, error.message)
    seen[guest_id] = row.line
    if guest is None:
        return Line(row.line, LineOutcome.NEW, *shown, "", guest_id, clean)
    if not merge:
        return Line(row.line, LineOutcome.LEFT, *shown, "", guest_id)
    other = {k: value for k, value in clean.items() if getattr(guest, k) != value}
    outcome = LineOutcome.CHANGED if other else LineOutcome.SAME
    return Line(row.line, outcome, *shown, "", guest_id, other or None)


def _checked(
    given: Mapping[str, str], guest: EpisodeGuest | None, podcast_id: str
) -> dict[str, Any]:
    """Return the row's values as they are stored.

    Raises:
        InvalidInput: one cannot be kept, or the guest belongs to another podcast.
    """
    if guest is not None and guest.podcast_id != podcast_id:
        raise InvalidInput(
            "podcast_fixed",
            say("The guest “%(id)s” belongs to another podcast.", id=guest.id),
        )
    if "id" in given:
        checked_id(given["id"], say("The id"))
    if guest is None and "name" not in given:
        raise InvalidInput("required", say("The name is missing."))
    values = {name: value for name, value in given.items() if name != "id"}
    return fields.checked(values, GUEST_CHECKS)


def _id_of(podcast_id: str, values: Mapping[str, str]) -> str:
    """Return the guest's id: the file's, else one made of the address or the name."""
    if "id" in values:
        return values["id"]
    who = _address(values) if "email" in values else values.get("name", "").lower()
    told = f"{podcast_id}\n{who}".encode()
    return f"csv:{hashlib.sha256(told).hexdigest()[:40]}"


def _address(values: Mapping[str, str]) -> str:
    """Return a row's address as addresses are compared: one spelling, small letters."""
    given = values["email"]
    try:
        return fields.email(given, "email").lower()
    except InvalidInput:
        return given.lower()  # ``_checked`` says what is wrong
