"""Starting a sync, and cancelling one."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final
from urllib.parse import urlsplit
from uuid import UUID

from sqlalchemy import select
from sqlalchemy.exc import OperationalError
from sqlalchemy.orm import Session

from tasks import doorbell
from tasks.congregation import loose_files
from tasks.congregation.addresses.jobs import LANE, SYNCS, source_of
from tasks.errors import Conflict, InvalidInput, NotFound
from tasks.models.address import AddressArea, Sync, SyncKind
from tasks.models.base import new_id
from tasks.models.congregation import Congregation
from tasks.models.long_job import ENDED
from tasks.operations.audit import Actor, Subject, record
from tasks.saying import say

#: Files of one sync.
SOURCES_MAX: Final = 20
#: Where the files of a department are.
BAN_URL: Final = (
    "https://adresse.data.gouv.fr/data/ban/adresses/latest/csv/adresses-{}.csv.gz"
)
BANO_URL: Final = "https://bano.openstreetmap.fr/data/bano-{}.csv"
_DEPARTMENT: Final = re.compile(
    r"0[1-9]|1[0-9]|2[1-9AB]|[3-8][0-9]|9[0-5]|97[1-8]|98[4678]"
)


@dataclass(frozen=True, slots=True)
class Started:
    """A sync that waits or runs."""

    sync: Sync
    is_new: bool  # False: it was asked for earlier, and has not ended yet


def start_sync(
    session: Session,
    congregation_id: UUID,
    sources: Sequence[dict[str, Any]],
    actor: Actor,
    *,
    now: datetime,
    accepts: bool = False,
) -> Started:
    """Ask for a sync, or return the one that is under way.  Caller commits.

    Args:
        sources: as ``Sync.sources`` has them; they are checked already.
        accepts: whether it is applied although it looks implausible.

    Raises:
        NotFound: there is no such congregation.
        InvalidInput: no source, too many, or nobody has said what is wanted.
        Conflict: the reservation of an upload has lapsed.
    """
    lock_congregation(session, congregation_id)
    if (under_way := open_sync(session, congregation_id)) is not None:
        return Started(under_way, is_new=False)
    _refuse(session, congregation_id, sources)
    for source in sources:
        if "key" in source:
            loose_files.keep(session, source["key"], now)
    sync = Sync(
        id=new_id(now),
        congregation_id=congregation_id,
        sources=list(sources),
        has_files=any("key" in each for each in sources),
        accepts=accepts,
        requested_by=actor.name,
        requested_at=now,
        run_at=now,
    )
    session.add(sync)
    session.flush()
    doorbell.ask(session, LANE)
    _record(session, sync, actor, "sync.requested", f"Asked for: {source_of(sync)}")
    return Started(sync, is_new=True)


def _refuse(
    session: Session, congregation_id: UUID, sources: Sequence[dict[str, Any]]
) -> None:
    if not sources:
        raise InvalidInput(
            "no_source",
            say("Choose a department, an address or a file."),
            field="files",
        )
    if len(sources) > SOURCES_MAX:
        raise InvalidInput(
            "too_many",
            say("A sync may have %(max)s files at most.", max=SOURCES_MAX),
            field="files",
        )
    area = session.get(AddressArea, congregation_id)
    if area is None or not (area.postcodes or area.communes):
        raise InvalidInput(
            "no_places",
            say("Say first, under “Area”, which postal codes or communes are yours."),
        )


def cancel_sync(session: Session, sync_id: UUID, actor: Actor, now: datetime) -> Sync:
    """Cancel a sync: at once when it waits, within seconds when it reads.

    Raises:
        NotFound: the session sees none.
        Conflict: it has ended, or is writing what it read; the caller rolls back.
    """
    sync = get_sync(session, sync_id)
    try:
        is_asked = SYNCS.ask_cancel(session, sync, now)
    except OperationalError as error:
        raise Conflict(
            "too_late", say("It is writing what it has read; it is done in a moment.")
        ) from error
    if not is_asked:
        raise Conflict("has_ended", say("It has come to its end already."))
    _record(session, sync, actor, "sync.cancelled", f"Cancelled: {source_of(sync)}")
    return sync


def get_sync(session: Session, sync_id: UUID) -> Sync:
    """Return a sync.

    Raises:
        NotFound: the session sees none.
    """
    sync = session.scalars(select(Sync).where(Sync.id == sync_id)).one_or_none()
    if sync is None:
        raise NotFound("unknown_sync", say("There is no such sync."))
    return sync


def open_sync(
    session: Session, congregation_id: UUID, kind: SyncKind = SyncKind.OPEN_DATA
) -> Sync | None:
    """Return the sync of a congregation that has not ended yet."""
    return session.scalars(
        select(Sync)
        .where(
            Sync.congregation_id == congregation_id,
            Sync.kind == kind,
            Sync.state.not_in(ENDED),
        )
        .order_by(Sync.id.desc())
        .limit(1)
    ).first()


def lock_congregation(session: Session, congregation_id: UUID) -> None:
    """Let one request of a congregation after the other ask for work.

    Raises:
        NotFound: the session sees no such congregation.
    """
    found = session.scalar(
        select(Congregation.id)
        .where(Congregation.id == congregation_id)
        .with_for_update(key_share=True)
    )
    if found is None:
        raise NotFound("unknown_congregation", say("There is no such congregation."))


def department_urls(text: str, form: str) -> list[str]:
    """Return the addresses of the files of departments.

    >>> department_urls("54, 2a", "bano")[1]
    'https://bano.openstreetmap.fr/data/bano-2A.csv'

    Args:
        text: their numbers, with blanks or commas between them.
        form: ``ban`` or ``bano``.

    Raises:
        InvalidInput: one is none.
    """
    pattern = BANO_URL if form == "bano" else BAN_URL
    codes = dict.fromkeys(re.split(r"[\s,;]+", text.strip().upper()))
    codes.pop("", None)
    for code in codes:
        if not _DEPARTMENT.fullmatch(code):
            raise InvalidInput(
                "bad_department",
                say(
                    "%(code)s is no department; they are written 01 to 95, 2A or 971.",
                    code=code[:10],
                ),
                field="departments",
            )
    return [pattern.format(code) for code in codes]


def url_source(url: str) -> dict[str, Any]:
    """Return an address as a source: its name is the file's."""
    name = urlsplit(url).path.rpartition("/")[2] or urlsplit(url).netloc
    return {"name": name[:80], "url": url}


def _record(
    session: Session, sync: Sync, actor: Actor, action: str, summary: str
) -> None:
    subject = Subject("sync", str(sync.id), sync.congregation_id)
    record(session, actor, action, subject, summary)
