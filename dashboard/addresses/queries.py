"""What the pages of addresses read."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Final
from uuid import UUID

from sqlalchemy import ColumnElement, Row, Select, func, select
from sqlalchemy.orm import Session

from dashboard.filters import duration
from dashboard.paging import Key, Page, paginate
from tasks.congregation.addresses.rows import REFUSALS, Refusal
from tasks.congregation.addresses.working import OF_FILES
from tasks.errors import NotFound
from tasks.lane import COUNT_CAP
from tasks.models import Address, AddressArea, Congregation, Sync
from tasks.models.long_job import LongJobState
from tasks.saying import mark, meant, say
from tasks.search.addresses import STANDS

#: The tabs: word in the address -> what stands there.
TABS: Final[Mapping[str, str]] = {
    "": meant("addresses", "All"),
    "missing": meant("addresses", "Missing"),
    "outside": mark("Outside"),
    "inactive": meant("addresses", "Inactive"),
    "placed": mark("Placed by hand"),
}
#: By commune, street and number.
KEYS: Final[tuple[Key, ...]] = (Address.congregation_id, Address.key)
#: Before so much is done, nobody can tell how long the rest takes.
_TELLING: Final = 0.03


@dataclass(frozen=True, slots=True)
class Line:
    """A sync, and whose addresses it is about."""

    row: Sync
    congregation: Congregation

    @property
    def is_live(self) -> bool:
        """Whether it still changes by itself."""
        return self.row.is_open

    @property
    def is_asked_to_end(self) -> bool:
        """Whether it was cancelled, and its worker has not seen it yet."""
        return self.row.is_open and self.row.cancel_asked_at is not None

    @property
    def phase(self) -> str:
        """What its worker is at; empty before it has said so."""
        word, _, name = self.row.phase.partition(" ")
        with_name = OF_FILES.get(word)
        return say(with_name, name=name) if with_name else say(self.row.phase)

    @property
    def took(self) -> str:
        """How long its last attempt took."""
        seconds = self.row.report["seconds"]
        return (
            duration(timedelta(seconds=seconds))
            if seconds >= 1
            else say("less than 1 s")
        )

    def left(self, now: datetime) -> timedelta | None:
        """Return about how long it still takes; ``None``: nobody can tell."""
        row = self.row
        if row.state is not LongJobState.RUNNING or not row.progress_total:
            return None
        part = row.progress_done / row.progress_total
        if part < _TELLING or row.started_at is None:
            return None
        return (now - row.started_at) * ((1 - min(part, 1)) / part)

    def refused(self) -> Sequence[tuple[str, int, Sequence[str]]]:
        """Return what was wrong with rows: the words, how many, some lines."""
        reasons: Sequence[dict[str, Any]] = self.row.report.get("reasons", ())
        return [
            (say(REFUSALS[Refusal(each["reason"])]), each["n"], each["lines"])
            for each in reasons
        ]


def selected(wanted: Sequence[ColumnElement[bool]]) -> Select[Address, str]:
    """Select addresses with their congregation's name."""
    return (
        select(Address, Congregation.name)
        .join(Congregation, Congregation.id == Address.congregation_id)
        .where(*wanted)
    )


def addresses(
    session: Session,
    wanted: Sequence[ColumnElement[bool]],
    cursor: str | None,
    limit: int,
) -> Page[Row[Address, str]]:
    """Return a page of addresses: by commune, street and number."""
    return paginate(session, selected(wanted), KEYS, cursor, limit)


def n_missing(session: Session) -> int:
    """Return how many addresses are missing, counted to the cap."""
    some = select(Address.id).where(STANDS["missing"]).limit(COUNT_CAP).subquery()
    return session.scalar(select(func.count()).select_from(some)) or 0


def address(session: Session, address_id: UUID) -> Row[Address, Congregation]:
    """Return an address.

    Raises:
        NotFound: the session sees none.
    """
    found = session.execute(
        select(Address, Congregation)
        .join(Congregation, Congregation.id == Address.congregation_id)
        .where(Address.id == address_id)
    ).one_or_none()
    if found is None:
        raise NotFound("unknown_address", say("There is no such address."))
    return found


def selected_syncs(
    wanted: Sequence[ColumnElement[bool]],
) -> Select[Sync, Congregation]:
    """Select syncs with their congregation."""
    return _syncs().where(*wanted)


def syncs(
    session: Session,
    wanted: Sequence[ColumnElement[bool]],
    cursor: str | None,
    limit: int,
) -> Page[Line]:
    """Return a page of syncs, newest first."""
    statement = selected_syncs(wanted)
    page = paginate(session, statement, (Sync.id.desc(),), cursor, limit)
    lines = [Line(*row) for row in page.rows]
    return Page(lines, page.next_cursor, page.previous_cursor)


def sync(session: Session, sync_id: UUID) -> Line:
    """Return a sync.

    Raises:
        NotFound: the session sees none.
    """
    found = session.execute(_syncs().where(Sync.id == sync_id)).one_or_none()
    if found is None:
        raise NotFound("unknown_sync", say("There is no such sync."))
    return Line(*found)


def last_syncs(session: Session, limit: int) -> Sequence[Line]:
    """Return the newest syncs."""
    ordered = _syncs().order_by(Sync.id.desc()).limit(limit)
    return [Line(*row) for row in session.execute(ordered)]


def areas(session: Session, limit: int) -> Sequence[Row[Congregation, AddressArea]]:
    """Return congregations by name, with what each wants; ``None``: not said yet."""
    return session.execute(
        select(Congregation, AddressArea)
        .outerjoin(AddressArea, AddressArea.congregation_id == Congregation.id)
        .order_by(Congregation.name, Congregation.id)
        .limit(limit)
    ).all()


def congregation(session: Session, slug: str) -> Congregation:
    """Return a congregation.

    Raises:
        NotFound: the session sees none.
    """
    found = session.scalars(
        select(Congregation).where(Congregation.slug == slug)
    ).one_or_none()
    if found is None:
        raise NotFound("unknown_congregation", say("There is no such congregation."))
    return found


def _syncs() -> Select[Sync, Congregation]:
    return select(Sync, Congregation).join(
        Congregation, Congregation.id == Sync.congregation_id
    )
