"""What the pages of imports read."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final
from uuid import UUID

from sqlalchemy import ColumnElement, Row, Select, select
from sqlalchemy.orm import Session

from dashboard.paging import Page, paginate
from tasks.errors import InvalidInput, NotFound
from tasks.models import Congregation, ContactDraft, ContactImport
from tasks.outreach.previewing import Fate, Told
from tasks.saying import say

#: Files that wait and are listed; they are gone after a day.
WAITING_MAX: Final = 50
#: How imported lists are listed.
KEYS: Final = (ContactImport.created_at.desc(), ContactImport.id.desc())


def waiting(session: Session) -> Sequence[Row[ContactDraft, str]]:
    """Return the files that wait for somebody's yes, newest first."""
    found = session.execute(
        select(ContactDraft, Congregation.name)
        .join(Congregation, Congregation.id == ContactDraft.congregation_id)
        .order_by(ContactDraft.id.desc())
        .limit(WAITING_MAX)
    )
    return found.all()


def selected(
    conditions: Sequence[ColumnElement[bool]],
) -> Select[ContactImport, str]:
    """Select lists that were imported with their congregation's names."""
    return (
        select(ContactImport, Congregation.name)
        .join(Congregation, Congregation.id == ContactImport.congregation_id)
        .where(*conditions)
    )


def listed(
    session: Session,
    conditions: Sequence[ColumnElement[bool]],
    cursor: str | None,
    limit: int,
) -> Page[Row[ContactImport, str]]:
    """Return a page of the lists that were imported, newest first."""
    return paginate(session, selected(conditions), KEYS, cursor, limit)


def one(session: Session, import_id: UUID) -> Row[ContactImport, str]:
    """Return a list that was imported, and its congregation's name.

    Raises:
        NotFound: the session sees none.
    """
    statement = selected([ContactImport.id == import_id])
    row = session.execute(statement).one_or_none()
    if row is None:
        raise NotFound(
            "unknown_import",
            say("There is no such list; one that waited for a yes is kept for a day."),
        )
    return row


def congregation_of(session: Session, row: ContactDraft) -> str:
    """Return the name of a file's congregation."""
    return session.scalars(
        select(Congregation.name).where(Congregation.id == row.congregation_id)
    ).one()


def page_of(
    rows: Sequence[Told], fate: str, cursor: str | None, limit: int
) -> Page[Told]:
    """Return a page of a list's rows, in the file's order.

    Args:
        fate: only these; empty: all of them.
        cursor: ``after-`` or ``before-`` and the place of a row.

    Raises:
        InvalidInput: a fate or a cursor that there is not.
    """
    only = _fate(fate) if fate else None
    wanted = [row for row in rows if only in (None, row.fate)]
    side, place = _read(cursor) if cursor else ("after", 0)
    if side == "after":
        start = sum(row.place <= place for row in wanted)
    else:
        start = max(0, sum(row.place < place for row in wanted) - limit)
    some = wanted[start : start + limit]
    has_more = start + limit < len(wanted)
    return Page(
        some,
        f"after-{some[-1].place}" if has_more else None,
        f"before-{some[0].place}" if some and start else None,
    )


def _fate(text: str) -> Fate:
    try:
        return Fate(text)
    except ValueError as error:
        raise InvalidInput(
            "bad_filter",
            say("The filter in this address cannot be read."),
            field="fate",
        ) from error


def _read(cursor: str) -> tuple[str, int]:
    side, _, place = cursor.partition("-")
    if side not in ("after", "before") or not place.isascii() or not place.isdigit():
        raise InvalidInput(
            "bad_cursor",
            say("This page of the list cannot be found; go to the list's start."),
            field="cursor",
        )
    return side, int(place[:9])
