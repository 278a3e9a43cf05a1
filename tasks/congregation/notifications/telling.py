"""Telling accounts of something: it settles first, or is cancelled, or leaves at once.

Call it in the transaction of the deed: what is rolled back is never told.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime
from itertools import groupby
from operator import attrgetter
from typing import Any, Final
from uuid import UUID

from sqlalchemy import case, literal_column, text, update
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.orm import Session

from tasks import doorbell
from tasks.bulk import among, is_postgres
from tasks.congregation.notifications.addressing import accounts_of_members
from tasks.congregation.notifications.kind import Field, Kind
from tasks.congregation.notifications.kinds import kind_of
from tasks.errors import InvalidInput
from tasks.models.base import new_id
from tasks.models.notification import Notification, NotificationState
from tasks.models.reason import Reason

#: The lane that sends.
LANE: Final = "email"
_CHUNK: Final = 200  # rows of one statement, far below both databases' limits
_TEXT_MAX: Final = 500
IS_PENDING: Final = Notification.state == literal_column("'pending'")
_UNIQUE: Final = ("congregation_id", "key", "type")


@dataclass(frozen=True, slots=True)
class News:
    """Something to tell, about one entity.

    It goes to the account, or to the accounts of the member, or to everybody with the
    duty; with none of them, to the duty that the type names.
    """

    type: str
    entity_id: UUID | str
    payload: Mapping[str, Any] = field(default_factory=dict)
    account_id: UUID | None = None
    member_id: UUID | None = None
    duty: str | None = None
    actor_id: UUID | None = None  # the account that did it; None: the system


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
        made = _rows(session, congregation_id, kind, rows, now)
        cancelled = _cancel(session, congregation_id, kind, list(made), now)
        if kind.is_silent_after:
            made = {key: row for key, row in made.items() if key not in cancelled}
        told = [row for key, row in made.items() if not _is_own_deed(kind, row)]
        _settle(session, told)
        n_settling, n_cancelled = n_settling + len(told), n_cancelled + len(cancelled)
    if n_settling:
        doorbell.ask(session, LANE)
    return Told(n_settling, n_cancelled)


def _rows(
    session: Session,
    congregation_id: UUID,
    kind: Kind,
    news: Sequence[News],
    now: datetime,
) -> dict[str, dict[str, Any]]:
    """Return new rows by their keys; of the same key the last one, counted."""
    members = {one.member_id for one in news if one.member_id is not None}
    accounts = accounts_of_members(session, congregation_id, sorted(members))
    rows: dict[str, dict[str, Any]] = {}
    for one in news:
        payload = _payload(kind, one.payload)
        for to in _addressees(kind, one, accounts):
            row = _row(congregation_id, kind, one, payload, to, now)
            before = rows.pop(row["key"], None)
            row["n_merged"] = 1 + (before["n_merged"] if before else 0)
            rows[row["key"]] = row
    return rows


#: An account, or a duty.
_To = tuple[UUID | None, str | None]


def _addressees(
    kind: Kind, one: News, accounts: Mapping[UUID, Sequence[UUID]]
) -> Iterator[_To]:
    if one.account_id is not None:
        yield one.account_id, None
    elif one.member_id is not None:
        yield from ((id_, None) for id_ in accounts.get(one.member_id, ()))
    elif duty := one.duty or kind.duty:
        yield None, duty
    else:
        raise InvalidInput(
            "nobody_to_tell", f"{kind.type} wants an account, a member or a duty."
        )


def _row(
    congregation_id: UUID,
    kind: Kind,
    one: News,
    payload: dict[str, Any],
    to: _To,
    now: datetime,
) -> dict[str, Any]:
    account_id, duty = to
    whom = f"duty:{duty}" if account_id is None else f"account:{account_id}"
    entity = kind.type.partition(".")[0]
    return {
        "id": new_id(now),
        "congregation_id": congregation_id,
        "type": kind.type,
        "category": kind.category,
        "state": NotificationState.PENDING,
        "account_id": account_id,
        "duty": duty,
        "actor_id": one.actor_id,
        "entity_type": kind.entity,
        "entity_id": str(one.entity_id),
        "payload": payload,
        "key": f"{entity}:{one.entity_id}:{whom}",
        "n_merged": 1,
        "first_at": now,
        "settles_at": now + kind.window,
        "latest_at": now + kind.longest,
    }


def _payload(kind: Kind, given: Mapping[str, Any]) -> dict[str, Any]:
    if given.keys() != kind.fields.keys():
        wanted = ", ".join(kind.fields) or "nothing"
        raise InvalidInput("bad_payload", f"{kind.type} wants {wanted} in its payload.")
    return {name: _value(kind, name, given[name]) for name in kind.fields}


def _value(kind: Kind, name: str, value: object) -> str | int:
    wanted: Field = kind.fields[name]
    match wanted, value:
        case "text", str():
            return value.replace("\x00", "")[:_TEXT_MAX]
        case "number", int() if not isinstance(value, bool):
            return value
        case "instant", datetime() if value.tzinfo is not None:
            return value.isoformat()
        case "date", date() if not isinstance(value, datetime):
            return value.isoformat()
    raise InvalidInput("bad_payload", f"{name} of {kind.type} must be a {wanted}.")


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
