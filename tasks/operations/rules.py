"""What operators may do to rules: write, change, switch, delete them."""

from __future__ import annotations

from datetime import datetime
from typing import Any
from uuid import UUID

from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import Session

from tasks.automation.following import follow
from tasks.automation.step_changes import StepsChanged, follow_steps
from tasks.automation.steps import all_steps
from tasks.errors import Conflict, NotFound
from tasks.models import Congregation, Rule, new_id
from tasks.operations.audit import Actor
from tasks.operations.rule_fields import InvalidRule, RuleChange
from tasks.operations.rule_rows import (
    RuleSaved,
    audit,
    changed_meanwhile,
    facts,
    find_rule,
    new_secret,
)
from tasks.operations.rule_scope import write_scope
from tasks.operations.rule_secrets import needs_signing, put_away
from tasks.operations.rule_switches import (
    RuleDeleted,
    count_pending,
    delete_rule,
    disable_rule,
    enable_rule,
    rotate_secret,
)
from tasks.operations.rule_turns import changes_rate, release_turns
from tasks.operations.rule_values import moves_jobs, values_of
from tasks.operations.rule_versions import keep_version
from tasks.saying import say
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

_DID = {"restored": "Restored an earlier version of", "imported": "Imported"}


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
    verb: str = "created",
) -> RuleSaved:
    """Add a rule.

    Args:
        verb: how it came about, as its history says: ``created`` or ``imported``.
        rule_id: chosen by the caller, so that a form sent twice makes one rule.
        also_coming: plan it for bookings and episodes that exist already as well.

    Raises:
        InvalidRule: something cannot be accepted.
        NotFound: the session sees no such congregation.
        Conflict: ``already_saved``, a rule has that id.
    """
    if session.get(Congregation, congregation_id) is None:
        raise NotFound("unknown_congregation", say("There is no such congregation."))
    values = values_of(session, congregation_id, change)
    put_away(values, None, box)
    values |= {"created_at": now, "updated_at": now, "enabled": enabled}
    rule = Rule(id=rule_id or new_id(), congregation_id=congregation_id, **values)
    secret = new_secret(rule, box) if needs_signing(rule) else None
    _add(session, rule)
    keep_version(session, rule, actor, verb, now)
    summary = f"{verb.capitalize()} the rule “{rule.name}”."
    audit(session, rule, actor, verb, summary)
    planned = follow(session, rule, now=now, also_coming=also_coming)
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
    at_once: bool = True,
    verb: str = "edited",
) -> RuleSaved:
    """Change a rule; jobs it has planned move when trigger, offset or podcast change.

    Args:
        version: the version that the operator looked at; None takes any.
        also_coming: plan also for what is coming and has no job of the rule yet.
        at_once: false leaves all moving of jobs to the lane.
        verb: how it came about, as its history says: ``edited``, ``restored`` or
            ``imported``.

    Raises:
        InvalidRule: something cannot be accepted.
        NotFound: the session sees no such rule.
        Conflict: ``changed_meanwhile``, the rule has another version by now.
    """
    rule = find_rule(session, rule_id)
    values = values_of(session, rule.congregation_id, change)
    if version is not None and version != rule.version:
        raise changed_meanwhile()
    put_away(values, rule, box)
    before, doing = {name: getattr(rule, name) for name in values}, all_steps(rule)
    secret, stepped = None, StepsChanged()
    if before != values:
        secret = _write(rule, values, actor, box, session, now=now, verb=verb)
    if moves_jobs(before, values):
        rule.plan_version = rule.version
    # Jobs first: who dispatches them holds them, and may end executions then.
    replanned = follow(session, rule, now=now, also_coming=also_coming, at_once=at_once)
    if before != values:
        stepped = follow_steps(session, rule, doing, all_steps(rule), now)
    if changes_rate(before, values):
        release_turns(session, rule, now)
    return RuleSaved(rule, secret, replanned, stepped, changed=before != values)


def _add(session: Session, rule: Rule) -> None:
    try:
        with session.begin_nested():
            session.add(rule)
            session.flush()
            write_scope(session, rule)
    except IntegrityError:
        raise Conflict("already_saved", say("This rule was saved already.")) from None


def _write(
    rule: Rule,
    values: dict[str, Any],
    actor: Actor,
    box: SecretBox,
    session: Session,
    *,
    now: datetime,
    verb: str,
) -> str | None:
    """Write new values as a new version; return a signing secret if one was made."""
    old, secret = facts(rule), None
    for name, value in values.items():
        setattr(rule, name, value)
    rule.version += 1
    rule.updated_at = now
    if needs_signing(rule) and rule.secret is None:
        secret = new_secret(rule, box)
    session.flush()
    write_scope(session, rule)
    keep_version(session, rule, actor, verb, now)
    summary = f"{_DID.get(verb, 'Changed')} the rule “{rule.name}”."
    audit(session, rule, actor, verb, summary, before=old)
    return secret
