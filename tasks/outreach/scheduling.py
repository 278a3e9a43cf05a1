"""The moves of an engagement's schedule; every one of them is made here."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any, Final

from sqlalchemy import ColumnElement, literal_column, update
from sqlalchemy.orm import Session

from tasks.models.engagement import Engagement, PassedBecause, WaitsFor, WakeState

TROUBLE_MAX: Final = 500  # characters

#: In the statement, not bound to it: else no database uses the partial index.
IS_ARMED: Final[ColumnElement[bool]] = Engagement.wake_state == literal_column(
    f"'{WakeState.ARMED}'"
)
#: What a schedule's state says beside the state itself, and how it is when new.
_NOTHING: Final[Mapping[str, Any]] = {
    "wake_at": None,
    "waits_for": None,
    "passed_because": None,
    "settled_at": None,
    "trouble": None,
}

#: The schedule of an engagement that never had one.
UNSCHEDULED: Final[Mapping[str, Any]] = {
    "next_action_at": None,
    "revision": 0,
    "wake_state": WakeState.IDLE,
    **_NOTHING,
}


def touch(row: Engagement, now: datetime) -> None:
    """Note that the row changed; whoever read it before is told so (``If-Match``)."""
    row.version += 1
    row.updated_at = now


def schedule(row: Engagement, at: datetime | None) -> bool:
    """Give an engagement another instant to be woken at; ``None``: none at all.

    The same instant again is no change, so that a repeated request wakes nobody twice.
    Returns whether it was one.
    """
    changes = rescheduled(row.next_action_at, row.revision, at)
    for name, value in changes.items():
        setattr(row, name, value)
    return bool(changes)


def rescheduled(
    was: datetime | None, revision: int, at: datetime | None
) -> Mapping[str, Any]:
    """Return what ``schedule`` changes, by column; nothing when ``was`` is ``at``."""
    if at == was:
        return {}
    return {
        "next_action_at": at,
        "revision": revision + 1,
        "wake_state": WakeState.IDLE if at is None else WakeState.ARMED,
        **_NOTHING,
        "wake_at": at,
    }


def wake_again(row: Engagement, now: datetime) -> None:
    """Let the lane look at a schedule that was set aside once more."""
    _enter(row, WakeState.ARMED, wake_at=now)


def postpone(row: Engagement, until: datetime, waits_for: WaitsFor) -> None:
    """Let the lane look later, when what it waits for ends."""
    row.wake_at, row.waits_for = until, waits_for


def look_again(row: Engagement) -> None:
    """Let the lane look at once at what waits: what it waited for was changed."""
    if row.waits_for is not None:
        row.wake_at, row.waits_for = row.next_action_at, None


def look_again_at(
    session: Session, waits_for: WaitsFor, *which: ColumnElement[bool]
) -> int:
    """Do the same to all that wait for one thing; returns how many."""
    done = session.execute(
        update(Engagement)
        .where(IS_ARMED, Engagement.waits_for == waits_for, *which)
        .values(wake_at=Engagement.next_action_at, waits_for=None)
        .execution_options(synchronize_session="fetch")
    )
    n: int = done.rowcount  # type: ignore[attr-defined]  # a cursor result
    return n


def announced(row: Engagement, now: datetime) -> None:
    """Note that the event is stored."""
    _enter(row, WakeState.ANNOUNCED, settled_at=now)


def pass_over(row: Engagement, because: PassedBecause, now: datetime) -> None:
    """Let a schedule pass without an event."""
    _enter(row, WakeState.PASSED, settled_at=now, passed_because=because)


def set_aside(row: Engagement, trouble: str, now: datetime) -> None:
    """Note that no event can be made of this row, so that the others go on."""
    _enter(row, WakeState.SET_ASIDE, settled_at=now, trouble=trouble[:TROUBLE_MAX])


def acknowledge(
    session: Session,
    because: PassedBecause,
    now: datetime,
    *which: ColumnElement[bool],
) -> int:
    """Let what came due while something spoke against it pass; returns how many.

    Called when that something ends (a pause, a suppression), so that nobody is woken
    by what was due long ago.  The rows stay visible, and later schedules hold.
    """
    done = session.execute(
        update(Engagement)
        .where(IS_ARMED, Engagement.next_action_at <= now, *which)
        .values(
            wake_state=WakeState.PASSED,
            wake_at=None,
            waits_for=None,
            passed_because=because,
            settled_at=now,
            version=Engagement.version + 1,
            updated_at=now,
        )
        .execution_options(synchronize_session="fetch")
    )
    n: int = done.rowcount  # type: ignore[attr-defined]  # a cursor result
    return n


def _enter(row: Engagement, state: WakeState, **told: object) -> None:
    row.wake_state = state
    for name, value in {**_NOTHING, **told}.items():
        setattr(row, name, value)
