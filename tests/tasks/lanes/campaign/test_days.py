"""On whose day a campaign starts and ends, and what becomes of days that nobody saw."""

from __future__ import annotations

from datetime import datetime, timedelta
from uuid import UUID

from tasks.models import CampaignState, StartAction
from tests.support import factories, territory_rows
from tests.support.factories import NOW
from tests.support.territory_rows import TODAY
from tests.tasks.lanes.campaign.conftest import (
    DAY,
    Begin,
    Sessions,
    add_campaign,
    add_work,
    get_work,
    state_of,
    sweep_after,
    work_of,
)


def test_what_nobody_saw_is_missed_and_touches_nothing(
    begin: Begin,
    make_session: Sessions,
    tenant: UUID,
    people: list[UUID],
    grounds: list[UUID],
) -> None:
    id_ = add_campaign(begin, tenant, start_action=StartAction.CLOSE)
    work = add_work(begin, tenant, people[0], grounds[0])
    assert sweep_after(make_session, 10 * DAY).missed == (id_,)
    assert state_of(make_session, id_) is CampaignState.MISSED
    assert get_work(make_session, work).ended_on is None
    assert sweep_after(make_session, 10 * DAY).missed == ()


def test_of_two_that_follow_upon_each_other_the_second_pauses_what_the_first_resumed(
    begin: Begin,
    make_session: Sessions,
    tenant: UUID,
    people: list[UUID],
    grounds: list[UUID],
) -> None:
    first = add_campaign(begin, tenant)
    starts = {"starts_on": TODAY + 10 * DAY, "ends_on": TODAY + 19 * DAY}
    second = add_campaign(begin, tenant, name="Summer", **starts)
    work = add_work(begin, tenant, people[0], grounds[0])
    sweep_after(make_session)
    with begin() as session:  # kept paused by hand: no campaign is to touch it
        kept = territory_rows.attribution(
            session, tenant, people[1], grounds[1], paused_on=TODAY
        )
    moved = sweep_after(make_session, 10 * DAY)
    assert (moved.ended, moved.activated) == ((first,), (second,))
    row = get_work(make_session, work)
    assert (row.paused_by_id, row.paused_on) == (second, TODAY + 10 * DAY)
    assert row.due_on == TODAY + 40 * DAY
    sweep_after(make_session, 20 * DAY)
    assert get_work(make_session, work).due_on == TODAY + 50 * DAY
    assert get_work(make_session, kept).paused_on == TODAY


def test_a_late_end_shifts_by_the_days_that_were_really_paused(
    begin: Begin,
    make_session: Sessions,
    tenant: UUID,
    people: list[UUID],
    grounds: list[UUID],
) -> None:
    id_ = add_campaign(begin, tenant, reassigns=True)
    work = add_work(begin, tenant, people[0], grounds[0])
    sweep_after(make_session, 4 * DAY)  # the worker was down on the first days
    sweep_after(make_session, 14 * DAY)  # … and on the day after the last
    assert get_work(make_session, work).due_on == TODAY + 40 * DAY
    assert [each.ended_on for each in work_of(make_session, id_)] == [TODAY + 9 * DAY]


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
        swept = sweep_after(make_session, timedelta(hours=hours))
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
