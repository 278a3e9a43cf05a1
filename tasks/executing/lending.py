"""Which mails may carry their guest's access token, looked up right before they leave.

It goes to the address on the guest's record only: what a producer lays over a context,
or an operator writes into one mail, leads it nowhere else.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple
from uuid import UUID

from sqlalchemy import select
from sqlalchemy.orm import Session

from tasks.automation import guest_tokens
from tasks.automation.actions import ACTIONS
from tasks.automation.actions.base import CannotCompose
from tasks.automation.composing import Composed
from tasks.automation.records import chunks
from tasks.executing.claiming import Running
from tasks.lookups import among_keys
from tasks.models.base import Json
from tasks.models.episode import EpisodeGuest
from tasks.models.reason import Reason
from tasks.saying import say


class Token(NamedTuple):
    """A guest's token, and the one address that it may go to."""

    text: str
    address: str

    def is_for(self, address: str | None) -> bool:
        """Whether it may go to ``address``."""
        return address is not None and address.casefold() == self.address.casefold()


def lend(
    session: Session,
    rows: Sequence[Running],
    settings: Sequence[Mapping[str, Any] | None],
    contexts: dict[UUID, Json],
) -> dict[UUID, Token]:
    """Let contexts of mails that ask say whether there is a token; returns these.

    Args:
        settings: of each row, in their order; ``None``: it will not be composed.
        contexts: by execution; those that ask are replaced.
    """
    asking = [
        (row, of)
        for row, of in zip(rows, settings, strict=True)
        if row.action == "email" and of is not None and guest_tokens.is_wanted(of)
    ]
    if not asking:
        return {}
    found = _tokens_of(session, [row for row, _ in asking], contexts)
    lent: dict[UUID, Token] = {}
    for row, of in asking:
        token, context = found.get(row.id), contexts[row.id]
        may = token is not None and token.is_for(
            ACTIONS["email"].recipient(of, context)
        )
        if token is not None and may:
            lent[row.id] = token
        contexts[row.id] = guest_tokens.lent(context, has_token=may)
    return lent


def lend_edited(
    session: Session,
    rows: Sequence[Running],
    composed: Sequence[Composed | CannotCompose],
    contexts: Mapping[UUID, Json],
    lent: dict[UUID, Token],
) -> list[Composed | CannotCompose]:
    """Return the mails; one that an operator edited has its token, or is refused.

    Args:
        lent: gets the tokens that were not asked for before.
    """
    edited = {
        row.id: row
        for row, each in zip(rows, composed, strict=True)
        if row.attempt > 1 and row.action == "email" and _has_place(each)
    }
    if not edited:
        return list(composed)
    lent.update(_tokens_of(session, list(edited.values()), contexts))
    return [
        _refused(each, lent.get(row.id)) if row.id in edited else each
        for row, each in zip(rows, composed, strict=True)
    ]


def _has_place(composed: Composed | CannotCompose) -> bool:
    return isinstance(composed, Composed) and guest_tokens.is_in(composed.message)


def _refused(
    composed: Composed | CannotCompose, token: Token | None
) -> Composed | CannotCompose:
    """Return the mail, or why it must not leave: its token would go elsewhere."""
    address = composed.recipient if isinstance(composed, Composed) else None
    if token is not None and token.is_for(address):
        return composed
    return CannotCompose(Reason.MISSING_VARIABLE, say(guest_tokens.ELSEWHERE))


def _tokens_of(
    session: Session, rows: Sequence[Running], contexts: Mapping[UUID, Json]
) -> dict[UUID, Token]:
    """Return the tokens of the guests that mails go to, by execution."""
    guests = {row.id: _guest(row, contexts) for row in rows}
    keys = sorted({key for key in guests.values() if key is not None})
    named = (EpisodeGuest.congregation_id, EpisodeGuest.id)
    found: dict[tuple[UUID, str], Token] = {}
    for some in chunks(keys):
        statement = select(
            EpisodeGuest.congregation_id,
            EpisodeGuest.id,
            EpisodeGuest.access_token,
            EpisodeGuest.email,
        ).where(among_keys(session, named, some))
        for of, id_, token, address in session.execute(statement):
            if token and address:
                found[of, id_] = Token(token, address.strip())
    return {id_: found[key] for id_, key in guests.items() if key in found}


def _guest(row: Running, contexts: Mapping[UUID, Json]) -> tuple[UUID, str] | None:
    guest = contexts.get(row.id, {}).get("guest")
    id_ = guest.get("id") if isinstance(guest, Mapping) else None
    return (row.congregation_id, id_) if isinstance(id_, str) else None
