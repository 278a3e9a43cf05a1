"""Groups of failures: which of them ask for somebody, and taking note of them."""

from __future__ import annotations

from collections.abc import Collection
from datetime import datetime, timedelta
from typing import Final
from uuid import UUID

from sqlalchemy import ColumnElement, and_, or_, select
from sqlalchemy.orm import Session

from tasks.errors import InvalidInput, NotFound
from tasks.models.failure import (
    NOTE_MAX,
    FailedDelivery,
    FailedExecution,
    FailureGroup,
)
from tasks.operations.audit import Actor, Subject, record
from tasks.saying import say

#: Nobody can be kept from hearing of a failure for longer.
QUIET_MAX: Final = timedelta(days=90)
#: Groups that are acknowledged at once.
MANY_MAX: Final = 200


def is_open() -> ColumnElement[bool]:
    """Return whether a group has failures that nobody has queued again."""
    executions = select(FailedExecution.execution_id).where(
        FailedExecution.group_id == FailureGroup.id,
        FailedExecution.retried_at.is_(None),
    )
    deliveries = select(FailedDelivery.delivery_id).where(
        FailedDelivery.group_id == FailureGroup.id, FailedDelivery.retried_at.is_(None)
    )
    return or_(executions.exists(), deliveries.exists())


def is_quiet(now: datetime) -> ColumnElement[bool]:
    """Return whether somebody has taken note of a group, and it did not fail since.

    Failures within the time for which it was to be quiet do not count.  Never NULL, so
    that it can be negated.
    """
    return and_(
        FailureGroup.acknowledged_at.is_not(None),
        or_(
            FailureGroup.last_at <= FailureGroup.acknowledged_at,
            and_(FailureGroup.quiet_until.is_not(None), FailureGroup.quiet_until > now),
        ),
    )


def asks(now: datetime) -> ColumnElement[bool]:
    """Return whether a group asks for somebody."""
    return and_(~is_quiet(now), is_open())


def acknowledge(
    session: Session,
    ids: Collection[UUID],
    actor: Actor,
    *,
    note: str = "",
    until: datetime | None = None,
    now: datetime,
) -> int:
    """Take note of groups: they ask again when they fail again; the caller commits.

    Nothing changes about the failures themselves.  Returns how many groups it were.

    Args:
        until: failures before this ask for nobody either; None: the next one does.

    Raises:
        InvalidInput: the note is too long, ``until`` is past or too far away, or too
            many groups are named.
    """
    note = " ".join(note.split())
    _check(note, until, now, len(ids))
    rows = session.scalars(
        select(FailureGroup)
        .where(FailureGroup.id.in_(ids))
        .order_by(FailureGroup.id)
        .with_for_update()
        .execution_options(populate_existing=True)
    ).all()
    for row in rows:
        row.acknowledged_at = now
        row.acknowledged_by = actor.name
        row.note = note
        row.quiet_until = until
        when = f"until {until:%Y-%m-%d %H:%M} UTC" if until else "until it fails again"
        summary = f"Acknowledged {when}: {row.cause}"
        _tell(session, row, actor, "acknowledged", summary)
    session.flush()
    return len(rows)


def reopen(session: Session, id_: UUID, actor: Actor) -> bool:
    """Let a group ask for somebody again; False: it did so already.

    Raises:
        NotFound: the session sees no such group.
    """
    row = find(session, id_, lock=True)
    if row.acknowledged_at is None:
        return False
    row.acknowledged_at = row.acknowledged_by = row.quiet_until = None
    row.note = ""
    _tell(session, row, actor, "reopened", f"Asks for somebody again: {row.cause}")
    session.flush()
    return True


def find(session: Session, id_: UUID, *, lock: bool = False) -> FailureGroup:
    """Return a group.

    Raises:
        NotFound: the session sees no such group.
    """
    wanted = select(FailureGroup).where(FailureGroup.id == id_)
    if lock:
        wanted = wanted.with_for_update().execution_options(populate_existing=True)
    row = session.scalars(wanted).first()
    if row is None:
        raise NotFound("unknown_failure", say("There is no such group of failures."))
    return row


def _check(note: str, until: datetime | None, now: datetime, n: int) -> None:
    if n > MANY_MAX:
        raise InvalidInput(
            "too_many_selected",
            say(
                "At most %(max)s groups can be acknowledged at once, not %(n)s.",
                max=MANY_MAX,
                n=n,
            ),
        )
    if len(note) > NOTE_MAX:
        raise InvalidInput(
            "note_too_long",
            say(
                "The note has %(n)s characters; at most %(max)s are kept.",
                n=str(len(note)),
                max=NOTE_MAX,
            ),
            field="note",
        )
    if until is not None and until <= now:
        raise InvalidInput(
            "until_past",
            say("That is past already; give a later time, or leave it empty."),
            field="until",
        )
    if until is not None and until > now + QUIET_MAX:
        raise InvalidInput(
            "until_far",
            say("A group can be quiet for at most %(n)s days.", n=QUIET_MAX.days),
            field="until",
        )


def _tell(
    session: Session, row: FailureGroup, actor: Actor, verb: str, summary: str
) -> None:
    after = {
        "note": row.note,
        "quiet_until": row.quiet_until and row.quiet_until.isoformat(),
        "failures": row.n,
    }
    subject = Subject("failure", str(row.id), row.congregation_id)
    record(session, actor, f"failure.{verb}", subject, summary, after=after)
