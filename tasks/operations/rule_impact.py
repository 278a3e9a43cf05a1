"""What saving a rule would do to its jobs, for the operator to see before."""

from __future__ import annotations

from datetime import datetime
from uuid import UUID

from sqlalchemy.orm import Session

from tasks.automation.impact import Impact, impact_of
from tasks.automation.replan import as_if
from tasks.errors import NotFound
from tasks.models import Rule, new_id
from tasks.operations.rule_fields import RuleChange
from tasks.operations.rule_rows import changed_meanwhile, refuse_deleted
from tasks.operations.rule_values import moves_jobs, values_of
from tasks.saying import say


def impact_of_new(
    session: Session,
    congregation_id: UUID,
    change: RuleChange,
    *,
    now: datetime,
    also_coming: bool,
) -> Impact:
    """Return what creating a rule would plan.

    Raises:
        InvalidRule: something cannot be accepted.
    """
    if not also_coming:
        return Impact()
    values = values_of(session, congregation_id, change)
    rule = Rule(id=new_id(), congregation_id=congregation_id, **values)
    return impact_of(session, rule, now=now, moves=False, also_coming=True)


def impact_of_edit(
    session: Session,
    rule_id: UUID,
    change: RuleChange,
    *,
    now: datetime,
    version: int | None = None,
    also_coming: bool = False,
) -> Impact:
    """Return what changing a rule would do; nothing is written or locked.

    Raises:
        InvalidRule: something cannot be accepted.
        NotFound: the session sees no such rule.
        Conflict: it was deleted, or ``changed_meanwhile``.
    """
    rule = session.get(Rule, rule_id)
    if rule is None:
        raise NotFound("unknown_rule", say("There is no such rule."))
    refuse_deleted(rule)
    values = values_of(session, rule.congregation_id, change)
    if version is not None and version != rule.version:
        raise changed_meanwhile()
    moves = moves_jobs({name: getattr(rule, name) for name in values}, values)
    if not moves and not also_coming:
        return Impact()
    return impact_of(
        session,
        as_if(rule, **values),
        now=now,
        moves=moves,
        also_coming=also_coming,
        was=rule,
    )


def impact_of_planning(session: Session, rule_id: UUID, *, now: datetime) -> Impact:
    """Return what planning a rule for the calendar would make.

    Raises:
        NotFound: the session sees no such rule.
        Conflict: it was deleted.
    """
    rule = session.get(Rule, rule_id)
    if rule is None:
        raise NotFound("unknown_rule", say("There is no such rule."))
    refuse_deleted(rule)
    return impact_of(session, rule, now=now, moves=False, also_coming=True, was=rule)
