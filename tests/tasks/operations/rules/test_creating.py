"""A rule is created as it was said, with everything checked."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from uuid import UUID

import pytest
from sqlalchemy import select

from tasks.db import Begin
from tasks.errors import Conflict, NotFound
from tasks.models import (
    Booking,
    BookingStatus,
    JobState,
    LatePolicy,
    OffsetUnit,
    Rule,
    new_id,
)
from tasks.operations.rules import InvalidRule, RuleChange, count_pending
from tests.support import factories
from tests.tasks.operations.rules.conftest import (
    HOOK,
    MAIL,
    REMINDER,
    audited,
    create,
    jobs_of,
)


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
