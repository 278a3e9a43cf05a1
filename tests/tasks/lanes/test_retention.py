"""The lane ``retention``: whose time has come, whose calendar says so, who stays."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from datetime import date, datetime, timedelta
from uuid import UUID

import pytest
from sqlalchemy import func, select, text, update
from sqlalchemy.orm import Session, sessionmaker

from tasks.congregation.retention.holding import hold
from tasks.lanes.retention import RetentionSweep, backlog, sweep
from tasks.models import (
    AuditEntry,
    BlockReason,
    DailyRun,
    Group,
    LaneTrigger,
    Measure,
    Member,
    RetentionBlock,
)
from tasks.models.notification import Notification
from tasks.registry import lane as find_lane
from tasks.runner import run_lane
from tests.support import factories, people_rows, territory_rows
from tests.support.counted import counted
from tests.support.factories import NOW
from tests.support.fakes import FakePost, bench
from tests.support.people_rows import CLERK
from tests.support.statements import statements

Begin = Callable[[], AbstractContextManager[Session]]
Sessions = sessionmaker[Session]
DAY = timedelta(days=1)
LONG_AGO = date(2025, 1, 1)


@pytest.fixture
def tenant(begin: Begin) -> UUID:
    with begin() as session:
        return factories.congregation(session, timezone="Europe/Paris")


def _sweep(
    make_session: Sessions, at: datetime = NOW, limit: int = 100
) -> RetentionSweep:
    return sweep(bench(make_session, lambda: at, FakePost()), limit)


def _left(begin: Begin, tenant: UUID, on: date, **values: object) -> UUID:
    with begin() as session:
        return people_rows.left(session, tenant, on, **values)


def _erased(begin: Begin) -> set[UUID]:
    with begin() as session:
        gone = select(Member.id).where(Member.anonymised_at.is_not(None))
        return set(session.scalars(gone))


def _three_am(day: date) -> datetime:
    return NOW.replace(year=day.year, month=day.month, day=day.day, hour=3)


def test_members_go_on_the_day_on_which_their_months_end(
    make_session: Sessions, begin: Begin, tenant: UUID
) -> None:
    due = {_left(begin, tenant, date(2025, 8, day)) for day in (28, 29, 30, 31)}
    later = _left(begin, tenant, date(2025, 9, 1))
    assert _sweep(make_session, _three_am(date(2026, 2, 27))).anonymised == ()
    assert set(_sweep(make_session, _three_am(date(2026, 2, 28))).anonymised) == due
    assert later not in _erased(begin)


def test_each_congregation_goes_by_its_own_calendar_and_months(
    make_session: Sessions, begin: Begin
) -> None:
    zones = ("Pacific/Noumea", "Europe/Paris", "America/Guadeloupe")
    people = {}
    with begin() as session:
        for zone in zones:
            of = factories.congregation(session, zone.lower()[:9], timezone=zone)
            people[zone] = people_rows.left(session, of, date(2025, 9, 11))
        short = factories.congregation(session, "short", retention_months=1)
        people["short"] = people_rows.left(session, short, date(2026, 2, 10))
    # At 12:00 UTC of 10 March it is the 11th in Nouméa only, from 13:00 on.
    swept = _sweep(make_session, NOW + timedelta(hours=1))
    assert set(swept.anonymised) == {people["Pacific/Noumea"], people["short"]}
    # At 03:00 UTC of the 11th it is still the 10th in Guadeloupe.
    swept = _sweep(make_session, _three_am(date(2026, 3, 11)))
    assert swept.anonymised == (people["Europe/Paris"],)
    swept = _sweep(make_session, _three_am(date(2026, 3, 12)))
    assert swept.anonymised == (people["America/Guadeloupe"],)


def test_it_runs_once_a_day_and_makes_up_for_missed_days_once(
    make_session: Sessions, begin: Begin, tenant: UUID
) -> None:
    assert _sweep(make_session).looked_over == (tenant,)
    first = _left(begin, tenant, LONG_AGO)
    assert _sweep(make_session, NOW + timedelta(hours=10)) == RetentionSweep()
    week_later = NOW + 7 * DAY  # the worker was down meanwhile
    assert _sweep(make_session, week_later).anonymised == (first,)
    assert _sweep(make_session, week_later + timedelta(minutes=5)) == RetentionSweep()


def test_sweep_now_does_not_wait_for_the_hour(
    make_session: Sessions, begin: Begin, tenant: UUID
) -> None:
    _sweep(make_session)
    member_id = _left(begin, tenant, LONG_AGO)
    at = NOW + timedelta(minutes=1)
    asked = bench(make_session, lambda: at, FakePost())
    assert run_lane(find_lane("retention"), asked, LaneTrigger.CLOCK) is not None
    assert _erased(begin) == set()
    ran = run_lane(find_lane("retention"), asked, LaneTrigger.OPERATOR)
    assert ran is not None
    assert ran.moved == {"anonymised": 1, "looked_over": 1}
    assert _erased(begin) == {member_id}


def test_who_leads_a_group_stays_on_the_list_until_somebody_takes_over(
    make_session: Sessions, begin: Begin, tenant: UUID
) -> None:
    head = _left(begin, tenant, LONG_AGO)
    with begin() as session:
        people_rows.responsible(session, tenant, "North", head)
        heir = territory_rows.member(session, tenant, first_name="Heir")
    assert _sweep(make_session).blocked == (head,)
    swept = _sweep(make_session, NOW + 2 * DAY)
    assert (swept.blocked, swept.released, swept.anonymised) == ((), (), ())
    with begin() as session:
        row = session.scalars(select(RetentionBlock)).one()
        assert (row.reason, row.first_seen_at) == (BlockReason.RESPONSIBLE, NOW)
        assert row.last_seen_at == NOW + 2 * DAY
        session.execute(update(Group).values(responsible_id=heir))
    swept = _sweep(make_session, NOW + 3 * DAY)
    assert (swept.released, swept.anonymised) == ((head,), (head,))
    with begin() as session:
        assert session.scalars(select(RetentionBlock)).all() == []


def test_administrators_hear_of_it_two_weeks_before_and_of_blocks_every_week(
    make_session: Sessions, begin: Begin, tenant: UUID
) -> None:
    soon = _left(begin, tenant, NOW.date() + 14 * DAY - timedelta(days=181))
    head = _left(begin, tenant, LONG_AGO)
    with begin() as session:
        people_rows.responsible(session, tenant, "North", head)
    assert _sweep(make_session).noticed == (soon,)
    for day in range(1, 9):
        assert _sweep(make_session, NOW + day * DAY).noticed == ()
    with begin() as session:
        told = session.execute(
            select(Notification.type, Notification.entity_id, Notification.n_merged)
        ).all()
        assert {tuple(each) for each in told} == {
            ("retention.notice", str(soon), 1),
            ("retention.blocked", str(head), 2),  # told twice in nine days
        }
        payload = session.scalar(
            select(Notification.payload).where(Notification.entity_id == str(soon))
        )
        assert payload == {"on": (NOW.date() + 14 * DAY).isoformat()}


def test_a_hold_keeps_somebody_through_its_last_day_and_is_announced_anew(
    make_session: Sessions, begin: Begin, tenant: UUID
) -> None:
    held = _left(begin, tenant, LONG_AGO)
    until = NOW.date() + 20 * DAY
    with begin() as session:
        hold(session, held, until, "Court case", CLERK, now=NOW)
    assert _sweep(make_session) == RetentionSweep(looked_over=(tenant,))
    assert _sweep(make_session, NOW + 7 * DAY).noticed == (held,)
    assert _sweep(make_session, NOW + 20 * DAY).anonymised == ()
    assert _sweep(make_session, NOW + 21 * DAY).anonymised == (held,)


def test_one_that_cannot_be_erased_holds_up_nobody_and_is_tried_again_tomorrow(
    make_session: Sessions, begin: Begin, tenant: UUID
) -> None:
    with begin() as session:
        ids = [people_rows.left(session, tenant, LONG_AGO) for _ in range(5)]
    refused = ("UPDATE OF first_name", "members", "OLD.id", ids[2])
    with _Refusing(begin, *refused):
        swept = _sweep(make_session)
        assert (set(swept.anonymised), swept.not_erased) == (
            {*ids} - {ids[2]},
            (ids[2],),
        )
        # At noon, nine hours after the lane's own.
        assert counted(make_session, "retention") == {
            Measure.SUCCEEDED: 4,
            Measure.RETRIED: 1,
            Measure.WAIT + 17: 5,
        }
        with begin() as session:
            row = session.scalars(select(RetentionBlock)).one()
            assert (row.member_id, row.reason) == (ids[2], BlockReason.FAILED)
            assert "not this one" in row.detail
            assert "Noémie" not in row.detail
        assert _sweep(make_session, NOW + DAY).not_erased == (ids[2],)
    assert _sweep(make_session, NOW + 2 * DAY).anonymised == (ids[2],)
    with begin() as session:
        assert session.scalars(select(RetentionBlock)).all() == []


class _Refusing:
    """Let the database refuse something about one row, as a fault of it would."""

    def __init__(
        self, begin: Begin, what: str, table: str, key: str, value: UUID
    ) -> None:
        self._begin, self._table = begin, table
        self._what = f"{what} ON {table}"
        self._key, self._value = key, value

    def __enter__(self) -> None:
        with self._begin() as session:
            for statement in self._made(_is_postgres(session)):
                session.execute(text(statement))

    def __exit__(self, *_: object) -> None:
        with self._begin() as session:
            on = f" ON {self._table}" if _is_postgres(session) else ""
            session.execute(text(f"DROP TRIGGER refuses{on}"))

    def _made(self, is_postgres: bool) -> list[str]:
        begins = f"CREATE TRIGGER refuses BEFORE {self._what} FOR EACH ROW"
        if not is_postgres:
            when = f"WHEN {self._key} = '{self._value.hex}'"
            act = "BEGIN SELECT RAISE(ABORT, 'not this one'); END"
            return [f"{begins} {when} {act}"]
        return [
            "CREATE OR REPLACE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS "
            "$$ BEGIN RAISE EXCEPTION 'not this one'; END $$",
            f"{begins} WHEN ({self._key} = '{self._value}') EXECUTE FUNCTION refuse()",
        ]


def _is_postgres(session: Session) -> bool:
    return session.get_bind().dialect.name == "postgresql"


def test_a_failing_congregation_stands_beside_healthy_ones(
    make_session: Sessions, begin: Begin, tenant: UUID
) -> None:
    with begin() as session:
        broken = factories.congregation(session, "broken")
        people_rows.left(session, broken, LONG_AGO)
    healthy = _left(begin, tenant, LONG_AGO)
    told = ("INSERT", "audit_entries", "NEW.congregation_id", broken)
    with _Refusing(begin, *told):
        swept = _sweep(make_session)
    assert (swept.anonymised, swept.failed) == ((healthy,), (broken,))
    assert str(broken) in swept.trouble
    assert counted(make_session, "retention")[Measure.RETRIED] == 1
    assert _erased(begin) == {healthy}
    assert _sweep(make_session, NOW + timedelta(minutes=5)) == RetentionSweep()
    assert len(_sweep(make_session, NOW + timedelta(hours=1)).anonymised) == 1


def test_many_are_erased_in_pieces_and_each_piece_is_told_once(
    make_session: Sessions, begin: Begin, tenant: UUID
) -> None:
    with begin() as session:
        ids = {people_rows.left(session, tenant, LONG_AGO) for _ in range(7)}
    one = _sweep(make_session, limit=3)
    assert (len(one.anonymised), one.looked_over, one.is_full) == (3, (), True)
    two = _sweep(make_session, limit=5)
    assert (len(two.anonymised), two.looked_over, two.is_full) == (4, (tenant,), False)
    assert {*one.anonymised, *two.anonymised} == ids
    with begin() as session:
        told = session.scalars(
            select(AuditEntry.summary).where(AuditEntry.action == "retention.swept")
        ).all()
        assert sorted(told) == [
            "Members who left: 3 anonymised.",
            "Members who left: 4 anonymised.",
        ]


def test_many_cost_no_more_statements_than_a_few(
    make_session: Sessions, begin: Begin
) -> None:
    """What is in memory is one piece, and a piece is a fixed number of statements."""
    counted = []
    for n_members in (5, 100):
        with begin() as session:
            of = factories.congregation(session, f"with-{n_members}")
            for _ in range(n_members):
                people_rows.left(session, of, LONG_AGO)
        with statements() as seen:
            assert len(_sweep(make_session).anonymised) == n_members
        counted.append(len(seen))
    few, many = counted
    assert many <= few + 10  # events come in batches of their own


def test_what_a_dead_worker_left_is_done_by_the_next(
    make_session: Sessions, begin: Begin, tenant: UUID
) -> None:
    """A sweep that stops half way has not marked the congregation as done."""
    with begin() as session:
        for _ in range(4):
            people_rows.left(session, tenant, LONG_AGO)
    _sweep(make_session, limit=2)  # and then the worker is gone
    with begin() as session:
        assert session.scalars(select(DailyRun)).all() == []
    assert len(_sweep(make_session).anonymised) == 2


def test_a_run_that_is_late_counts_as_waiting(
    make_session: Sessions, begin: Begin, tenant: UUID
) -> None:
    _sweep(make_session)
    with begin() as session:
        assert backlog(session, NOW + DAY).n_due == 0
        late = backlog(session, NOW + 2 * DAY)
        assert (late.n_due, late.oldest_due_at) == (1, NOW + DAY)
        assert session.scalar(select(func.count()).select_from(DailyRun)) == 1
