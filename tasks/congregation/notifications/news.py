"""News, and the rows that they are before they settle."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime
from typing import Any, Final
from uuid import UUID

from sqlalchemy.orm import Session

from tasks.congregation.notifications.addressing import accounts_of_members
from tasks.congregation.notifications.kind import Field, Kind
from tasks.errors import InvalidInput
from tasks.models.base import new_id
from tasks.models.notification import NotificationState

_TEXT_MAX: Final = 500


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


def rows_of(
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
