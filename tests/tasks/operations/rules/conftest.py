"""Rules as an operator says them, and short verbs to write and read them."""

from __future__ import annotations

from dataclasses import replace
from typing import Any
from uuid import UUID

import pytest
from sqlalchemy import select
from sqlalchemy.orm import Session

from tasks.db import Begin
from tasks.models import AuditEntry, JobState, OffsetUnit, Rule, ScheduledJob
from tasks.operations.audit import Actor
from tasks.operations.rules import RuleChange, create_rule, edit_rule
from tasks.secrets import SecretBox
from tests.support import factories

ACTOR = Actor("ada@example.org", "127.0.0.1")
BOX = SecretBox("0123456789abcdef0123456789abcdef")
MAIL = RuleChange(
    name="Welcome",
    trigger_type="booking.confirmed",
    action="email",
    settings={
        "recipient": "guest",
        "subject": "Hello {{ guest.name }}",
        "text": "See you.",
        "html": "",
    },
)
HOOK = replace(MAIL, action="webhook", settings={"url": "https://example.org/hook"})
REMINDER = replace(
    MAIL,
    name="Reminder",
    trigger_type="time.before_recording",
    offset_value=24,
    offset_unit=OffsetUnit.HOURS,
)


@pytest.fixture
def of(begin: Begin) -> UUID:
    """Return the id of a congregation with the podcast ``show``."""
    with begin() as session:
        return factories.congregation(session)


def create(session: Session, of: UUID, change: RuleChange, **values: Any) -> Rule:
    now = values.pop("now", factories.NOW)
    return create_rule(session, of, change, ACTOR, BOX, now=now, **values).rule


def edit(session: Session, rule: Rule, change: RuleChange, **values: Any) -> Any:
    values.setdefault("now", factories.NOW)
    return edit_rule(session, rule.id, change, ACTOR, BOX, **values)


def jobs_of(session: Session, rule: Rule, state: JobState) -> list[ScheduledJob]:
    found = session.scalars(
        select(ScheduledJob).where(
            ScheduledJob.rule_id == rule.id, ScheduledJob.state == state
        )
    )
    return sorted(found, key=lambda job: job.due_at)


def audited(session: Session) -> list[str]:
    return list(session.scalars(select(AuditEntry.action).order_by(AuditEntry.id)))
