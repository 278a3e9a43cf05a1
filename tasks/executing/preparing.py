"""The last look before an effect: compose, guard, and note that it begins."""

from __future__ import annotations

import logging
import time
from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any, Final, NamedTuple
from uuid import UUID

from sqlalchemy import select
from sqlalchemy.exc import SQLAlchemyError
from sqlalchemy.orm import Session

from tasks.automation.actions import ACTIONS
from tasks.automation.actions.base import Action, CannotCompose, Envelope
from tasks.automation.composing import BUG, Ask, Composed, compose_all
from tasks.automation.context import build_contexts
from tasks.automation.guard import rules_of
from tasks.automation.steps import secret_of, step_of
from tasks.backoff import Pauses
from tasks.executing.apart import apart
from tasks.executing.claiming import Running
from tasks.executing.edited import put_in
from tasks.executing.lending import Token, lend, lend_edited
from tasks.executing.marking import mark, note_recipients
from tasks.executing.rates import hold
from tasks.executing.stopping import stopped
from tasks.executing.verdicts import Verdict, refuse
from tasks.held import Claim
from tasks.models.base import Json
from tasks.models.execution import ExecutionMessage
from tasks.models.reason import SENTENCES, Reason
from tasks.models.rule import Rule
from tasks.saying import say
from tasks.templating.renderer import RenderingBroken

logger = logging.getLogger(__name__)


class Ready(NamedTuple):
    """An execution whose effect may begin now."""

    claim: Claim
    action: Action
    message: Mapping[str, Any]
    recipient: str | None
    envelope: Envelope
    failures: int
    max_attempts: int
    pauses: Pauses
    #: When it was composed, monotonic; the guard looked right after that.
    made_at: float


#: What was read so long ago, in seconds, is true enough for a last look.
_SHORT_SECONDS: Final = 0.05


class _Deed(NamedTuple):
    """What all executions of one step of one rule have in common."""

    rule: Rule
    settings: Mapping[str, Any] | None  # None: the step was taken out, or is another
    secret: str | None
    pauses: Pauses


def prepare(
    session: Session, rows: Sequence[Running], *, now: datetime
) -> list[Ready | Verdict]:
    """Compose the messages of what is ours, guard it, and mark the effects begun.

    Everything is read afresh: the rule, the booking, the recipient.  What acts within
    the transaction is not marked.  Caller commits before it acts on the others.  What
    is not ours any more is left out.
    """
    prepared = look(session, rows, now=now, holds_rows=False)
    leaving = leaving_of(prepared)
    ours = mark(session, leaving, now)
    note_recipients(session, readdressed(rows, ours))
    lost = {each.claim for each in leaving} - {each.claim for each in ours}
    return [each for each in prepared if each.claim not in lost]


def leaving_of(prepared: Sequence[Ready | Verdict]) -> list[Ready]:
    """Return what is about to leave the house."""
    ready = [each for each in prepared if isinstance(each, Ready)]
    return [each for each in ready if not each.action.is_within]


def readdressed(rows: Sequence[Running], ready: Sequence[Ready]) -> list[Ready]:
    """Return those that go to somebody else than their row says."""
    were = {row.id.int: row.recipient for row in rows}
    return [r for r in ready if r.recipient != were[r.claim.execution_id.int]]


def look(
    session: Session, rows: Sequence[Running], *, now: datetime, holds_rows: bool = True
) -> list[Ready | Verdict]:
    """Compose the messages of what is locked or ours, and guard it.

    Nothing is written but the turns of rate limits.  A row that makes the program fail
    is refused, and keeps nobody else from being looked at.

    Args:
        holds_rows: they are locked, not leased.  Then those are left out whose rule's
            turns somebody else gives, or whose rule changes at this moment.
    """
    looked = apart(
        lambda some: _looked(session, some, now, holds_rows=holds_rows),
        rows,
        _broken,
        of_all=(SQLAlchemyError, RenderingBroken),
    )
    return [each for each in looked if each is not None]


def _broken(row: Running, error: Exception) -> Verdict:
    logger.error("execution.look_failed", exc_info=error, extra={"id": str(row.claim)})
    return refuse(row.claim, Reason.BAD_MESSAGE, say(BUG))


def _looked(
    session: Session, rows: Sequence[Running], now: datetime, *, holds_rows: bool
) -> list[Ready | Verdict | None]:
    began_at = time.monotonic()
    rules = rules_of(session, rows)
    deeds = _deeds(rows, rules)
    contexts = build_contexts(session, _told(rows, rules))
    lent = lend(session, rows, [deed.settings for deed in deeds], contexts)
    composed = _composed(session, rows, deeds, contexts)
    composed = lend_edited(session, rows, composed, contexts, lent)
    # Guarded last, so that as little time as possible lies between look and effect.
    made_at = time.monotonic()
    held = hold(session, rules.values(), holds_rows=holds_rows)
    if held or made_at - began_at > _SHORT_SECONDS:
        rules = rules_of(session, rows)  # somebody may have edited one meanwhile
    recipients = {
        row.id: each.recipient
        for row, each in zip(rows, composed, strict=True)
        if isinstance(each, Composed)
    }
    stops = stopped(session, rows, rules, contexts, recipients, now, held)
    return [
        stops[row.id]
        if row.id in stops
        else _prepared(row, deed, each, lent.get(row.id), made_at)
        for row, deed, each in zip(rows, deeds, composed, strict=True)
    ]


def _deeds(rows: Sequence[Running], rules: Mapping[UUID, Rule]) -> list[_Deed]:
    made: dict[tuple[int, int, str], _Deed] = {}  # numbers hash faster than UUIDs
    deeds = []
    for row in rows:
        key = (row.rule_id.int, row.step, row.action)
        deed = made.get(key)
        if deed is None:
            deed = made[key] = _deed(rules[row.rule_id], row.step, row.action)
        deeds.append(deed)
    return deeds


def _deed(rule: Rule, number: int, action: str) -> _Deed:
    step = step_of(rule, number)
    is_there = step is not None and step.action == action
    return _Deed(
        rule,
        step.settings if step and is_there else None,
        secret_of(rule, number),
        Pauses(
            timedelta(seconds=rule.retry_first_seconds),
            timedelta(minutes=rule.retry_longest_minutes),
        ),
    )


def _told(rows: Sequence[Running], rules: Mapping[UUID, Rule]) -> list[Running]:
    """Return those that need a context: for their message or for conditions."""
    asking = {rule.id for rule in rules.values() if rule.conditions}
    if not asking:
        return [row for row in rows if not row.is_within]
    return [row for row in rows if not row.is_within or row.rule_id in asking]


def _composed(
    session: Session,
    rows: Sequence[Running],
    deeds: Sequence[_Deed],
    contexts: Mapping[UUID, Json],
) -> list[Composed | CannotCompose]:
    composed = compose_all(
        [
            _ask(row, deed.settings, contexts.get(row.id, {}) if contexts else {})
            for row, deed in zip(rows, deeds, strict=True)
        ]
    )
    if earlier := _earlier_messages(session, rows):
        for row, each in zip(rows, composed, strict=True):
            if row.id in earlier and isinstance(each, Composed):
                each.message["body"] = earlier[row.id]["body"]
    return put_in(session, rows, composed)


def _earlier_messages(
    session: Session, rows: Sequence[Running]
) -> dict[UUID, Mapping[str, Any]]:
    """Return what earlier attempts composed, where it has to stay the same."""
    ids = [
        row.id
        for row in rows
        if row.attempt > 1 and (a := ACTIONS.get(row.action)) and a.keeps_body
    ]
    if not ids:
        return {}
    stored = session.scalars(
        select(ExecutionMessage).where(ExecutionMessage.execution_id.in_(ids))
    )
    return {each.execution_id: each.message for each in stored}


def _ask(
    row: Running, settings: Mapping[str, Any] | None, context: Mapping[str, Any]
) -> Ask | CannotCompose:
    if settings is None:
        return CannotCompose(Reason.STEP_REMOVED, SENTENCES[Reason.STEP_REMOVED])
    event = {"type": row.trigger_type, "occurred_at": row.due_at.isoformat()}
    return Ask(row.action, settings, {**context, "event": event})


def _prepared(
    row: Running,
    deed: _Deed,
    composed: Composed | CannotCompose,
    token: Token | None,
    made_at: float,
) -> Ready | Verdict:
    if isinstance(composed, CannotCompose):
        return refuse(row.claim, composed.reason, composed.sentence)
    return Ready(
        row.claim,
        ACTIONS[row.action],
        composed.message,
        composed.recipient,
        Envelope(
            row.id, row.congregation_id, deed.secret, token.text if token else None
        ),
        row.failures,
        row.max_attempts,
        deed.pauses,
        made_at,
    )
