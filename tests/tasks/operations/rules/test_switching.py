"""A rule is switched off and on, and deleted; what waits is told and kept or ended."""

from __future__ import annotations

from datetime import datetime
from uuid import UUID

import pytest
from sqlalchemy import select

from tasks.db import Begin
from tasks.errors import Conflict, NotFound
from tasks.models import Execution, ExecutionState, JobState, Reason, new_id
from tasks.operations.rules import count_pending, delete_rule, disable_rule, enable_rule
from tests.support import factories
from tests.tasks.operations.rules.conftest import (
    ACTOR,
    MAIL,
    REMINDER,
    audited,
    create,
    edit,
    jobs_of,
)


def test_disabling_keeps_what_is_pending(begin: Begin, of: UUID) -> None:
    with begin() as session:
        factories.booking(session, of)
        rule = create(session, of, REMINDER, also_coming=True)

        assert disable_rule(session, rule.id, ACTOR, now=factories.NOW).changed
        assert not disable_rule(session, rule.id, ACTOR, now=factories.NOW).changed
        assert not rule.enabled
        assert len(jobs_of(session, rule, JobState.PENDING)) == 1
        assert audited(session) == ["rule.created", "rule.disabled"]


def test_enabling_plans_only_when_asked(begin: Begin, of: UUID) -> None:
    now = factories.NOW
    with begin() as session:
        rule = create(session, of, REMINDER, enabled=False)
        factories.booking(session, of)
        enable_rule(session, rule.id, ACTOR, now=now)
        assert jobs_of(session, rule, JobState.PENDING) == []

        saved = enable_rule(session, rule.id, ACTOR, now=now, also_coming=True)
        assert not saved.changed
        assert saved.replanned.n_created == 1
        again = enable_rule(session, rule.id, ACTOR, now=now, also_coming=True)
        assert again.replanned.n_created == 0


def test_deleting_cancels_what_waits_and_keeps_the_history(
    begin: Begin, of: UUID
) -> None:
    with begin() as session:
        factories.booking(session, of)
        rule = create(session, of, REMINDER, also_coming=True)
        other = create(session, of, REMINDER, also_coming=True)
        waiting = factories.execution(session, rule)
        running = factories.execution(session, rule, state=ExecutionState.RUNNING)
        done = factories.execution(session, rule, state=ExecutionState.SUCCEEDED)
        gone = delete_rule(session, rule.id, ACTOR, now=factories.NOW)
        session.expire_all()

        assert (gone.n_jobs, gone.n_executions) == (1, 1)
        assert (waiting.state, waiting.reason) == (
            ExecutionState.CANCELLED,
            Reason.RULE_DELETED,
        )
        assert running.state is ExecutionState.RUNNING
        assert done.state is ExecutionState.SUCCEEDED
        (job,) = jobs_of(session, rule, JobState.CANCELLED)
        assert (job.reason, job.settled_at) == (Reason.RULE_DELETED, factories.NOW)
        assert len(jobs_of(session, other, JobState.PENDING)) == 1
        assert rule.deleted_at == factories.NOW
        assert not rule.enabled


def test_a_deleted_rule_cannot_be_changed(begin: Begin, of: UUID) -> None:
    now: datetime = factories.NOW
    with begin() as session:
        rule = create(session, of, MAIL)
        delete_rule(session, rule.id, ACTOR, now=now)
        for verb in (
            lambda: delete_rule(session, rule.id, ACTOR, now=now),
            lambda: enable_rule(session, rule.id, ACTOR, now=now),
            lambda: disable_rule(session, rule.id, ACTOR, now=now),
            lambda: edit(session, rule, MAIL),
        ):
            with pytest.raises(Conflict):
                verb()


def test_an_unknown_rule_is_not_found(begin: Begin, of: UUID) -> None:
    with begin() as session, pytest.raises(NotFound):
        disable_rule(session, new_id(), ACTOR, now=factories.NOW)


def test_what_is_pending_is_counted(begin: Begin, of: UUID) -> None:
    with begin() as session:
        rule = factories.rule(session, of)
        factories.execution(session, rule)
        factories.execution(session, rule, state=ExecutionState.FAILED)
        factories.job(session, rule)

        assert count_pending(session, rule.id) == (1, 1)
        assert len(session.scalars(select(Execution)).all()) == 2
