"""Rules are written with everything checked, and their jobs follow them."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

import pytest
from sqlalchemy import select
from sqlalchemy.orm import Session, sessionmaker

from tasks.db import Begin
from tasks.errors import Conflict, InvalidInput, NotFound
from tasks.models import (
    AuditEntry,
    Booking,
    BookingStatus,
    Execution,
    ExecutionState,
    JobState,
    LatePolicy,
    OffsetUnit,
    Podcast,
    Reason,
    Rule,
    ScheduledJob,
    new_id,
)
from tasks.operations.audit import Actor
from tasks.operations.rules import (
    InvalidRule,
    RuleChange,
    count_pending,
    create_rule,
    delete_rule,
    disable_rule,
    edit_rule,
    enable_rule,
    rotate_secret,
)
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


def test_a_rule_is_created_as_the_operator_said(begin: Begin, of: UUID) -> None:
    with begin() as session:
        rule = create(
            session, of, replace(MAIL, name="  Welcome ", podcast_ids=("show",))
        )

        assert (rule.name, rule.podcast_ids, rule.version) == ("Welcome", ["show"], 1)
        assert rule.enabled
        assert rule.secret is None
        assert audited(session) == ["rule.created"]


def test_what_does_not_count_for_a_trigger_is_not_kept(begin: Begin, of: UUID) -> None:
    odd = replace(MAIL, offset_value=7, late_policy=LatePolicy.SEND_NOW)
    with begin() as session:
        rule = create(session, of, odd)

        assert (rule.offset_value, rule.late_policy) == (0, LatePolicy.SKIP)


@pytest.mark.parametrize(
    ("field", "change"),
    [
        ("name", replace(MAIL, name="  ")),
        ("name", replace(MAIL, name="x" * 121)),
        ("name", replace(MAIL, name="two\nlines")),
        ("trigger_type", replace(MAIL, trigger_type="booking.exploded")),
        ("action", replace(MAIL, action="fax")),
        ("podcast_ids", replace(MAIL, podcast_ids=("elsewhere",))),
        ("offset_value", replace(REMINDER, offset_value=-1)),
        ("offset_value", replace(REMINDER, offset_value=10**30)),
        (
            "offset_value",
            replace(REMINDER, offset_value=3653, offset_unit=OffsetUnit.DAYS),
        ),
        ("max_attempts", replace(MAIL, max_attempts=0)),
        ("max_attempts", replace(MAIL, max_attempts=21)),
        ("text", replace(MAIL, settings={**MAIL.settings, "text": "{{ guest.nmae }}"})),
        ("subject", replace(MAIL, settings={**MAIL.settings, "subject": ""})),
        (
            "address",
            replace(
                MAIL,
                settings={**MAIL.settings, "recipient": "fixed", "address": "nobody"},
            ),
        ),
        ("recipient", replace(MAIL, settings={**MAIL.settings, "recipient": "all"})),
        ("url", replace(HOOK, settings={"url": "ftp://example.org"})),
        ("url", replace(HOOK, settings={})),
    ],
)
def test_a_wrong_field_is_named(
    begin: Begin, of: UUID, field: str, change: RuleChange
) -> None:
    with begin() as session:
        with pytest.raises(InvalidRule) as refused:
            create(session, of, change)

        assert set(refused.value.problems) == {field}
        assert len(refused.value.problems[field]) > 10
        assert session.scalars(select(Rule)).all() == []


def test_all_that_is_wrong_is_said_at_once(begin: Begin, of: UUID) -> None:
    bad = replace(
        REMINDER, name="", offset_value=-1, podcast_ids=("x",), max_attempts=99
    )
    with begin() as session, pytest.raises(InvalidRule) as refused:
        create(session, of, bad)

    assert set(refused.value.problems) == {
        "name",
        "offset_value",
        "podcast_ids",
        "max_attempts",
    }


def test_the_longest_offset_is_ten_years(begin: Begin, of: UUID) -> None:
    longest = replace(REMINDER, offset_value=3652, offset_unit=OffsetUnit.DAYS)
    with begin() as session:
        assert create(session, of, longest).offset_value == 3652


def test_a_rule_needs_a_congregation_that_exists(begin: Begin, of: UUID) -> None:
    with begin() as session, pytest.raises(NotFound):
        create(session, new_id(), MAIL)


def test_a_form_that_is_sent_twice_makes_one_rule(begin: Begin, of: UUID) -> None:
    chosen = new_id()
    with begin() as session:
        create(session, of, MAIL, rule_id=chosen)
    with begin() as session:
        with pytest.raises(Conflict):
            create(session, of, MAIL, rule_id=chosen)
        assert len(session.scalars(select(Rule)).all()) == 1


def test_a_webhook_rule_gets_a_secret_that_is_kept_sealed(
    begin: Begin, of: UUID
) -> None:
    with begin() as session:
        saved = create_rule(session, of, HOOK, ACTOR, BOX, now=factories.NOW)

        assert saved.secret is not None
        assert saved.secret.startswith("whsec_")
        assert saved.rule.secret is not None
        assert saved.secret not in saved.rule.secret
        assert BOX.unseal(saved.rule.secret) == saved.secret
        entry = session.scalars(select(AuditEntry)).one()
        assert saved.secret not in f"{entry.after} {entry.summary}"


def test_rotating_replaces_the_secret(begin: Begin, of: UUID) -> None:
    with begin() as session:
        rule = create(session, of, HOOK)
        before = rule.secret
        saved = rotate_secret(session, rule.id, ACTOR, BOX)

        assert saved.secret is not None
        assert rule.secret not in {None, before}
        assert BOX.unseal(str(rule.secret)) == saved.secret
        assert audited(session)[-1] == "rule.secret_rotated"


def test_a_mail_rule_has_no_secret_to_rotate(begin: Begin, of: UUID) -> None:
    with begin() as session:
        rule = create(session, of, MAIL)
        with pytest.raises(InvalidInput) as refused:
            rotate_secret(session, rule.id, ACTOR, BOX)
    assert refused.value.code == "no_secret"


def test_an_edit_makes_a_new_version(begin: Begin, of: UUID) -> None:
    with begin() as session:
        rule = create(session, of, MAIL)
        saved = edit(session, rule, replace(MAIL, name="Hello"), version=1)

        assert saved.changed
        assert (rule.name, rule.version) == ("Hello", 2)
        entry = session.scalars(
            select(AuditEntry).filter_by(action="rule.edited")
        ).one()
        assert entry.before is not None
        assert entry.after is not None
        assert (entry.before["name"], entry.after["name"]) == ("Welcome", "Hello")


def test_an_edit_that_changes_nothing_leaves_the_version(
    begin: Begin, of: UUID
) -> None:
    with begin() as session:
        rule = create(session, of, MAIL)
        saved = edit(session, rule, MAIL)

        assert not saved.changed
        assert rule.version == 1
        assert audited(session) == ["rule.created"]


def test_two_operators_do_not_overwrite_each_other(begin: Begin, of: UUID) -> None:
    with begin() as session:
        rule = create(session, of, MAIL)
        edit(session, rule, replace(MAIL, name="First"), version=1)
        with pytest.raises(Conflict) as refused:
            edit(session, rule, replace(MAIL, name="Second"), version=1)

        assert refused.value.code == "changed_meanwhile"
        assert rule.name == "First"


@pytest.mark.parametrize("engine", ["postgresql"], indirect=True)  # SQLite waits
def test_who_read_the_rule_before_the_other_saved_does_not_overwrite_it(
    make_session: sessionmaker[Session],
) -> None:
    with make_session.begin() as session:
        rule_id = create(session, factories.congregation(session, "race"), MAIL).id
    with pytest.raises(Conflict), make_session.begin() as slow:  # noqa: PT012
        seen = slow.get_one(Rule, rule_id)
        with make_session.begin() as quick:
            edit(quick, seen, replace(MAIL, name="Quick"), version=1)
        assert seen.version == 1  # what this session still believes
        edit(slow, seen, replace(MAIL, name="Slow"), version=1)
    with make_session() as session:
        assert session.get_one(Rule, rule_id).name == "Quick"


def test_a_mail_rule_that_becomes_a_webhook_gets_its_secret(
    begin: Begin, of: UUID
) -> None:
    with begin() as session:
        rule = create(session, of, MAIL)

        assert edit(session, rule, HOOK).secret is not None
        assert edit(session, rule, replace(HOOK, name="Same")).secret is None


def test_a_new_time_rule_plans_nothing_unless_asked(begin: Begin, of: UUID) -> None:
    with begin() as session:
        factories.booking(session, of)
        assert jobs_of(session, create(session, of, REMINDER), JobState.PENDING) == []

        asked = create(session, of, REMINDER, also_coming=True)
        (job,) = jobs_of(session, asked, JobState.PENDING)
        assert job.due_at == factories.NOW + timedelta(days=1)
        assert job.booking_id == "b1"


def test_planning_what_comes_leaves_the_past_alone(begin: Begin, of: UUID) -> None:
    now = factories.NOW
    with begin() as session:
        factories.booking(session, of, id="over", start_time=now - timedelta(hours=3))
        factories.booking(session, of, id="soon", start_time=now + timedelta(hours=3))
        factories.booking(
            session,
            of,
            id="unsure",
            start_time=now + timedelta(days=3),
            status=BookingStatus.REQUESTED,
        )
        send = replace(REMINDER, late_policy=LatePolicy.SEND_NOW)
        after = replace(REMINDER, trigger_type="time.after_recording", offset_value=1)
        rules = [create(session, of, each, also_coming=True) for each in (send, after)]

        assert [jobs_of(session, rule, JobState.PENDING) for rule in rules[:1]] == [[]]
        (thanks,) = jobs_of(session, rules[1], JobState.PENDING)
        assert thanks.booking_id == "soon"


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


def test_many_coming_bookings_are_planned(begin: Begin, of: UUID) -> None:
    with begin() as session:
        for number in range(501):
            start = factories.NOW + timedelta(days=2, minutes=number)
            session.add(
                Booking(
                    congregation_id=of,
                    id=f"b{number}",
                    podcast_id="show",
                    start_time=start,
                    status=BookingStatus.CONFIRMED,
                    confirmed_at=factories.NOW,
                )
            )
        rule = create(session, of, REMINDER, also_coming=True)
        assert count_pending(session, rule.id) == (501, 0)


def test_disabling_keeps_what_is_pending(begin: Begin, of: UUID) -> None:
    with begin() as session:
        factories.booking(session, of)
        rule = create(session, of, REMINDER, also_coming=True)

        assert disable_rule(session, rule.id, ACTOR, now=factories.NOW).changed
        assert not disable_rule(session, rule.id, ACTOR, now=factories.NOW).changed
        assert not rule.enabled
        assert len(jobs_of(session, rule, JobState.PENDING)) == 1
        assert audited(session) == ["rule.created", "rule.disabled"]


def test_a_rule_that_is_off_moves_its_jobs_too(begin: Begin, of: UUID) -> None:
    with begin() as session:
        factories.booking(session, of)
        rule = create(session, of, REMINDER, also_coming=True)
        disable_rule(session, rule.id, ACTOR, now=factories.NOW)
        edit(session, rule, replace(REMINDER, offset_value=2))

        (job,) = jobs_of(session, rule, JobState.PENDING)
        assert job.due_at == factories.NOW + timedelta(days=2, hours=-2)
        assert not rule.enabled


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
