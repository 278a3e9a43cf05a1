"""Who did what: written in the transaction of the deed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any
from uuid import UUID

from sqlalchemy.orm import Session

from tasks.models.access import AuditEntry

#: Keys whose values never reach the audit log.
_SECRET_KEYS = frozenset({"secret", "password", "token", "access_token", "digest"})
_SUMMARY_MAX = 500


@dataclass(frozen=True, slots=True)
class Actor:
    """Who acts: an operator's e-mail address, ``token:<name>`` or ``system``."""

    name: str
    ip: str | None = None


SYSTEM = Actor("system")


@dataclass(frozen=True, slots=True)
class Subject:
    """What is acted on: a noun of the console and its id."""

    kind: str  # "rule", "execution", "scheduled_job", "lane", "token" …
    id: str
    congregation_id: UUID | None = None  # None: it belongs to the installation


def record(
    session: Session,
    actor: Actor,
    action: str,
    subject: Subject,
    summary: str,
    *,
    before: dict[str, Any] | None = None,
    after: dict[str, Any] | None = None,
) -> None:
    """Add one audit entry; the caller commits it together with the deed.

    Args:
        action: noun.verb in the past tense, such as ``rule.created``.
        summary: a sentence for people; control characters become spaces.
        before: JSON values as they were; secrets are replaced by dots.
        after: JSON values as they are now, treated the same way.
    """
    session.add(
        AuditEntry(
            congregation_id=subject.congregation_id,
            actor=_one_line(actor.name)[:255],
            action=action,
            subject_kind=subject.kind,
            subject_id=subject.id,
            summary=_one_line(summary)[:_SUMMARY_MAX],
            before=_redacted(before),
            after=_redacted(after),
            ip=actor.ip,
        )
    )


def _one_line(text: str) -> str:
    return "".join(char if char.isprintable() else " " for char in text)


def _redacted(values: dict[str, Any] | None) -> dict[str, Any] | None:
    if values is None:
        return None
    return {
        key: "••••" if key in _SECRET_KEYS and value else value
        for key, value in values.items()
    }
