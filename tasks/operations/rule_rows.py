"""What every verb on rules needs: find the row, give it a secret, note the deed."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

from sqlalchemy.orm import Session

from tasks.automation import condition_rows
from tasks.automation.replan import Replanned
from tasks.automation.step_changes import StepsChanged
from tasks.automation.steps import later_steps
from tasks.errors import Conflict, NotFound
from tasks.models import Rule
from tasks.operations.audit import Actor, Subject, record
from tasks.saying import in_english, say
from tasks.secrets import SecretBox, new_webhook_secret


@dataclass(frozen=True, slots=True)
class RuleSaved:
    """A rule as it was saved, and what came of it."""

    rule: Rule
    secret: str | None = None  # the plain signing secret, when one was just made
    replanned: Replanned = field(default_factory=Replanned)
    stepped: StepsChanged = field(default_factory=StepsChanged)
    changed: bool = True


def find_rule(session: Session, rule_id: UUID, *, locked: bool = True) -> Rule:
    """Return a rule as it is now; ``locked``: nobody else changes it meanwhile.

    Raises:
        NotFound: the session sees no such rule.
        Conflict: it was deleted, so it cannot be changed any more.
    """
    # Read anew: the session may know it from before somebody else saved.  What points
    # to it may be made meanwhile: who does that may hold jobs that we are to move.
    lock = {"key_share": True} if locked else None
    rule = session.get(Rule, rule_id, with_for_update=lock, populate_existing=True)
    if rule is None:
        raise NotFound("unknown_rule", say("There is no such rule."))
    refuse_deleted(rule)
    return rule


def refuse_deleted(rule: Rule) -> None:
    """Refuse a rule that is readable only.

    Raises:
        Conflict: it was deleted, so it cannot be changed any more.
    """
    if rule.deleted_at is not None:
        told = say("The rule “%(name)s” was deleted.", name=rule.name)
        raise Conflict("rule_deleted", told)


def changed_meanwhile() -> Conflict:
    """Return the refusal of a change that was made on another version."""
    return Conflict(
        "changed_meanwhile",
        say(
            "Somebody else changed this rule meanwhile. Look at it and change it anew."
        ),
    )


def new_secret(rule: Rule, box: SecretBox) -> str:
    """Give the rule a new signing secret; return it in plain, to be shown once."""
    secret = new_webhook_secret()
    rule.secret = box.seal(secret)
    return secret


def facts(rule: Rule) -> dict[str, Any]:
    """Return what the audit log keeps of a rule, as JSON values."""
    with in_english():
        conditions = condition_rows.sentence(rule.conditions)
    return {
        "name": rule.name,
        "podcast_ids": rule.podcast_ids,
        "enabled": rule.enabled,
        "trigger_type": rule.trigger_type,
        "offset": f"{rule.offset_value} {rule.offset_unit}",
        "offset_at": rule.offset_at,
        "late_policy": rule.late_policy.value,
        "late_limit": rule.late_limit,
        "quiet_from": rule.quiet_from,
        "quiet_until": rule.quiet_until,
        "quiet_policy": rule.quiet_policy.value,
        "action": rule.action,
        **{f"settings.{key}": value for key, value in rule.settings.items()},
        "conditions": conditions,
        "max_attempts": rule.max_attempts,
        "retry_first_seconds": rule.retry_first_seconds,
        "retry_longest_minutes": rule.retry_longest_minutes,
        "rate_limit": rule.rate_limit,
        "rate_window_minutes": rule.rate_window_minutes,
        **_facts_of_steps(rule),
        "version": rule.version,
    }


def _facts_of_steps(rule: Rule) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for place, step in enumerate(later_steps(rule), start=2):
        said = {"action": step.action, "after": str(step.delay)}
        said |= {f"settings.{key}": value for key, value in step.settings.items()}
        found |= {f"step {place}: {name}": value for name, value in said.items()}
    return found


def audit(
    session: Session,
    rule: Rule,
    actor: Actor,
    verb: str,
    summary: str,
    *,
    before: dict[str, Any] | None = None,
) -> None:
    """Note what was done to a rule; the row must have its new values already."""
    subject = Subject("rule", str(rule.id), rule.congregation_id)
    after = facts(rule)
    record(session, actor, f"rule.{verb}", subject, summary, before=before, after=after)
