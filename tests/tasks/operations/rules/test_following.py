"""The jobs of a rule follow its edits."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from uuid import UUID

from tasks.db import Begin
from tasks.models import JobState, Podcast, Reason
from tasks.operations.rules import disable_rule
from tests.support import factories
from tests.tasks.operations.rules.conftest import (
    ACTOR,
    MAIL,
    REMINDER,
    create,
    edit,
    jobs_of,
)


def test_a_changed_offset_moves_the_jobs(begin: Begin, of: UUID) -> None:
    with begin() as session:
        factories.booking(session, of)
        rule = create(session, of, REMINDER, also_coming=True)
        saved = edit(session, rule, replace(REMINDER, offset_value=2))

        assert (saved.replanned.n_cancelled, saved.replanned.n_created) == (1, 1)
        (old,) = jobs_of(session, rule, JobState.SUPERSEDED)
        assert old.reason is Reason.RULE_CHANGED
        (new,) = jobs_of(session, rule, JobState.PENDING)
        assert new.due_at == factories.NOW + timedelta(days=2, hours=-2)
        assert new.rule_version == 2


def test_an_edit_plans_nothing_for_bookings_without_a_job(
    begin: Begin, of: UUID
) -> None:
    with begin() as session:
        rule = create(session, of, REMINDER)
        factories.booking(session, of)
        edit(session, rule, replace(REMINDER, offset_value=2))
        assert jobs_of(session, rule, JobState.PENDING) == []

        edit(session, rule, replace(REMINDER, offset_value=3), also_coming=True)
        assert len(jobs_of(session, rule, JobState.PENDING)) == 1


def test_a_changed_text_leaves_the_jobs_alone(begin: Begin, of: UUID) -> None:
    with begin() as session:
        factories.booking(session, of)
        rule = create(session, of, REMINDER, also_coming=True)
        changed = replace(REMINDER, settings={**REMINDER.settings, "text": "Soon."})
        saved = edit(session, rule, changed)

        assert saved.replanned.n_cancelled == 0
        assert len(jobs_of(session, rule, JobState.PENDING)) == 1


def test_a_rule_moved_to_another_podcast_ends_its_jobs(begin: Begin, of: UUID) -> None:
    with begin() as session:
        session.add(Podcast(congregation_id=of, id="other", title="Other"))
        factories.booking(session, of)
        rule = create(session, of, REMINDER, also_coming=True)
        edit(session, rule, replace(REMINDER, podcast_ids=("other",)))

        assert jobs_of(session, rule, JobState.PENDING) == []
        assert len(jobs_of(session, rule, JobState.SUPERSEDED)) == 1


def test_another_date_to_count_from_is_read_from_the_record(
    begin: Begin, of: UUID
) -> None:
    confirmed = replace(REMINDER, trigger_type="time.after_booking", offset_value=2)
    with begin() as session:
        factories.booking(session, of)
        rule = create(session, of, REMINDER, also_coming=True)
        edit(session, rule, confirmed)

        (job,) = jobs_of(session, rule, JobState.PENDING)
        assert job.due_at == factories.NOW + timedelta(hours=2)


def test_a_rule_that_waits_for_an_event_now_ends_its_jobs(
    begin: Begin, of: UUID
) -> None:
    with begin() as session:
        factories.booking(session, of)
        rule = create(session, of, REMINDER, also_coming=True)
        saved = edit(session, rule, MAIL)

        assert saved.replanned.n_cancelled == 1
        assert jobs_of(session, rule, JobState.PENDING) == []


def test_a_rule_that_is_off_moves_its_jobs_too(begin: Begin, of: UUID) -> None:
    with begin() as session:
        factories.booking(session, of)
        rule = create(session, of, REMINDER, also_coming=True)
        disable_rule(session, rule.id, ACTOR, now=factories.NOW)
        edit(session, rule, replace(REMINDER, offset_value=2))

        (job,) = jobs_of(session, rule, JobState.PENDING)
        assert job.due_at == factories.NOW + timedelta(days=2, hours=-2)
        assert not rule.enabled
