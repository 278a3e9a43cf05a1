"""What start and end of a campaign do to the work on its territories."""

from __future__ import annotations

from datetime import date, timedelta
from uuid import UUID

import pytest
from sqlalchemy import select

from tasks.models import (
    Account,
    AuditEntry,
    Campaign,
    EndAction,
    Event,
    Method,
    StartAction,
)
from tasks.models.notification import Notification
from tests.support import factories, territory_rows
from tests.support.territory_rows import TODAY
from tests.tasks.lanes.campaign.conftest import (
    DAY,
    Begin,
    Sessions,
    add_campaign,
    add_work,
    get_work,
    sweep_after,
    work_of,
)


def test_work_is_paused_on_the_first_day_and_goes_on_after_the_last(
    begin: Begin,
    make_session: Sessions,
    tenant: UUID,
    people: list[UUID],
    grounds: list[UUID],
) -> None:
    id_ = add_campaign(begin, tenant)
    work = add_work(begin, tenant, people[0], grounds[0])
    assert sweep_after(make_session).activated == (id_,)
    paused = get_work(make_session, work)
    assert (paused.paused_on, paused.paused_by_id) == (TODAY, id_)
    assert sweep_after(make_session, 9 * DAY).ended == ()  # the last day belongs to it
    assert sweep_after(make_session, 10 * DAY).ended == (id_,)
    resumed = get_work(make_session, work)
    assert (resumed.paused_on, resumed.paused_by_id) == (None, None)
    assert resumed.ended_on is None
    assert resumed.due_on == TODAY + timedelta(days=30 + 10)
    again = sweep_after(make_session, 10 * DAY)
    assert again.ended == again.activated == again.failed == ()


def test_it_tells_rules_and_the_audit_log(
    begin: Begin,
    make_session: Sessions,
    tenant: UUID,
    people: list[UUID],
    grounds: list[UUID],
) -> None:
    id_ = add_campaign(begin, tenant)
    add_work(begin, tenant, people[0], grounds[0])
    for days in (0, 10):
        sweep_after(make_session, days * DAY)
    with begin() as session:
        events = session.scalars(select(Event.type).order_by(Event.id)).all()
        entries = session.scalars(select(AuditEntry).order_by(AuditEntry.id)).all()
        report = session.get_one(Campaign, id_).report
    assert events == ["campaign.activated", "campaign.ended"]
    assert [(e.action, e.actor) for e in entries] == [
        ("campaign.activated", "system"),
        ("campaign.ended", "system"),
    ]
    assert entries[0].summary == "The campaign “Spring” started: 1 paused."
    assert report["start"]["paused"] == report["end"]["resumed"] == 1


def test_paused_work_is_given_out_for_the_campaign_with_its_method(
    begin: Begin,
    make_session: Sessions,
    tenant: UUID,
    people: list[UUID],
    grounds: list[UUID],
) -> None:
    id_ = add_campaign(begin, tenant, reassigns=True)
    add_work(begin, tenant, people[0], grounds[0], method=Method.PHONE)
    add_work(begin, tenant, people[1], grounds[1])
    with begin() as session:
        gone = territory_rows.member(session, tenant, left_on=TODAY)
        idle = territory_rows.member(session, tenant, inactive_on=TODAY - DAY)
    add_work(begin, tenant, gone, grounds[2])
    add_work(begin, tenant, idle, grounds[2])
    add_work(begin, tenant, people[1], grounds[1], campaign_id=id_)
    sweep_after(make_session)
    had, given = work_of(make_session, id_)
    assert (given.member_id, given.method) == (people[0], Method.PHONE)
    assert (given.started_on, given.due_on) == (TODAY, TODAY + 9 * DAY)
    with begin() as session:
        report = session.get_one(Campaign, id_).report["start"]
    assert report["paused"] == 4
    assert (report["reassigned"], report["had_it"]) == (1, 1)
    told = {(each["member_id"], each["why"]) for each in report["refused"]}
    assert told == {(str(gone), "left"), (str(idle), "inactive")}
    sweep_after(make_session, 10 * DAY)
    ended = [each.ended_on for each in work_of(make_session, id_)]
    assert ended == [TODAY + 9 * DAY] * 2
    assert had.ended_on is None  # as it was read before


@pytest.mark.parametrize(
    ("action", "paused", "ended"),
    [
        (EndAction.KEEP_PAUSED, TODAY, None),
        (EndAction.CLOSE, None, TODAY + 9 * DAY),
    ],
)
def test_the_end_may_keep_work_paused_or_close_it(
    begin: Begin,
    make_session: Sessions,
    tenant: UUID,
    people: list[UUID],
    grounds: list[UUID],
    action: EndAction,
    paused: date | None,
    ended: date | None,
) -> None:
    id_ = add_campaign(begin, tenant, end_action=action, closes_work=False)
    work = add_work(begin, tenant, people[0], grounds[0])
    own = add_work(begin, tenant, people[0], grounds[0], campaign_id=id_)
    sweep_after(make_session)
    sweep_after(make_session, 10 * DAY)
    row = get_work(make_session, work)
    assert (row.paused_on, row.ended_on) == (paused, ended)
    assert row.paused_by_id == (id_ if paused else None)
    assert row.due_on == TODAY + timedelta(days=30)
    assert get_work(make_session, own).ended_on is None


def test_the_start_may_close_work_or_leave_it_and_minds_its_scope(
    begin: Begin,
    make_session: Sessions,
    tenant: UUID,
    people: list[UUID],
    grounds: list[UUID],
) -> None:
    with begin() as session:
        other = factories.congregation(session, "other", timezone="Europe/Paris")
    add_campaign(begin, tenant, start_action=StartAction.CLOSE, scope=grounds[:2])
    add_campaign(begin, other, start_action=StartAction.LEAVE)
    with begin() as session:
        their = territory_rows.member(session, other)
        ground = territory_rows.territory(session, other)
    plain = add_work(begin, tenant, people[0], grounds[0])
    by_hand = add_work(begin, tenant, people[1], grounds[1], paused_on=TODAY - DAY)
    outside = add_work(begin, tenant, people[2], grounds[2])
    left = add_work(begin, other, their, ground)
    sweep_after(make_session)
    assert get_work(make_session, plain).ended_on == TODAY
    closed = get_work(make_session, by_hand)
    assert (closed.ended_on, closed.paused_on) == (TODAY, None)
    assert get_work(make_session, outside).ended_on is None
    untouched = get_work(make_session, left)
    assert (untouched.ended_on, untouched.paused_on) == (None, None)


def test_work_that_would_begin_during_it_begins_the_day_after(
    begin: Begin,
    make_session: Sessions,
    tenant: UUID,
    people: list[UUID],
    grounds: list[UUID],
) -> None:
    add_campaign(begin, tenant)
    planned = {"started_on": TODAY + 3 * DAY, "due_on": TODAY + 43 * DAY}
    during = add_work(begin, tenant, people[0], grounds[0], **planned)
    later = {"started_on": TODAY + 10 * DAY, "due_on": TODAY + 43 * DAY}
    after = add_work(begin, tenant, people[1], grounds[1], **later)
    sweep_after(make_session)
    row = get_work(make_session, during)
    assert (row.started_on, row.due_on) == (TODAY + 10 * DAY, TODAY + 50 * DAY)
    assert row.paused_on is None
    assert get_work(make_session, after).due_on == later["due_on"]


def test_those_who_hold_the_work_are_told(
    begin: Begin,
    make_session: Sessions,
    tenant: UUID,
    people: list[UUID],
    grounds: list[UUID],
) -> None:
    add_campaign(begin, tenant, reassigns=True)
    add_work(begin, tenant, people[0], grounds[0])
    add_work(begin, tenant, people[1], grounds[1])  # has no account: nobody to tell
    with begin() as session:
        session.add(
            Account(congregation_id=tenant, email="n@example.org", member_id=people[0])
        )
    sweep_after(make_session)
    with begin() as session:
        told = session.scalars(select(Notification).order_by(Notification.type)).all()
        assert [row.type for row in told] == ["territory.given", "territory.paused"]
        assert told[1].payload == {"campaign": "Spring"}
    sweep_after(make_session, 10 * DAY)
    with begin() as session:
        types = session.scalars(
            select(Notification.type).order_by(Notification.type)
        ).all()
    assert types == [
        "territory.closed",
        "territory.given",
        "territory.paused",
        "territory.resumed",
    ]
