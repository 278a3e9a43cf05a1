"""The versions of a rule: every saving keeps one, and each can be brought back."""

from __future__ import annotations

from datetime import datetime
from uuid import UUID

from sqlalchemy import select
from sqlalchemy.orm import Session

from tasks.errors import NotFound
from tasks.models import Rule, RuleVersion
from tasks.operations.audit import Actor
from tasks.operations.rule_documents import change_of, document_of
from tasks.operations.rule_fields import RuleChange
from tasks.saying import say

_ACTOR_MAX = 255


def keep_version(
    session: Session, rule: Rule, actor: Actor, verb: str, now: datetime
) -> None:
    """Keep a rule as it has just been written, under its version.

    Args:
        verb: how it came about: ``created``, ``edited``, ``restored`` or ``imported``.
    """
    session.add(
        RuleVersion(
            congregation_id=rule.congregation_id,
            rule_id=rule.id,
            version=rule.version,
            created_at=now,
            actor=actor.name[:_ACTOR_MAX],
            verb=verb,
            document=document_of(rule),
        )
    )


def find_version(session: Session, rule_id: UUID, version: int) -> RuleVersion:
    """Return one version of a rule.

    Raises:
        NotFound: the session sees no such rule, or it never had that version.
    """
    found = None
    if 1 <= version < 2**31:  # what the column can hold
        found = session.scalar(
            select(RuleVersion).where(
                RuleVersion.rule_id == rule_id, RuleVersion.version == version
            )
        )
    if found is None:
        told = say("The rule has no version %(n)s.", n=str(version))
        raise NotFound("unknown_version", told)
    return found


def said_in(version: RuleVersion) -> RuleChange:
    """Return what a version says, as a change that brings it back.

    What is not kept in versions, the rule's secrets, stays as it is today.
    """
    return change_of(version.document)
