"""The lane ``campaign``: what starts and ends, on whose day, and what it does."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager
from datetime import date, datetime, timedelta
from typing import Any
from uuid import UUID

import pytest
from sqlalchemy import Engine, select, text
from sqlalchemy.orm import Session, sessionmaker

from tasks import daily
from tasks.lanes.campaign import CampaignSweep, backlog, sweep
from tasks.models import (
    Account,
    Attribution,
    AuditEntry,
    Campaign,
    CampaignState,
    CampaignTerritory,
    EndAction,
    Event,
    Measure,
    Method,
    StartAction,
)
from tasks.models.notification import Notification
from tests.support import factories, territory_rows
from tests.support.counted import counted
from tests.support.factories import NOW
from tests.support.fakes import FakePost, bench
from tests.support.statements import statements
from tests.support.territory_rows import TODAY

Begin = Callable[[], AbstractContextManager[Session]]
Sessions = sessionmaker[Session]
DAY = timedelta(days=1)


@pytest.fixture
def tenant(begin: Begin) -> UUID:
    with begin() as session:
        return factories.congregation(session, timezone="Europe/Paris")


@pytest.fixture
def people(begin: Begin, tenant: UUID) -> list[UUID]:
    with begin() as session:
        return [territory_rows.member(session, tenant) for _ in range(3)]


@pytest.fixture
def grounds(begin: Begin, tenant: UUID) -> list[UUID]:
    with begin() as session:
        return [territory_rows.territory(session, tenant, n) for n in "123"]


def _sweep(make_session: Sessions, after: timedelta = timedelta()) -> CampaignSweep:
    return sweep(bench(make_session, lambda: NOW + after, FakePost()), 100)


def _campaign(begin: Begin, tenant: UUID, **values: Any) -> UUID:
    scope = values.pop("scope", ())
    with begin() as session:
        id_ = territory_rows.campaign(session, tenant, **values)
        for each in scope:
            session.add(
                CampaignTerritory(
                    congregation_id=tenant, campaign_id=id_, territory_id=each
                )
            )
    return id_


def _work(begin: Begin, tenant: UUID, *ids: UUID, **values: Any) -> UUID:
    with begin() as session:
        return territory_rows.attribution(session, tenant, *ids, **values)


def _get(make_session: Sessions, id_: UUID) -> Attribution:
    with make_session() as session:
        return session.get_one(Attribution, id_)


def _of(make_session: Sessions, campaign_id: UUID) -> list[Attribution]:
    with make_session() as session:
        return list(
            session.scalars(
                select(Attribution)
                .where(Attribution.campaign_id == campaign_id)
                .order_by(Attribution.id)
            )
        )


def _state(make_session: Sessions, id_: UUID) -> CampaignState:
    with make_session() as session:
        return session.get_one(Campaign, id_).state


def test_work_is_paused_on_the_first_day_and_goes_on_after_the_last(
    begin: Begin,
    make_session: Sessions,
    tenant: UUID,
    people: list[UUID],
    grounds: list[UUID],
) -> None:
    id_ = _campaign(begin, tenant)
    work = _work(begin, tenant, people[0], grounds[0])
    assert _sweep(make_session).activated == (id_,)
    paused = _get(make_session, work)
    assert (paused.paused_on, paused.paused_by_id) == (TODAY, id_)
    assert _sweep(make_session, 9 * DAY).ended == ()  # the last day belongs to it
    assert _sweep(make_session, 10 * DAY).ended == (id_,)
    resumed = _get(make_session, work)
    assert (resumed.paused_on, resumed.paused_by_id) == (None, None)
    assert resumed.ended_on is None
    assert resumed.due_on == TODAY + timedelta(days=30 + 10)
    again = _sweep(make_session, 10 * DAY)
    assert again.ended == again.activated == again.failed == ()


def test_it_tells_rules_and_the_audit_log(
    begin: Begin,
    make_session: Sessions,
    tenant: UUID,
    people: list[UUID],
    grounds: list[UUID],
) -> None:
    id_ = _campaign(begin, tenant)
    _work(begin, tenant, people[0], grounds[0])
    for days in (0, 10):
        _sweep(make_session, days * DAY)
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
    id_ = _campaign(begin, tenant, reassigns=True)
    _work(begin, tenant, people[0], grounds[0], method=Method.PHONE)
    _work(begin, tenant, people[1], grounds[1])
    with begin() as session:
        gone = territory_rows.member(session, tenant, left_on=TODAY)
        idle = territory_rows.member(session, tenant, inactive_on=TODAY - DAY)
    _work(begin, tenant, gone, grounds[2])
    _work(begin, tenant, idle, grounds[2])
    _work(begin, tenant, people[1], grounds[1], campaign_id=id_)
    _sweep(make_session)
    had, given = _of(make_session, id_)
    assert (given.member_id, given.method) == (people[0], Method.PHONE)
    assert (given.started_on, given.due_on) == (TODAY, TODAY + 9 * DAY)
    with begin() as session:
        report = session.get_one(Campaign, id_).report["start"]
    assert report["paused"] == 4
    assert (report["reassigned"], report["had_it"]) == (1, 1)
    told = {(each["member_id"], each["why"]) for each in report["refused"]}
    assert told == {(str(gone), "left"), (str(idle), "inactive")}
    _sweep(make_session, 10 * DAY)
    ended = [each.ended_on for each in _of(make_session, id_)]
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
    id_ = _campaign(begin, tenant, end_action=action, closes_work=False)
    work = _work(begin, tenant, people[0], grounds[0])
    own = _work(begin, tenant, people[0], grounds[0], campaign_id=id_)
    _sweep(make_session)
    _sweep(make_session, 10 * DAY)
    row = _get(make_session, work)
    assert (row.paused_on, row.ended_on) == (paused, ended)
    assert row.paused_by_id == (id_ if paused else None)
    assert row.due_on == TODAY + timedelta(days=30)
    assert _get(make_session, own).ended_on is None


def test_the_start_may_close_work_or_leave_it_and_minds_its_scope(
    begin: Begin,
    make_session: Sessions,
    tenant: UUID,
    people: list[UUID],
    grounds: list[UUID],
) -> None:
    with begin() as session:
        other = factories.congregation(session, "other", timezone="Europe/Paris")
    _campaign(begin, tenant, start_action=StartAction.CLOSE, scope=grounds[:2])
    _campaign(begin, other, start_action=StartAction.LEAVE)
    with begin() as session:
        their = territory_rows.member(session, other)
        ground = territory_rows.territory(session, other)
    plain = _work(begin, tenant, people[0], grounds[0])
    by_hand = _work(begin, tenant, people[1], grounds[1], paused_on=TODAY - DAY)
    outside = _work(begin, tenant, people[2], grounds[2])
    left = _work(begin, other, their, ground)
    _sweep(make_session)
    assert _get(make_session, plain).ended_on == TODAY
    closed = _get(make_session, by_hand)
    assert (closed.ended_on, closed.paused_on) == (TODAY, None)
    assert _get(make_session, outside).ended_on is None
    untouched = _get(make_session, left)
    assert (untouched.ended_on, untouched.paused_on) == (None, None)


def test_work_that_would_begin_during_it_begins_the_day_after(
    begin: Begin,
    make_session: Sessions,
    tenant: UUID,
    people: list[UUID],
    grounds: list[UUID],
) -> None:
    _campaign(begin, tenant)
    planned = {"started_on": TODAY + 3 * DAY, "due_on": TODAY + 43 * DAY}
    during = _work(begin, tenant, people[0], grounds[0], **planned)
    later = {"started_on": TODAY + 10 * DAY, "due_on": TODAY + 43 * DAY}
    after = _work(begin, tenant, people[1], grounds[1], **later)
    _sweep(make_session)
    row = _get(make_session, during)
    assert (row.started_on, row.due_on) == (TODAY + 10 * DAY, TODAY + 50 * DAY)
    assert row.paused_on is None
    assert _get(make_session, after).due_on == later["due_on"]


def test_what_nobody_saw_is_missed_and_touches_nothing(
    begin: Begin,
    make_session: Sessions,
    tenant: UUID,
    people: list[UUID],
    grounds: list[UUID],
) -> None:
    id_ = _campaign(begin, tenant, start_action=StartAction.CLOSE)
    work = _work(begin, tenant, people[0], grounds[0])
    assert _sweep(make_session, 10 * DAY).missed == (id_,)
    assert _state(make_session, id_) is CampaignState.MISSED
    assert _get(make_session, work).ended_on is None
    assert _sweep(make_session, 10 * DAY).missed == ()


def test_of_two_that_follow_upon_each_other_the_second_pauses_what_the_first_resumed(
    begin: Begin,
    make_session: Sessions,
    tenant: UUID,
    people: list[UUID],
    grounds: list[UUID],
) -> None:
    first = _campaign(begin, tenant)
    starts = {"starts_on": TODAY + 10 * DAY, "ends_on": TODAY + 19 * DAY}
    second = _campaign(begin, tenant, name="Summer", **starts)
    work = _work(begin, tenant, people[0], grounds[0])
    _sweep(make_session)
    with begin() as session:  # kept paused by hand: no campaign is to touch it
        kept = territory_rows.attribution(
            session, tenant, people[1], grounds[1], paused_on=TODAY
        )
    moved = _sweep(make_session, 10 * DAY)
    assert (moved.ended, moved.activated) == ((first,), (second,))
    row = _get(make_session, work)
    assert (row.paused_by_id, row.paused_on) == (second, TODAY + 10 * DAY)
    assert row.due_on == TODAY + 40 * DAY
    _sweep(make_session, 20 * DAY)
    assert _get(make_session, work).due_on == TODAY + 50 * DAY
    assert _get(make_session, kept).paused_on == TODAY


def test_a_late_end_shifts_by_the_days_that_were_really_paused(
    begin: Begin,
    make_session: Sessions,
    tenant: UUID,
    people: list[UUID],
    grounds: list[UUID],
) -> None:
    id_ = _campaign(begin, tenant, reassigns=True)
    work = _work(begin, tenant, people[0], grounds[0])
    _sweep(make_session, 4 * DAY)  # the worker was down on the first days
    _sweep(make_session, 14 * DAY)  # … and on the day after the last
    assert _get(make_session, work).due_on == TODAY + 40 * DAY
    assert [each.ended_on for each in _of(make_session, id_)] == [TODAY + 9 * DAY]


def test_each_congregation_flips_after_its_own_midnight(
    begin: Begin, make_session: Sessions
) -> None:
    zones = ("Pacific/Noumea", "Europe/Paris", "America/Guadeloupe")
    with begin() as session:
        ids = {
            zone: territory_rows.campaign(
                session,
                factories.congregation(session, f"c{n}", timezone=zone),
                starts_on=TODAY + DAY,
                ends_on=TODAY + DAY,
            )
            for n, zone in enumerate(zones)
        }
    flips: dict[UUID, list[datetime]] = {id_: [] for id_ in ids.values()}
    for hours in range(72):
        swept = _sweep(make_session, timedelta(hours=hours))
        for id_ in (*swept.activated, *swept.ended):
            flips[id_].append(NOW + timedelta(hours=hours))
    midnight = NOW.replace(hour=0) + DAY
    offsets = dict(zip(zones, (-11, -1, 4), strict=True))
    assert flips == {
        ids[zone]: [
            # The clock of the test began at noon, an hour before Nouméa's midnight.
            midnight + timedelta(hours=offsets[zone]),
            midnight + timedelta(hours=offsets[zone]) + DAY,
        ]
        for zone in zones
    }


def test_one_that_fails_is_told_and_holds_up_no_other(
    begin: Begin, make_session: Sessions, engine: Engine, tenant: UUID
) -> None:
    with begin() as session:
        sick = factories.congregation(session, "sick", timezone="Europe/Paris")
    bad = _campaign(begin, sick, name="boom")
    good = _campaign(begin, tenant)
    with _refusing_to_start(engine, "boom"):
        swept = _sweep(make_session)
        assert (swept.activated, swept.failed) == ((good,), (sick,))
        assert "boom" in swept.trouble
        assert _state(make_session, bad) is CampaignState.SCHEDULED
        with begin() as session:
            (row,) = daily.troubles(session, sick)
            assert "boom" in row.error
            assert "UPDATE" not in row.error
            assert daily.troubles(session, tenant) == []
            assert backlog(session, NOW).n_due == 1
        assert _sweep(make_session, timedelta(minutes=30)).failed == ()
    found = counted(make_session, "campaign")
    assert (found[Measure.SUCCEEDED], found[Measure.RETRIED]) == (1, 1)
    assert found[Measure.WAIT + 17] == 1, "since midnight, within a day"
    assert _sweep(make_session, timedelta(hours=1)).activated == (bad,)
    with begin() as session:
        assert daily.troubles(session, sick) == []


class _refusing_to_start:  # noqa: N801  # a context manager, read as words
    """Let the database refuse to activate the campaign of that name."""

    def __init__(self, engine: Engine, name: str) -> None:
        self._engine = engine
        is_postgres = engine.dialect.name == "postgresql"
        self._make = (
            "ALTER TABLE campaigns ADD CONSTRAINT boom CHECK "
            f"(name <> '{name}' OR activated_at IS NULL)"
            if is_postgres
            else "CREATE TRIGGER boom BEFORE UPDATE ON campaigns WHEN "
            f"NEW.name = '{name}' BEGIN SELECT RAISE(ABORT, 'boom'); END"
        )
        self._drop = (
            "ALTER TABLE campaigns DROP CONSTRAINT boom"
            if is_postgres
            else "DROP TRIGGER boom"
        )

    def __enter__(self) -> None:
        self._run(self._make)

    def __exit__(self, *_: object) -> None:
        self._run(self._drop)

    def _run(self, statement: str) -> None:
        with self._engine.begin() as connection:
            connection.execute(text(statement))


def test_two_sweeps_at_once_start_a_campaign_once(
    begin: Begin, make_session: Sessions, tenant: UUID
) -> None:
    id_ = _campaign(begin, tenant)
    with ThreadPoolExecutor(2) as pool:
        swept = list(pool.map(lambda _: _sweep(make_session), range(2)))
    assert sorted(each.activated for each in swept) == [(), (id_,)]
    assert [each.failed for each in swept] == [(), ()]


def test_those_who_hold_the_work_are_told(
    begin: Begin,
    make_session: Sessions,
    tenant: UUID,
    people: list[UUID],
    grounds: list[UUID],
) -> None:
    _campaign(begin, tenant, reassigns=True)
    _work(begin, tenant, people[0], grounds[0])
    _work(begin, tenant, people[1], grounds[1])  # has no account: nobody to tell
    with begin() as session:
        session.add(
            Account(congregation_id=tenant, email="n@example.org", member_id=people[0])
        )
    _sweep(make_session)
    with begin() as session:
        told = session.scalars(select(Notification).order_by(Notification.type)).all()
        assert [row.type for row in told] == ["territory.given", "territory.paused"]
        assert told[1].payload == {"campaign": "Spring"}
    _sweep(make_session, 10 * DAY)
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


def test_a_pair_that_the_database_refuses_holds_up_no_other(
    begin: Begin,
    make_session: Sessions,
    engine: Engine,
    tenant: UUID,
    people: list[UUID],
    grounds: list[UUID],
) -> None:
    id_ = _campaign(begin, tenant, reassigns=True)
    for who, ground in zip(people, grounds, strict=True):
        _work(begin, tenant, who, ground)
    with _refusing_work(engine, people[1]):
        assert _sweep(make_session).failed == ()
    given = {each.member_id for each in _of(make_session, id_)}
    assert given == {people[0], people[2]}
    with begin() as session:
        report = session.get_one(Campaign, id_).report["start"]
    assert (report["reassigned"], report["not_reassigned"]) == (2, 1)
    assert report["refused"] == [
        {
            "member_id": str(people[1]),
            "territory_id": str(grounds[1]),
            "why": "refused",
        }
    ]


class _refusing_work(_refusing_to_start):  # noqa: N801  # a context manager, as above
    """Let the database refuse work of a campaign to one member."""

    def __init__(self, engine: Engine, member_id: UUID) -> None:
        self._engine = engine
        is_postgres = engine.dialect.name == "postgresql"
        self._make = (
            "ALTER TABLE attributions ADD CONSTRAINT boom CHECK "
            f"(member_id <> '{member_id}' OR campaign_id IS NULL)"
            if is_postgres
            else "CREATE TRIGGER boom BEFORE INSERT ON attributions WHEN "
            f"NEW.member_id = '{member_id.hex}' "
            "BEGIN SELECT RAISE(ABORT, 'boom'); END"
        )
        self._drop = (
            "ALTER TABLE attributions DROP CONSTRAINT boom"
            if is_postgres
            else "DROP TRIGGER boom"
        )


def test_more_work_costs_no_more_statements(
    begin: Begin, make_session: Sessions, tenant: UUID
) -> None:
    def cost(n: int, after: timedelta) -> int:
        starts = TODAY + after
        _campaign(
            begin,
            tenant,
            name=f"{n}",
            starts_on=starts,
            ends_on=starts,
            reassigns=True,
        )
        with begin() as session:
            who = territory_rows.member(session, tenant)
            for number in range(n):
                ground = territory_rows.territory(session, tenant, f"{n}-{number}")
                territory_rows.attribution(session, tenant, who, ground)
        with statements() as seen:
            assert len(_sweep(make_session, after).activated) == 1
        return len(seen)

    # The second one also ends the first one before it starts.
    assert cost(60, 5 * DAY) - cost(3, 10 * DAY) <= 2
