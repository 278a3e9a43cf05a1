"""The last look before an effect: guard, compose, and note that it begins."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from sqlalchemy import delete, insert, select, tuple_, update
from sqlalchemy.orm import Session, contains_eager

from tasks.automation.actions import ACTIONS
from tasks.automation.actions.base import Action, CannotCompose, Envelope
from tasks.automation.context import build_contexts
from tasks.automation.guard import why_not
from tasks.executing.verdicts import Verdict, refuse
from tasks.held import Claim
from tasks.models.execution import Attempt, Execution, ExecutionMessage, ExecutionState
from tasks.models.reason import Reason

logger = logging.getLogger(__name__)


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


def prepare(
    session: Session, claims: Sequence[Claim], *, now: datetime
) -> list[Ready | Verdict]:
    """Look again at claimed executions, compose their messages, mark the effect begun.

    Everything is read afresh: the rule, the booking, the recipient.  A claim that is
    no longer ours has no entry in the answer.  Caller commits before it acts.
    """
    rows = _ours(session, claims)
    reasons = why_not(session, [row for _, row in rows], now=now)
    contexts = build_contexts(session, [row for _, row in rows])
    earlier = _earlier_messages(session, [row for _, row in rows])
    prepared: list[Ready | Verdict] = []
    for claim, row in rows:
        if (reason := reasons.get(row.id)) is not None:
            prepared.append(refuse(claim, reason))
        else:
            context = contexts[row.id] | {"event": _event(row)}
            prepared.append(_compose(claim, row, context, earlier.get(row.id)))
    _mark(session, [each for each in prepared if isinstance(each, Ready)], now)
    return prepared


def _ours(session: Session, claims: Sequence[Claim]) -> list[tuple[Claim, Execution]]:
    by_id = {claim.execution_id: claim for claim in claims}
    executions = session.scalars(
        select(Execution)
        .join(Execution.rule)
        .options(contains_eager(Execution.rule))
        .where(Execution.id.in_(list(by_id)), Execution.state == ExecutionState.RUNNING)
    )
    return [
        (by_id[row.id], row)
        for row in executions
        if row.attempt == by_id[row.id].attempt
    ]


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


def _compose(
    claim: Claim,
    row: Execution,
    context: Mapping[str, Any],
    earlier: Mapping[str, Any] | None,
) -> Ready | Verdict:
    action = ACTIONS.get(row.action)
    if action is None:
        return refuse(
            claim, Reason.BAD_MESSAGE, f"There is no action {row.action!r} here."
        )
    try:
        message = action.compose(row.rule.settings, context)
        recipient = action.recipient(row.rule.settings, context)
        if earlier is not None:
            message["body"] = earlier["body"]
    except CannotCompose as error:
        return refuse(claim, error.reason, error.sentence)
    except Exception:  # one row's bug must not stop the others' work
        logger.exception("execution.compose_failed", extra={"id": str(row.id)})
        return refuse(
            claim,
            Reason.BAD_MESSAGE,
            "The message could not be made: an error in the program, see its log.",
        )
    envelope = Envelope(row.id, row.congregation_id, row.rule.secret)
    return Ready(
        claim,
        action,
        message,
        recipient,
        envelope,
        row.failures,
        row.max_attempts,
    )


def _mark(session: Session, ready: Sequence[Ready], now: datetime) -> None:
    """Note that the effects begin: after a crash, "not begun" and "unknown" differ."""
    if not ready:
        return
    session.execute(
        update(Attempt)
        .where(
            tuple_(Attempt.execution_id, Attempt.number).in_(
                [(each.claim.execution_id, each.claim.attempt) for each in ready]
            )
        )
        .values(effect_started_at=now)
        .execution_options(synchronize_session=False)
    )
    ids: list[UUID] = [each.claim.execution_id for each in ready]
    session.execute(
        delete(ExecutionMessage).where(ExecutionMessage.execution_id.in_(ids))
    )
    session.execute(
        insert(ExecutionMessage),
        [
            {
                "congregation_id": each.claim.congregation_id,
                "execution_id": each.claim.execution_id,
                "message": dict(each.message),
                "composed_at": now,
            }
            for each in ready
        ],
    )
    for each in ready:
        session.execute(
            update(Execution)
            .where(
                Execution.id == each.claim.execution_id,
                Execution.recipient.is_distinct_from(each.recipient),
            )
            .values(recipient=each.recipient)
            .execution_options(synchronize_session=False)
        )
