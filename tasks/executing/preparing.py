"""The last look before an effect: compose, guard, and note that it begins."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any, NamedTuple
from uuid import UUID

from sqlalchemy import select
from sqlalchemy.orm import Session

from tasks.automation.actions import ACTIONS
from tasks.automation.actions.base import Action, CannotCompose, Envelope
from tasks.automation.composing import Ask, Composed, compose_all
from tasks.automation.context import build_contexts
from tasks.automation.guard import rules_of
from tasks.automation.steps import secret_of, step_of
from tasks.backoff import Pauses
from tasks.executing.claiming import Running
from tasks.executing.marking import mark, note_recipients
from tasks.executing.stopping import stopped
from tasks.executing.verdicts import Verdict, refuse
from tasks.held import Claim
from tasks.models.base import Json
from tasks.models.execution import ExecutionMessage
from tasks.models.reason import SENTENCES, Reason
from tasks.models.rule import Rule


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


def prepare(
    session: Session, rows: Sequence[Running], *, now: datetime
) -> list[Ready | Verdict]:
    """Compose the messages of what is ours, guard it, and mark the effects begun.

    Everything is read afresh: the rule, the booking, the recipient.  Quick actions
    count as begun since they were claimed.  Caller commits before it acts.
    """
    rules = rules_of(session, rows)
    contexts = build_contexts(session, [row for row in rows if _is_told(row, rules)])
    composed = _composed(session, rows, rules, contexts)
    # Guarded last, so that as little time as possible lies between look and effect.
    made_at = time.monotonic()
    recipients = {
        row.id: each.recipient
        for row, each in zip(rows, composed, strict=True)
        if isinstance(each, Composed)
    }
    stops = stopped(session, rows, rules, contexts, recipients, now)
    pauses = {rule.id: _pauses(rule) for rule in rules.values()}
    prepared = [
        stops.get(row.id) or _prepared(row, rules[row.rule_id], each, pauses, made_at)
        for row, each in zip(rows, composed, strict=True)
    ]
    ready = [each for each in prepared if isinstance(each, Ready)]
    mark(session, [each for each in ready if not each.action.is_quick], now)
    note_recipients(session, ready, {row.id: row.recipient for row in rows})
    return prepared


def _is_told(row: Running, rules: Mapping[UUID, Rule]) -> bool:
    """Whether it needs a context: to say something, or to see if conditions hold."""
    return not row.is_quick or bool(rules[row.rule_id].conditions)


def _composed(
    session: Session,
    rows: Sequence[Running],
    rules: Mapping[UUID, Rule],
    contexts: Mapping[UUID, Json],
) -> list[Composed | CannotCompose]:
    composed = compose_all(
        [_ask(row, rules[row.rule_id], contexts.get(row.id, {})) for row in rows]
    )
    earlier = _earlier_messages(session, rows)
    for row, each in zip(rows, composed, strict=True):
        if row.id in earlier and isinstance(each, Composed):
            each.message["body"] = earlier[row.id]["body"]
    return composed


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


def _ask(row: Running, rule: Rule, context: Mapping[str, Any]) -> Ask | CannotCompose:
    doing = step_of(rule, row.step)
    if doing is None:
        return CannotCompose(Reason.STEP_REMOVED, SENTENCES[Reason.STEP_REMOVED])
    event = {"type": row.trigger_type, "occurred_at": row.due_at.isoformat()}
    return Ask(row.action, doing.settings, {**context, "event": event})


def _pauses(rule: Rule) -> Pauses:
    return Pauses(
        timedelta(seconds=rule.retry_first_seconds),
        timedelta(minutes=rule.retry_longest_minutes),
    )


def _prepared(
    row: Running,
    rule: Rule,
    composed: Composed | CannotCompose,
    pauses: Mapping[UUID, Pauses],
    made_at: float,
) -> Ready | Verdict:
    if isinstance(composed, CannotCompose):
        return refuse(row.claim, composed.reason, composed.sentence)
    return Ready(
        row.claim,
        ACTIONS[row.action],
        composed.message,
        composed.recipient,
        Envelope(row.id, row.congregation_id, secret_of(rule, row.step)),
        row.failures,
        row.max_attempts,
        pauses[rule.id],
        made_at,
    )
