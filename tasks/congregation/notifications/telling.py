"""Telling accounts of something: it settles first, or is cancelled, or leaves at once.

Call it in the transaction of the deed: what is rolled back is never told.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import groupby
from operator import attrgetter
from typing import Any, Final
from uuid import UUID

from sqlalchemy import case, literal_column, text, update
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.orm import Session

from tasks import doorbell
from tasks.bulk import among, is_postgres
from tasks.congregation.notifications.kind import Kind
from tasks.congregation.notifications.kinds import kind_of
from tasks.congregation.notifications.news import News, rows_of
from tasks.models.notification import Notification, NotificationState
from tasks.models.reason import Reason

__all__ = ["News", "Told", "notify", "notify_all"]

#: The lane that sends.
LANE: Final = "email"
_CHUNK: Final = 200  # rows of one statement, far below both databases' limits
IS_PENDING: Final = Notification.state == literal_column("'pending'")
_UNIQUE: Final = ("congregation_id", "key", "type")


@dataclass(frozen=True, slots=True)
class Told:
    """What became of news: how many notifications settle, and were cancelled."""

    n_settling: int = 0
    n_cancelled: int = 0


def notify(session: Session, congregation_id: UUID, news: News, now: datetime) -> Told:
    """Tell one thing; see ``notify_all``."""
    return notify_all(session, congregation_id, [news], now)


def notify_all(
    session: Session, congregation_id: UUID, news: Sequence[News], now: datetime
) -> Told:
    """Tell a congregation's accounts of things, in their order.  Caller commits.

    More of the same takes the place of what still settles: the last payload counts, and
    it waits once more, up to the longest wait of its type.

    Raises:
        InvalidInput: an unknown type, nobody to tell, or a payload that is not as its
            type wants it.
    """
    n_settling = n_cancelled = 0
    for type_, several in groupby(news, attrgetter("type")):
        kind, rows = kind_of(type_), list(several)
        made = rows_of(session, congregation_id, kind, rows, now)
        cancelled = _cancel(session, congregation_id, kind, list(made), now)
        if kind.is_silent_after:
            made = {key: row for key, row in made.items() if key not in cancelled}
        told = [row for key, row in made.items() if not _is_own_deed(kind, row)]
        _settle(session, told)
        n_settling, n_cancelled = n_settling + len(told), n_cancelled + len(cancelled)
    if n_settling:
        doorbell.ask(session, LANE)
    return Told(n_settling, n_cancelled)


def _is_own_deed(kind: Kind, row: Mapping[str, Any]) -> bool:
    actor = row["actor_id"]
    return not kind.tells_actor and actor is not None and actor == row["account_id"]


def _cancel(
    session: Session,
    congregation_id: UUID,
    kind: Kind,
    keys: Sequence[str],
    now: datetime,
) -> set[str]:
    """Cancel what still settles and has no point any more; returns those keys."""
    cancelled: set[str] = set()
    for start in range(0, len(keys) if kind.cancels else 0, _CHUNK):
        found = session.scalars(
            update(Notification)
            .where(
                Notification.congregation_id == congregation_id,
                among(session, Notification.key, keys[start : start + _CHUNK]),
                Notification.type.in_(kind.cancels),
                IS_PENDING,
            )
            .values(
                state=NotificationState.CANCELLED, reason=Reason.UNDONE, ended_at=now
            )
            .returning(Notification.key)
            .execution_options(synchronize_session=False)
        )
        cancelled.update(found)
    return cancelled


def _settle(session: Session, rows: Sequence[dict[str, Any]]) -> None:
    """Write rows, each in the place of its like that still settles."""
    dialect = postgresql if is_postgres(session) else sqlite
    table = Notification.metadata.tables[Notification.__tablename__]
    for start in range(0, len(rows), _CHUNK):
        made = dialect.insert(table).values(list(rows[start : start + _CHUNK]))
        new, old = made.excluded, table.c
        settles = case(
            (new.settles_at > old.latest_at, old.latest_at), else_=new.settles_at
        )
        session.execute(
            made.on_conflict_do_update(
                index_elements=_UNIQUE,
                index_where=text("state = 'pending'"),
                set_={
                    "payload": new.payload,
                    "actor_id": new.actor_id,
                    "n_merged": old.n_merged + new.n_merged,
                    "settles_at": settles,
                },
            )
        )
