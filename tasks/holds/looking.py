"""What is held right now: asked by every lane right before something would leave."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta
from typing import Final, NamedTuple, Protocol
from uuid import UUID

from sqlalchemy import bindparam, or_, select
from sqlalchemy.orm import Session

from tasks.models.base import UtcDateTime
from tasks.models.hold import Channel, Hold

#: What is held is looked at again at the latest after the time that it is held already,
#: within these bounds: so a hold of days leaves few attempts behind.
FIRST_LOOK: Final = timedelta(minutes=15)
LONGEST_LOOK: Final = timedelta(hours=24)
_CHANNELS: Final = frozenset(Channel)


class Active(NamedTuple):
    """A hold that holds now."""

    id: UUID
    congregation_id: UUID | None
    channel: Channel | None
    rule_id: UUID | None
    why: str
    held_by: str
    held_at: datetime
    until: datetime | None

    @property
    def is_everything(self) -> bool:
        """Whether nothing at all may leave."""
        return not (self.congregation_id or self.channel or self.rule_id)

    @property
    def sentence(self) -> str:
        """Why something waits, for people."""
        return f"Held by {self.held_by}: {self.why}"

    def look_again_at(self, now: datetime) -> datetime:
        """Return when what it holds is looked at again, should nobody lift it."""
        wait = min(max(now - self.held_at, FIRST_LOOK), LONGEST_LOOK)
        return min(now + wait, self.until) if self.until else now + wait


class Waiting(Protocol):
    """An execution that would act."""

    @property
    def congregation_id(self) -> UUID:
        """Whose it is."""

    @property
    def rule_id(self) -> UUID:
        """Which rule's."""

    @property
    def action(self) -> str:
        """What it does: the channel, unless its effects are rows of ours."""


class Closed(NamedTuple):
    """Whose deliveries or mails must not leave."""

    everything: bool
    congregations: frozenset[UUID]


# Of the table, not the class, which takes half the time: every batch asks.
_HOLDS: Final = Hold.metadata.tables[Hold.__tablename__].c
_ACTIVE: Final = (
    select(*(_HOLDS[name] for name in Active._fields))
    .where(
        _HOLDS.lifted_at.is_(None),
        or_(
            _HOLDS.until.is_(None),
            _HOLDS.until > bindparam("now", type_=UtcDateTime),
        ),
    )
    .order_by(_HOLDS.id)
)


def active(session: Session, now: datetime) -> list[Active]:
    """Return what is held, oldest first; one look at a table that is mostly empty."""
    return [Active._make(row) for row in session.execute(_ACTIVE, {"now": now})]


def hold_of(holds: Iterable[Active], row: Waiting) -> Active | None:
    """Return the first hold that covers an execution; None: it may go.

    What leaves nothing, such as the start of a lane, is held with its rule only.
    """
    for hold in holds:
        if hold.rule_id is not None and hold.rule_id != row.rule_id:
            continue
        if hold.congregation_id not in (None, row.congregation_id):
            continue
        if hold.channel not in (None, row.action):
            continue
        if hold.rule_id is None and row.action not in _CHANNELS:
            continue
        return hold
    return None


def closed(session: Session, channel: Channel | None, now: datetime) -> Closed:
    """Return whose share of a channel is held.

    Args:
        channel: one that no rule uses; None: one with no name, which is held only when
            everything is.
    """
    holds: Sequence[Active] = active(session, now)
    if channel is None:
        return Closed(any(hold.is_everything for hold in holds), frozenset())
    concerned = [
        hold
        for hold in holds
        if hold.rule_id is None and hold.channel in (None, channel)
    ]
    return Closed(
        any(hold.congregation_id is None for hold in concerned),
        frozenset(h.congregation_id for h in concerned if h.congregation_id),
    )
