"""Switching rules on and off, deleting them, changing their signing secret."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from sqlalchemy import (
    ColumnElement,
    ScalarSelect,
    Update,
    select,
    update,
)
from sqlalchemy.orm import Session

from tasks.automation.following import follow
from tasks.errors import InvalidInput
from tasks.lane import COUNT_CAP
from tasks.locks import in_order
from tasks.lookups import unindexed
from tasks.models import (
    Execution,
    ExecutionState,
    JobState,
    Reason,
    Rule,
    ScheduledJob,
)
from tasks.operations.audit import Actor
from tasks.operations.bulk import count
from tasks.operations.matching import is_state
from tasks.operations.rule_rows import RuleSaved, audit, facts, find_rule, new_secret
from tasks.operations.rule_secrets import needs_signing
from tasks.saying import say
from tasks.secrets import SecretBox


@dataclass(frozen=True, slots=True)
class RuleDeleted:
    """What a deletion took with it."""

    rule: Rule
    n_jobs: int
    n_executions: int


def enable_rule(
    session: Session,
    rule_id: UUID,
    actor: Actor,
    *,
    now: datetime,
    also_coming: bool = False,
) -> RuleSaved:
    """Switch a rule on; what happened while it was off does not fire it.

    Args:
        also_coming: plan its jobs for the bookings and episodes that are coming.

    Raises:
        NotFound: the session sees no such rule.
        Conflict: it was deleted.
    """
    rule = find_rule(session, rule_id)
    changed = _switch(session, rule, actor, enabled=True, now=now)
    planned = follow(session, rule, now=now, also_coming=also_coming)
    return RuleSaved(rule, replanned=planned, changed=changed)


def disable_rule(
    session: Session, rule_id: UUID, actor: Actor, *, now: datetime
) -> RuleSaved:
    """Switch a rule off: what is pending stays, and is skipped if its time comes.

    Raises:
        NotFound: the session sees no such rule.
        Conflict: it was deleted.
    """
    rule = find_rule(session, rule_id)
    return RuleSaved(
        rule, changed=_switch(session, rule, actor, enabled=False, now=now)
    )


def delete_rule(
    session: Session, rule_id: UUID, actor: Actor, *, now: datetime
) -> RuleDeleted:
    """Delete a rule and cancel what is pending; its history stays readable.

    An execution that is running already is not stopped.

    Raises:
        NotFound: the session sees no such rule.
        Conflict: it was deleted before.
    """
    rule = find_rule(session, rule_id)
    before = facts(rule)
    rule.deleted_at = rule.updated_at = now
    rule.enabled = False
    session.flush()
    n_jobs, n_executions = _cancel_pending(session, rule, now)
    summary = (
        f"Deleted the rule “{rule.name}”; cancelled {n_jobs} scheduled jobs and "
        f"{n_executions} executions."
    )
    audit(session, rule, actor, "deleted", summary, before=before)
    return RuleDeleted(rule, n_jobs, n_executions)


def rotate_secret(
    session: Session, rule_id: UUID, actor: Actor, box: SecretBox
) -> RuleSaved:
    """Replace a webhook rule's signing secret; the old one is void at once.

    Raises:
        NotFound: the session sees no such rule.
        Conflict: it was deleted.
        InvalidInput: ``no_secret``, the rule sends no webhook.
    """
    rule = find_rule(session, rule_id)
    if not needs_signing(rule):
        problem = say("Only webhooks are signed with a secret.")
        raise InvalidInput("no_secret", problem)
    secret = new_secret(rule, box)
    session.flush()
    summary = f"Replaced the signing secret of the rule “{rule.name}”."
    audit(session, rule, actor, "secret_rotated", summary)
    return RuleSaved(rule, secret)


def count_pending(session: Session, rule_id: UUID) -> tuple[int, int]:
    """Return how many scheduled jobs and executions a deletion would cancel.

    Each up to ``COUNT_CAP``, which means that or more.
    """
    of = select(Rule.congregation_id).where(Rule.id == rule_id).scalar_subquery()
    n_jobs, n_executions = (
        count(session, select(model.id).where(*_waits(model, of, rule_id)), COUNT_CAP)
        for model in (ScheduledJob, Execution)
    )
    return n_jobs, n_executions


def _waits(
    model: type[ScheduledJob | Execution],
    of: UUID | ScalarSelect[UUID],
    rule_id: UUID,
) -> tuple[ColumnElement[bool], ...]:
    """Return what is true of what waits for a rule.

    The congregation and a written state: what waits is in an index of few rows.  Left
    to itself SQLite goes by the rule, and reads all that it ever did.
    """
    return (
        model.congregation_id == of,
        is_state(model, "pending"),
        unindexed(model.rule_id) == rule_id,
    )


def _cancel_pending(session: Session, rule: Rule, now: datetime) -> tuple[int, int]:
    """Cancel a deleted rule's jobs and executions; return how many of each."""
    ended = {"reason": Reason.RULE_DELETED, "settled_at": now}
    jobs = _waits(ScheduledJob, rule.congregation_id, rule.id)
    executions = _waits(Execution, rule.congregation_id, rule.id)
    n_jobs = _count_changed(
        session,
        update(ScheduledJob)
        .where(*in_order(session, ScheduledJob, *jobs))
        .values(state=JobState.CANCELLED, **ended),
    )
    n_executions = _count_changed(
        session,
        update(Execution)
        .where(*in_order(session, Execution, *executions))
        .values(state=ExecutionState.CANCELLED, worker=None, lease_until=None, **ended),
    )
    return n_jobs, n_executions


def _switch(
    session: Session, rule: Rule, actor: Actor, *, enabled: bool, now: datetime
) -> bool:
    """Return whether the rule stood the other way before."""
    if rule.enabled == enabled:
        return False
    before = facts(rule)
    rule.enabled = enabled
    rule.updated_at = now
    session.flush()
    verb = "enabled" if enabled else "disabled"
    summary = f"{verb.capitalize()} the rule “{rule.name}”."
    audit(session, rule, actor, verb, summary, before=before)
    return True


def _count_changed(session: Session, statement: Update) -> int:
    result: Any = session.execute(
        statement.execution_options(synchronize_session=False)
    )
    return int(result.rowcount)
