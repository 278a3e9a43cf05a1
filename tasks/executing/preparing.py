"""The last look before an effect: guard, compose, and note that it begins."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Final
from uuid import UUID

from sqlalchemy import literal_column, select
from sqlalchemy.orm import Session, load_only

from tasks.automation.actions import ACTIONS
from tasks.automation.actions.base import Action, CannotCompose, Envelope
from tasks.automation.composing import Ask, Composed, compose_all
from tasks.automation.context import build_contexts
from tasks.automation.steps import secret_of, step_of
from tasks.backoff import Pauses
from tasks.bulk import among
from tasks.executing.marking import mark, note_recipients
from tasks.executing.stopping import stopped
from tasks.executing.verdicts import Verdict, refuse
from tasks.held import Claim
from tasks.models.execution import Execution, ExecutionMessage
from tasks.models.reason import SENTENCES, Reason
from tasks.models.rule import Rule

#: What guard, context and action read of an execution; instants cost the most.
_NEEDED: Final = (
    Execution.congregation_id,
    Execution.rule_id,
    Execution.event_id,
    Execution.scheduled_job_id,
    Execution.trigger_type,
    Execution.action,
    Execution.podcast_id,
    Execution.episode_id,
    Execution.booking_id,
    Execution.guest_id,
    Execution.recipient,
    Execution.step,
    Execution.due_at,
    Execution.attempt,
    Execution.failures,
    Execution.max_attempts,
)


@dataclass(frozen=True, slots=True)
class Ready:
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
    session: Session, claims: Sequence[Claim], *, now: datetime
) -> list[Ready | Verdict]:
    """Look again at claimed executions, compose their messages, mark the effect begun.

    Everything is read afresh: the rule, the booking, the recipient.  A claim that is
    no longer ours has no entry in the answer.  Caller commits before it acts.
    """
    rows = _ours(session, claims)
    executions = [row for _, row in rows]
    contexts = build_contexts(session, executions)
    rules = _rules(session, executions)
    earlier = _earlier_messages(session, executions)
    # Guarded last, so that as little time as possible lies between look and effect.
    messages = compose_all(
        [_ask(row, rules[row.rule_id], contexts[row.id]) for row in executions]
    )
    composed = [
        _composed(claim, row, rules[row.rule_id], message, earlier.get(row.id))
        for (claim, row), message in zip(rows, messages, strict=True)
    ]
    recipients = {
        row.id: each.recipient
        for row, each in zip(executions, composed, strict=True)
        if isinstance(each, Ready)
    }
    stops = stopped(session, claims, executions, rules, contexts, recipients, now)
    prepared = [stops.get(each.claim, each) for each in composed]
    ready = [each for each in prepared if isinstance(each, Ready)]
    mark(session, ready, now)
    note_recipients(session, ready, {row.id: row.recipient for row in executions})
    return prepared


def _ours(session: Session, claims: Sequence[Claim]) -> list[tuple[Claim, Execution]]:
    by_id = {claim.execution_id: claim for claim in claims}
    executions = session.scalars(
        select(Execution)
        .options(load_only(*_NEEDED, raiseload=True))
        .where(
            among(session, Execution.id, list(by_id)),
            Execution.state == literal_column("'running'"),
        )
    )
    return [
        (by_id[row.id], row)
        for row in executions
        if row.attempt == by_id[row.id].attempt
    ]


def _rules(session: Session, rows: Sequence[Execution]) -> dict[UUID, Rule]:
    ids = sorted({row.rule_id for row in rows})
    rules = session.scalars(select(Rule).where(among(session, Rule.id, ids)))
    return {rule.id: rule for rule in rules}


def _event(row: Execution) -> dict[str, str]:
    return {"type": row.trigger_type, "occurred_at": row.due_at.isoformat()}


def _earlier_messages(
    session: Session, rows: Sequence[Execution]
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


def _ask(row: Execution, rule: Rule, context: Mapping[str, Any]) -> Ask | CannotCompose:
    doing = step_of(rule, row.step)
    if doing is None:
        return CannotCompose(Reason.STEP_REMOVED, SENTENCES[Reason.STEP_REMOVED])
    return Ask(row.action, doing.settings, {**context, "event": _event(row)})


def _composed(
    claim: Claim,
    row: Execution,
    rule: Rule,
    composed: Composed | CannotCompose,
    earlier: Mapping[str, Any] | None,
) -> Ready | Verdict:
    if isinstance(composed, CannotCompose):
        return refuse(claim, composed.reason, composed.sentence)
    if earlier is not None:
        composed.message["body"] = earlier["body"]
    return Ready(
        claim,
        ACTIONS[row.action],
        composed.message,
        composed.recipient,
        Envelope(row.id, row.congregation_id, secret_of(rule, row.step)),
        row.failures,
        row.max_attempts,
        Pauses(
            timedelta(seconds=rule.retry_first_seconds),
            timedelta(minutes=rule.retry_longest_minutes),
        ),
        time.monotonic(),
    )
