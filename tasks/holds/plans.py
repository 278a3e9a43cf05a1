"""What becomes of what waited when a hold is lifted or a lane goes on."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Final
from uuid import UUID

from sqlalchemy import select
from sqlalchemy.orm import Session

from tasks import doorbell
from tasks.automation.guard import why_not
from tasks.automation.records import chunks
from tasks.bulk import among
from tasks.errors import InvalidInput
from tasks.holds.finding import find
from tasks.holds.setting import lift
from tasks.holds.volumes import n_this_hour
from tasks.models import (
    SENTENCES,
    Channel,
    Execution,
    ExecutionState,
    Hold,
    HoldKind,
    Operation,
    OperationKind,
    Reason,
)
from tasks.models.base import Json
from tasks.operations.audit import Actor
from tasks.operations.bulk import count
from tasks.operations.kinds import Asked, rows_of
from tasks.operations.releasing import MINUTES, MINUTES_MAX
from tasks.operations.starting import start
from tasks.saying import say

#: Rows that are looked at before somebody decides; the rest is looked at when it goes.
LOOK_MAX: Final = 200
SAMPLES: Final = 5


class Plan(StrEnum):
    """What becomes of what waited."""

    SEND = "send"  # what is still of use goes out at once
    SPREAD = "spread"  # … evenly over some minutes
    DROP = "drop"  # it is cancelled


@dataclass(frozen=True, slots=True)
class Outlook:
    """What would happen to what waits, from the first ``look_max`` of it."""

    n_looked: int
    n_useful: int
    stops: Counter[str]  # a sentence -> how many would end with it
    samples: list[UUID]  # executions that would go out
    look_max: int = LOOK_MAX

    @property
    def is_partial(self) -> bool:
        """Whether more may wait than was looked at."""
        return self.n_looked >= self.look_max


@dataclass(frozen=True, slots=True)
class Chosen:
    """A plan as an operator chose it, and the number that was shown."""

    plan: Plan
    minutes: int  # read for SPREAD only
    operation_id: UUID
    high_water: datetime


def held_by(row: Hold) -> Json:
    """Return the filter of what waits for a hold, as operations keep it."""
    matching: Json = {
        "state": ExecutionState.PENDING.value,
        "reason": Reason.HELD.value,
    }
    if row.congregation_id is not None:
        matching["congregation_id"] = str(row.congregation_id)
    if row.channel is not None:
        matching["action"] = row.channel.value
    if row.rule_id is not None:
        matching["rule_id"] = str(row.rule_id)
    return matching


def outlook(session: Session, matching: Json, now: datetime) -> Outlook:
    """Look at what waits as the guard will; a few queries for each 500 rows."""
    asked = Asked(OperationKind.RELEASE_EXECUTIONS, matching, now)
    ids = session.scalars(
        rows_of(session, asked)
        .order_by(Execution.run_at, Execution.id)  # as their index has them
        .limit(LOOK_MAX)
    ).all()
    stops: Counter[str] = Counter()
    useful: list[UUID] = []
    for chunk in chunks(ids):
        wanted = select(Execution).where(among(session, Execution.id, chunk))
        rows = session.scalars(wanted.order_by(Execution.id)).all()
        found = why_not(session, rows, now=now)
        stops.update(SENTENCES[reason] for reason in found.values())
        useful += [row.id for row in rows if row.id not in found]
    return Outlook(len(ids), len(useful), stops, useful[:SAMPLES])


def n_waiting(session: Session, matching: Json, now: datetime, limit: int) -> int:
    """Return how many executions wait; counting stops at ``limit``."""
    asked = Asked(OperationKind.RELEASE_EXECUTIONS, matching, now)
    return count(session, rows_of(session, asked), limit)


def lift_with(
    session: Session, hold_id: UUID, chosen: Chosen, actor: Actor, *, now: datetime
) -> Operation | None:
    """Lift a hold and begin what is to become of what waited; None: nothing waited.

    Pressed twice, it is done once.

    Raises:
        NotFound: the session sees no such hold.
        InvalidInput: the minutes are out of bounds.
    """
    row = find(session, hold_id)
    matching = held_by(row)
    if lift(session, hold_id, actor, how=sentence_of(chosen), now=now):
        ring(session, row.channel)
        _approve(session, row, now)
    if not n_waiting(session, matching, chosen.high_water, 1):
        return None
    return begin(session, matching, chosen, actor, now=now)


def _approve(session: Session, row: Hold, now: datetime) -> None:
    """Note how much an operator has let a rule make: so much more is usual now."""
    if row.kind is HoldKind.VOLUME and row.rule_id is not None:
        row.n_seen = max(row.n_seen or 0, n_this_hour(session, row.rule_id, now))
        session.flush()


def begin(
    session: Session, matching: Json, chosen: Chosen, actor: Actor, *, now: datetime
) -> Operation:
    """Begin the operation that a plan is; pressed twice, it is begun once.

    Raises:
        InvalidInput: the minutes are out of bounds, or nothing waits.
    """
    kind = OperationKind.RELEASE_EXECUTIONS
    if chosen.plan is Plan.DROP:
        kind = OperationKind.DROP_EXECUTIONS
    if chosen.plan is Plan.SPREAD:
        refuse_minutes(chosen.minutes)
        matching = matching | {MINUTES: str(chosen.minutes)}
    asked = Asked(kind, matching, chosen.high_water)
    return start(session, chosen.operation_id, asked, actor, now=now)


def sentence_of(chosen: Chosen) -> str:
    """Return what a plan does, for the audit log."""
    match chosen.plan:
        case Plan.SEND:
            return "what waited is sent, as far as it is of use."
        case Plan.SPREAD:
            return f"what waited is spread over {chosen.minutes} minutes."
        case Plan.DROP:
            return "what waited is dropped."


def refuse_minutes(minutes: int) -> None:
    """Raise ``InvalidInput`` unless something can be spread over so many minutes."""
    if not 1 <= minutes <= MINUTES_MAX:
        raise InvalidInput(
            "minutes_out_of_bounds",
            say("Give a number of minutes from 1 to %(max)s.", max=str(MINUTES_MAX)),
            field="minutes",
        )


def ring(session: Session, channel: Channel | None) -> None:
    """Call the lanes whose rows waited without being touched."""
    lanes = {Channel.DELIVERIES: "deliveries", Channel.NOTIFICATIONS: "email"}
    for of, lane in lanes.items():
        if channel in (None, of):
            doorbell.ask(session, lane)
    if channel is None:
        doorbell.ask(session, "admin_mails")
