"""What an operator is told before saving a rule is what the saving then does."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import Any
from uuid import UUID

import pytest
from sqlalchemy import func, select
from sqlalchemy.orm import Session

from tasks.automation import impact as impacts
from tasks.automation.impact import Impact
from tasks.db import Begin
from tasks.errors import Conflict, NotFound
from tasks.models import (
    AuditEntry,
    BookingStatus,
    Episode,
    EpisodeStatus,
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
from tasks.operations.rule_fields import RuleChange
from tasks.operations.rule_impact import (
    impact_of_edit,
    impact_of_new,
    impact_of_planning,
)
from tasks.operations.rules import create_rule, delete_rule, edit_rule, enable_rule
from tasks.secrets import SecretBox
from tests.support import factories
from tests.support.factories import NOW

ACTOR = Actor("ada@example.org")
BOX = SecretBox("0123456789abcdef0123456789abcdef")
REMINDER = RuleChange(
    name="Reminder",
    trigger_type="time.before_recording",
    action="email",
    settings={"recipient": "host", "subject": "Soon", "text": "Soon.", "html": ""},
    offset_value=24,
    offset_unit=OffsetUnit.HOURS,
)


def house(session: Session) -> UUID:
    """Add bookings in 1, 2, 5 and 9 days, one declined, and an episode's recording."""
    tenant = factories.congregation(session)
    session.add(Podcast(congregation_id=tenant, id="other", title="Other"))
    session.flush()
    for days in (1, 2, 5, 9):
        podcast = "other" if days == 9 else "show"
        start = NOW + timedelta(days=days)
        factories.booking(
            session, tenant, id=f"b{days}", podcast_id=podcast, start_time=start
        )
    no = {"status": BookingStatus.DECLINED, "confirmed_at": None}
    factories.booking(session, tenant, id="no", **no)
    session.add(
        Episode(
            congregation_id=tenant,
            id="e1",
            podcast_id="show",
            title="Bells",
            status=EpisodeStatus.SCHEDULED,
            recording_at=NOW + timedelta(days=4),
            scheduled_for=NOW + timedelta(days=20),
        )
    )
    session.flush()
    return tenant


def planned(session: Session, of: UUID, change: RuleChange = REMINDER) -> Rule:
    return create_rule(session, of, change, ACTOR, BOX, now=NOW, also_coming=True).rule


def pending(session: Session, rule: Rule) -> dict[tuple[str | None, str | None], Any]:
    jobs = session.scalars(
        select(ScheduledJob)
        .where(ScheduledJob.rule_id == rule.id, ScheduledJob.state == JobState.PENDING)
        .execution_options(populate_existing=True)
    )
    return {(job.booking_id, job.episode_id): job.run_at for job in jobs}


def told(impact: Impact) -> dict[str, Any]:
    """Return what was foretold, in the shape of ``done``."""
    fates = {"created": impact.created, "moved": impact.moved, "ended": impact.ended}
    return {
        kind: {(f.ids.booking_id, f.ids.episode_id): (f.before, f.after) for f in found}
        for kind, found in fates.items()
    } | {"n_kept": impact.n_kept}


def done(before: dict[Any, Any], after: dict[Any, Any]) -> dict[str, Any]:
    both = before.keys() & after.keys()
    return {
        "created": {k: (None, after[k]) for k in after.keys() - both},
        "moved": {k: (before[k], after[k]) for k in both if before[k] != after[k]},
        "ended": {k: (before[k], None) for k in before.keys() - both},
        "n_kept": sum(before[k] == after[k] for k in both),
    }


@pytest.mark.parametrize("also_coming", [False, True])
@pytest.mark.parametrize(
    "changes",
    [
        {"offset_value": 2},
        {"offset_value": 72},
        {"offset_value": 72, "late_policy": LatePolicy.SEND_NOW},
        {"offset_value": 1, "offset_unit": OffsetUnit.DAYS},
        {"podcast_ids": ("other",)},
        {"podcast_ids": ("other", "show")},
        {"trigger_type": "time.after_recording"},
        {"trigger_type": "time.before_publish"},
        {"trigger_type": "time.after_booking"},
        {"trigger_type": "booking.confirmed"},
    ],
)
def test_the_saving_does_what_was_foretold(
    begin: Begin, changes: dict[str, Any], also_coming: bool
) -> None:
    with begin() as session:
        rule = planned(session, house(session))
    change = replace(REMINDER, **changes)
    asked = {"now": NOW + timedelta(hours=3), "also_coming": also_coming}
    with begin() as session:
        before = pending(session, rule)
        foretold = impact_of_edit(session, rule.id, change, **asked)
    with begin() as session:
        edit_rule(session, rule.id, change, ACTOR, BOX, **asked)
        assert told(foretold) == done(before, pending(session, rule))


def test_another_name_moves_nothing(begin: Begin) -> None:
    with begin() as session:
        rule = planned(session, house(session))
        other = replace(REMINDER, name="Other")
        both = impact_of_edit(session, rule.id, other, now=NOW, also_coming=True)
        assert not both.is_any


def test_foretelling_writes_nothing(begin: Begin) -> None:
    with begin() as session:
        rule = planned(session, house(session))
    with begin() as session:
        count = select(func.count())
        tables = (ScheduledJob, AuditEntry)
        before = [session.scalar(count.select_from(table)) for table in tables]
        moved = impact_of_edit(
            session, rule.id, replace(REMINDER, offset_value=2), now=NOW
        )
        assert moved.is_any
        assert before == [session.scalar(count.select_from(table)) for table in tables]
        assert session.get_one(Rule, rule.id).offset_value == 24


def test_a_new_rule_tells_what_it_would_plan(begin: Begin) -> None:
    with begin() as session:
        of = house(session)
        foretold = impact_of_new(session, of, REMINDER, now=NOW, also_coming=True)
        rule = planned(session, of)
        assert told(foretold) == done({}, pending(session, rule))
        assert len(foretold.created) == 4  # that of tomorrow is due at this moment
        silent = impact_of_new(session, of, REMINDER, now=NOW, also_coming=False)
        assert not silent.is_any


def test_planning_for_the_calendar_is_foretold(begin: Begin) -> None:
    with begin() as session:
        rule = create_rule(
            session, house(session), REMINDER, ACTOR, BOX, now=NOW, enabled=False
        ).rule
        foretold = impact_of_planning(session, rule.id, now=NOW)
        enable_rule(session, rule.id, ACTOR, now=NOW, also_coming=True)
        assert told(foretold) == done({}, pending(session, rule))
        again = impact_of_planning(session, rule.id, now=NOW)
        assert not again.is_any


def test_a_rule_that_is_off_tells_the_same(begin: Begin) -> None:
    with begin() as session:
        rule = planned(session, house(session))
        rule.enabled = False
        session.flush()
        change = replace(REMINDER, offset_value=2)
        before = pending(session, rule)
        foretold = impact_of_edit(session, rule.id, change, now=NOW)
        edit_rule(session, rule.id, change, ACTOR, BOX, now=NOW)
        assert told(foretold) == done(before, pending(session, rule))
        assert foretold.moved


def test_what_ends_says_why(begin: Begin) -> None:
    with begin() as session:
        rule = planned(session, house(session))
        late = impact_of_edit(
            session, rule.id, replace(REMINDER, offset_value=72), now=NOW
        )
        assert {fate.reason for fate in late.ended} == {Reason.OFFSET_IN_PAST}
        away = replace(REMINDER, podcast_ids=("other",))
        moved = impact_of_edit(session, rule.id, away, now=NOW)
        assert {fate.reason for fate in moved.ended} == {Reason.OUT_OF_SCOPE}


def test_the_soonest_come_first(begin: Begin) -> None:
    with begin() as session:
        rule = planned(session, house(session))
        moved = impact_of_edit(
            session, rule.id, replace(REMINDER, offset_value=2), now=NOW
        )
        befores = [fate.before for fate in moved.moved]
        assert befores == sorted(befores)


def test_looking_stops_somewhere(begin: Begin, monkeypatch: pytest.MonkeyPatch) -> None:
    with begin() as session:
        rule = planned(session, house(session))
        monkeypatch.setattr(impacts, "LOOKED_AT_MAX", 2)
        moved = impact_of_edit(
            session, rule.id, replace(REMINDER, offset_value=2), now=NOW
        )
        assert moved.is_capped
        assert len(moved.moved) == 2


def test_who_looked_at_another_version_is_told_so(begin: Begin) -> None:
    with begin() as session:
        rule = planned(session, house(session))
        with pytest.raises(Conflict, match="Somebody else changed"):
            impact_of_edit(session, rule.id, REMINDER, now=NOW, version=7)
        delete_rule(session, rule.id, ACTOR, now=NOW)
        with pytest.raises(Conflict, match="was deleted"):
            impact_of_edit(session, rule.id, REMINDER, now=NOW)
        with pytest.raises(Conflict, match="was deleted"):
            impact_of_planning(session, rule.id, now=NOW)
        for ask in (
            impact_of_planning,
            lambda s, i, now: impact_of_edit(s, i, REMINDER, now=now),
        ):
            with pytest.raises(NotFound):
                ask(session, new_id(), now=NOW)
