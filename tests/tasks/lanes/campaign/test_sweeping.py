"""A sweep of ``campaign``: failures hold up no other, twice is once, much is cheap."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from uuid import UUID

from sqlalchemy import Engine, text

from tasks import daily
from tasks.lanes.campaign import backlog
from tasks.models import Campaign, CampaignState, Measure
from tests.support import factories, territory_rows
from tests.support.counted import counted
from tests.support.factories import NOW
from tests.support.statements import statements
from tests.support.territory_rows import TODAY
from tests.tasks.lanes.campaign.conftest import (
    DAY,
    Begin,
    Sessions,
    add_campaign,
    add_work,
    state_of,
    sweep_after,
    work_of,
)


def test_one_that_fails_is_told_and_holds_up_no_other(
    begin: Begin, make_session: Sessions, engine: Engine, tenant: UUID
) -> None:
    with begin() as session:
        sick = factories.congregation(session, "sick", timezone="Europe/Paris")
    bad = add_campaign(begin, sick, name="boom")
    good = add_campaign(begin, tenant)
    with _refusing_to_start(engine, "boom"):
        swept = sweep_after(make_session)
        assert (swept.activated, swept.failed) == ((good,), (sick,))
        assert "boom" in swept.trouble
        assert state_of(make_session, bad) is CampaignState.SCHEDULED
        with begin() as session:
            (row,) = daily.troubles(session, sick)
            assert "boom" in row.error
            assert "UPDATE" not in row.error
            assert daily.troubles(session, tenant) == []
            assert backlog(session, NOW).n_due == 1
        assert sweep_after(make_session, timedelta(minutes=30)).failed == ()
    found = counted(make_session, "campaign")
    assert (found[Measure.SUCCEEDED], found[Measure.RETRIED]) == (1, 1)
    assert found[Measure.WAIT + 17] == 1, "since midnight, within a day"
    assert sweep_after(make_session, timedelta(hours=1)).activated == (bad,)
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
    id_ = add_campaign(begin, tenant)
    with ThreadPoolExecutor(2) as pool:
        swept = list(pool.map(lambda _: sweep_after(make_session), range(2)))
    assert sorted(each.activated for each in swept) == [(), (id_,)]
    assert [each.failed for each in swept] == [(), ()]


def test_a_pair_that_the_database_refuses_holds_up_no_other(
    begin: Begin,
    make_session: Sessions,
    engine: Engine,
    tenant: UUID,
    people: list[UUID],
    grounds: list[UUID],
) -> None:
    id_ = add_campaign(begin, tenant, reassigns=True)
    for who, ground in zip(people, grounds, strict=True):
        add_work(begin, tenant, who, ground)
    with _refusing_work(engine, people[1]):
        assert sweep_after(make_session).failed == ()
    given = {each.member_id for each in work_of(make_session, id_)}
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
        add_campaign(
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
            assert len(sweep_after(make_session, after).activated) == 1
        return len(seen)

    # The second one also ends the first one before it starts.
    assert cost(60, 5 * DAY) - cost(3, 10 * DAY) <= 2
