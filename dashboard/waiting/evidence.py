"""What each kind of row tells about why it waits, and what is before it."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, Final

from sqlalchemy import ColumnElement, func, literal_column, select, tuple_
from sqlalchemy.orm import InstrumentedAttribute, Session

from dashboard.waiting.long_work import busy
from dashboard.waiting.reasons import Answer, Queue, Row, Stopped, explain
from dashboard.waiting.standing import Standings, speed
from tasks.claims import SUSPECT_CRASHES
from tasks.congregation.addresses.jobs import TRIES
from tasks.holds.looking import Active, hold_of
from tasks.lane import COUNT_CAP
from tasks.models import (
    SENTENCES,
    Channel,
    Delivery,
    DigestMail,
    Endpoint,
    Execution,
    Notification,
    Operation,
    Reason,
    Rule,
    ScheduledJob,
    Sync,
    Transfer,
)
from tasks.models.operation import OPEN
from tasks.operations.seeing import within_scope
from tasks.saying import say
from tasks.webhooks.room import IN_FLIGHT_MAX, IS_RUNNING, TROUBLED_FROM

Waiting = (
    Execution
    | ScheduledJob
    | Delivery
    | DigestMail
    | Notification
    | Operation
    | Sync
    | Transfer
)
#: States in which a row waits.
WAITS: Final = ("pending", "queued")
#: How a verdict begins that puts an execution off.
_PUT_OFF: Final = "Waits for "
_SILENT: Final = re.compile(r"Waits for (.+), which does not answer\.")
_TURN: Final = re.compile(
    r"Waits for its turn: the rule acts at most (\d+) times in (\d+) minutes\."
)


@dataclass(frozen=True, slots=True)
class Kind:
    """One kind of row that waits for a lane."""

    lane: str
    row: Callable[[Any, datetime], Row]
    hold: Callable[[Standings, Any], Active | None]
    at: InstrumentedAttribute[datetime]  # when the lane takes it


def answer(
    session: Session, row: Waiting, standings: Standings, now: datetime
) -> Answer:
    """Return why a pending row waits; a few queries."""
    kind = KINDS[type(row)]
    facts = kind.row(row, now)
    if isinstance(row, Execution | ScheduledJob):
        facts = _with_end(session, row, facts)
    lane = standings.of(kind.lane)
    queue = _queue(session, kind, row, now) if facts.run_at <= now else None
    if queue is not None and isinstance(row, Sync | Transfer):
        queue = replace(queue, busy=busy(session, row, lane.n_workers))
    return explain(
        facts, lane, now, stopped=_stopped(kind, standings, row), queue=queue
    )


def word(row: Waiting, standings: Standings, now: datetime) -> str:
    """Return why a pending row waits in a few words; no query."""
    kind = KINDS[type(row)]
    lane, stopped = standings.of(kind.lane), _stopped(kind, standings, row)
    found = explain(kind.row(row, now), lane, now, stopped=stopped).word
    return "" if found in ("not due yet", "about to begin") else say(found)


def _stopped(kind: Kind, standings: Standings, row: Waiting) -> Stopped | None:
    hold = kind.hold(standings, row)
    return hold and Stopped(hold.id, hold.held_by, hold.why, hold.held_at, hold.until)


def _execution(row: Execution, now: datetime) -> Row:
    error = str(row.error or "")
    is_put_off = error.startswith(_PUT_OFF) and row.run_at > now
    is_sent_back = bool(row.attempt) and not (row.failures or row.crashes or row.error)
    return Row(
        row.run_at,
        row.failures,
        row.max_attempts,
        row.error,
        put_off=_put_off(error) if is_put_off else None,
        is_host_silent=_SILENT.fullmatch(error) is not None,
        is_hushed=is_sent_back and row.run_at > now,
        is_suspect=row.crashes >= SUSPECT_CRASHES,
    )


def _delivery(row: Delivery, now: datetime) -> Row:
    # What goes to a host that hangs is put off without an attempt.
    is_put_off = row.attempt == 0 and row.created_at < now < row.run_at
    says = say("Waits for its endpoint's host, which does not answer.")
    return Row(
        row.run_at,
        row.failures,
        put_off=says if is_put_off else None,
        is_host_silent=is_put_off,
    )


def _put_off(error: str) -> str:
    """Return in the present language what the row says, which is kept in English."""
    if found := _SILENT.fullmatch(error):
        return say("Waits for %(host)s, which does not answer.", host=found[1])
    if found := _TURN.fullmatch(error):
        return say(
            "Waits for its turn: the rule acts at most %(n)s times in %(span)s "
            "minutes.",
            n=found[1],
            span=found[2],
        )
    return error


KINDS: Final[dict[type[Any], Kind]] = {
    Execution: Kind(
        "executions", _execution, lambda s, row: hold_of(s.holds, row), Execution.run_at
    ),
    ScheduledJob: Kind(
        "scheduled_jobs",
        lambda row, _: Row(row.run_at),
        lambda _, __: None,  # it becomes an execution, which is held then
        ScheduledJob.run_at,
    ),
    Delivery: Kind(
        "deliveries",
        _delivery,
        lambda s, row: _hold_of_channel(s, Channel.DELIVERIES, row),
        Delivery.run_at,
    ),
    DigestMail: Kind(
        "email",
        lambda row, _: Row(row.run_at, row.failures),
        lambda s, row: _hold_of_channel(s, Channel.NOTIFICATIONS, row),
        DigestMail.run_at,
    ),
    Notification: Kind(
        "email",
        lambda row, _: Row(row.settles_at, settles=True),
        lambda s, row: _hold_of_channel(s, Channel.NOTIFICATIONS, row),
        Notification.settles_at,
    ),
    # No hold stops these: they act on what is ours, and ask for effects at most.
    Operation: Kind(
        "operations",
        lambda row, _: Row(row.touched_at),
        lambda _, __: None,
        Operation.touched_at,
    ),
    Sync: Kind(
        "sync",
        lambda row, _: Row(row.run_at, row.failures, TRIES),
        lambda _, __: None,
        Sync.run_at,
    ),
    Transfer: Kind(
        "data_transfer",
        lambda row, _: Row(row.run_at, row.failures),
        lambda _, __: None,
        Transfer.run_at,
    ),
}


def _hold_of_channel(
    standings: Standings, channel: Channel, row: Waiting
) -> Active | None:
    for hold in standings.holds:
        is_meant = hold.rule_id is None and hold.channel in (None, channel)
        if is_meant and hold.congregation_id in (None, row.congregation_id):
            return hold
    return None


def _with_end(session: Session, row: Execution | ScheduledJob, facts: Row) -> Row:
    """Add that the rule is off, so that the row will end without being done."""
    rule = session.execute(
        select(Rule.enabled, Rule.deleted_at).where(Rule.id == row.rule_id)
    ).one_or_none()
    if rule is None or (rule.enabled and rule.deleted_at is None):
        return facts
    why = Reason.RULE_DELETED if rule.deleted_at else Reason.RULE_DISABLED
    says = say(
        "%(why)s As it is now, it ends as skipped when its turn comes.",
        why=say(SENTENCES[why]),
    )
    return replace(facts, ends=says)


def _queue(session: Session, kind: Kind, row: Waiting, now: datetime) -> Queue:
    """Return what is due before a row."""
    model, at = type(row), kind.at
    before = [
        *_same_queue(session, row),
        tuple_(at, model.id) < (getattr(row, at.key), row.id),
    ]
    some = select(at).where(*before).order_by(at).limit(COUNT_CAP).subquery()
    n, oldest = session.execute(select(func.count(), func.min(some.c[at.key]))).one()
    return Queue(
        n,
        oldest,
        speed(session, kind.lane, now) if n else None,
        _full(session, row) if isinstance(row, Delivery) else None,
    )


def _same_queue(session: Session, row: Waiting) -> list[ColumnElement[bool]]:
    """Return what makes a row one of those that the same lane takes in turn."""
    if isinstance(row, Operation):  # each open one gets a piece, then the next
        return [Operation.state.in_(OPEN), within_scope(session)]
    word = "'queued'" if isinstance(row, Sync | Transfer) else "'pending'"
    found: list[ColumnElement[bool]] = [type(row).state == literal_column(word)]
    if isinstance(row, Delivery):
        found.append(Delivery.endpoint_id == row.endpoint_id)
    return found


def _full(session: Session, row: Delivery) -> str | None:
    """Return why an endpoint gets no further attempt at once; None: it does."""
    endpoint = session.scalars(
        select(Endpoint).where(Endpoint.id == row.endpoint_id)
    ).one()
    running = select(Delivery.id).where(IS_RUNNING, Delivery.endpoint_id == endpoint.id)
    some = running.limit(IN_FLIGHT_MAX).subquery()
    n = session.scalar(select(func.count()).select_from(some)) or 0
    if endpoint.failures >= TROUBLED_FROM and n:
        return say(
            "Its endpoint fails, so it gets one delivery at a time until one arrives."
        )
    if n >= IN_FLIGHT_MAX:
        return say(
            "%(n)s deliveries to its endpoint are under way, and no more go at once.",
            n=n,
        )
    return None
