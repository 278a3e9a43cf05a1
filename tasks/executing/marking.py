"""Writing down that effects begin, and what they are, before they do."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, Final, Protocol, TypeVar
from uuid import UUID

from sqlalchemy import ColumnElement, delete, literal_column, select, true
from sqlalchemy.orm import Session

from tasks.bulk import BulkUpdate, among_rows, insert_many
from tasks.claims import IS_LEASED
from tasks.held import Claim
from tasks.models.execution import Execution, ExecutionMessage


class Begun(Protocol):
    """An effect that is about to begin."""

    @property
    def claim(self) -> Claim:
        """Whose effect it is."""

    @property
    def message(self) -> Mapping[str, Any]:
        """What is about to leave."""

    @property
    def recipient(self) -> str | None:
        """Whom it goes to; None: the action has no address."""


B = TypeVar("B", bound=Begun)

_set_effect: Final = BulkUpdate(
    Execution.metadata.tables[Execution.__tablename__],
    keys=("id", "attempt"),
    columns=("effect_at",),
    # The fence: what was taken back meanwhile keeps its attempt until it is taken anew.
    where=(IS_LEASED,),
    returning=("id",),
)
_set_recipients: Final = BulkUpdate(
    Execution.metadata.tables[Execution.__tablename__],
    keys=("id", "attempt"),
    columns=("recipient",),
)
_MESSAGES: Final = ExecutionMessage.metadata.tables[ExecutionMessage.__tablename__]
_ANY: Final = true()
_STILL_FIRST: Final = (
    select(Execution.id)
    .where(
        Execution.id == _MESSAGES.c.execution_id,
        Execution.attempt == 1,
        Execution.state == literal_column("'running'"),
    )
    .exists()
)


def _mark_of(claim: Claim, at: datetime | None) -> dict[str, Any]:
    return {"id": claim.execution_id, "attempt": claim.attempt, "effect_at": at}


def mark(session: Session, begun: Sequence[B], now: datetime) -> list[B]:
    """Note that the effects begin: after a crash, "not begun" and "unknown" differ.

    Returns those that are still ours.  The others must not begin: somebody slept since
    they were looked at, and rescue has told that they had not begun.
    """
    marked = _set_effect(session, [_mark_of(each.claim, now) for each in begun])
    ours = {row.id.int for row in marked}
    kept = [each for each in begun if each.claim.execution_id.int in ours]
    keep_messages(session, kept, now)
    return kept


def keep_messages(session: Session, begun: Sequence[Begun], now: datetime) -> None:
    """Keep what is about to leave, in the place of what left before."""
    again = [each.claim.execution_id for each in begun if each.claim.attempt > 1]
    _forget_messages(session, again)
    messages = [
        {
            "congregation_id": each.claim.congregation_id,
            "execution_id": each.claim.execution_id,
            "message": dict(each.message),
            "composed_at": now,
        }
        for each in begun
        if each.message
    ]
    insert_many(session, _MESSAGES, messages)


def unmark(session: Session, claims: Sequence[Claim]) -> None:
    """Note that effects did not begin after all, so that they can be prepared anew.

    Only for claims whose effect certainly left nothing.  Caller commits.
    """
    _set_effect(session, [_mark_of(claim, None) for claim in claims])
    # What a later attempt has to repeat was sent by an earlier one, never by the first.
    first = [claim.execution_id for claim in claims if claim.attempt == 1]
    # The fence: once somebody else has the row, its message is theirs.
    _forget_messages(session, first, only=_STILL_FIRST)


def _forget_messages(
    session: Session, ids: Sequence[UUID], *, only: ColumnElement[bool] = _ANY
) -> None:
    if ids:
        named = among_rows(session, ExecutionMessage.execution_id, ids)
        session.execute(delete(_MESSAGES).where(named, only))


def note_recipients(session: Session, changed: Sequence[Begun]) -> None:
    """Write down whom it goes to, where that has changed since it was made."""
    _set_recipients(
        session,
        [
            {
                "id": each.claim.execution_id,
                "attempt": each.claim.attempt,
                "recipient": each.recipient,
            }
            for each in changed
        ],
    )
