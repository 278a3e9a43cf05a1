"""What operators may do to rules: write, change, switch, delete them."""

from __future__ import annotations

from datetime import datetime
from typing import Any
from uuid import UUID

from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import Session

from tasks.automation.replan import Replanned, move_jobs, plan_coming
from tasks.errors import Conflict, NotFound
from tasks.models import Congregation, Rule, new_id
from tasks.operations.audit import Actor
from tasks.operations.rule_fields import InvalidRule, RuleChange, clean
from tasks.operations.rule_rows import RuleSaved, audit, facts, find_rule, new_secret
from tasks.operations.rule_scope import clean_scope, problem_of_scope, write_scope
from tasks.operations.rule_switches import (
    RuleDeleted,
    count_pending,
    delete_rule,
    disable_rule,
    enable_rule,
    rotate_secret,
)
from tasks.operations.rule_times import TIMED_BY
from tasks.secrets import SecretBox

__all__ = [
    "InvalidRule",
    "RuleChange",
    "RuleDeleted",
    "RuleSaved",
    "count_pending",
    "create_rule",
    "delete_rule",
    "disable_rule",
    "edit_rule",
    "enable_rule",
    "rotate_secret",
]

#: A change to one of these moves the jobs that the rule has planned already.
_PLANNED_BY = ("trigger_type", "podcast_ids", *TIMED_BY)


def create_rule(
    session: Session,
    congregation_id: UUID,
    change: RuleChange,
    actor: Actor,
    box: SecretBox,
    *,
    now: datetime,
    rule_id: UUID | None = None,
    enabled: bool = True,
    also_coming: bool = False,
) -> RuleSaved:
    """Add a rule.

    Args:
        rule_id: chosen by the caller, so that a form sent twice makes one rule.
        also_coming: plan it for bookings and episodes that exist already as well.

    Raises:
        InvalidRule: something cannot be accepted.
        NotFound: the session sees no such congregation.
        Conflict: ``already_saved``, a rule has that id.
    """
    if session.get(Congregation, congregation_id) is None:
        raise NotFound("unknown_congregation", "There is no such congregation.")
    values = _values(session, congregation_id, change)
    values |= {"created_at": now, "updated_at": now, "enabled": enabled}
    rule = Rule(id=rule_id or new_id(), congregation_id=congregation_id, **values)
    secret = new_secret(rule, box) if rule.action == "webhook" else None
    _add(session, rule)
    summary = f"Created the rule “{rule.name}”."
    audit(session, rule, actor, "created", summary)
    planned = plan_coming(session, rule, now=now) if also_coming else Replanned()
    return RuleSaved(rule, secret, planned)


def edit_rule(
    session: Session,
    rule_id: UUID,
    change: RuleChange,
    actor: Actor,
    box: SecretBox,
    *,
    now: datetime,
    version: int | None = None,
    also_coming: bool = False,
) -> RuleSaved:
    """Change a rule; jobs it has planned move when trigger, offset or podcast change.

    Args:
        version: the version that the operator looked at; None takes any.
        also_coming: plan also for what is coming and has no job of the rule yet.

    Raises:
        InvalidRule: something cannot be accepted.
        NotFound: the session sees no such rule.
        Conflict: ``changed_meanwhile``, the rule has another version by now.
    """
    rule = find_rule(session, rule_id)
    values = _values(session, rule.congregation_id, change)
    if version is not None and version != rule.version:
        raise _changed_meanwhile()
    before = {name: getattr(rule, name) for name in values}
    secret, replanned = None, Replanned()
    if before != values:
        secret = _write(rule, values, actor, box, session, now=now)
    if any(before[name] != values[name] for name in _PLANNED_BY):
        replanned += move_jobs(session, rule, now=now)
    if also_coming:
        replanned += plan_coming(session, rule, now=now)
    return RuleSaved(rule, secret, replanned, changed=before != values)


def _add(session: Session, rule: Rule) -> None:
    try:
        with session.begin_nested():
            session.add(rule)
            session.flush()
            write_scope(session, rule)
    except IntegrityError:
        raise Conflict("already_saved", "This rule was saved already.") from None


def _changed_meanwhile() -> Conflict:
    return Conflict(
        "changed_meanwhile",
        "Somebody else changed this rule meanwhile. Look at it and change it anew.",
    )


def _write(
    rule: Rule,
    values: dict[str, Any],
    actor: Actor,
    box: SecretBox,
    session: Session,
    *,
    now: datetime,
) -> str | None:
    """Write new values as a new version; return a signing secret if one was made."""
    old, secret = facts(rule), None
    for name, value in values.items():
        setattr(rule, name, value)
    rule.version += 1
    rule.updated_at = now
    if rule.action == "webhook" and rule.secret is None:
        secret = new_secret(rule, box)
    session.flush()
    write_scope(session, rule)
    summary = f"Changed the rule “{rule.name}”."
    audit(session, rule, actor, "edited", summary, before=old)
    return secret


def _values(
    session: Session, congregation_id: UUID, change: RuleChange
) -> dict[str, Any]:
    problems: dict[str, str] = {}
    try:
        values = clean(change)
    except InvalidRule as refused:
        problems.update(refused.problems)
        values = {}
    if problem := problem_of_scope(session, congregation_id, change.podcast_ids):
        problems["podcast_ids"] = problem
    if problems:
        raise InvalidRule(problems)
    return {**values, "podcast_ids": clean_scope(change.podcast_ids)}
