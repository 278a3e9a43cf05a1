"""Daily caps: exact, in the congregation's day, and nobody is forgotten."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import date, datetime, timedelta
from uuid import UUID

import pytest
from sqlalchemy import func, select
from sqlalchemy.orm import Session, sessionmaker

from tasks.errors import InvalidInput, NotFound
from tasks.lanes import janitor
from tasks.lanes.contact_due import ContactDueSweep
from tasks.models import (
    AuditEntry,
    Congregation,
    Engagement,
    Event,
    EventData,
    OutreachCampaign,
    OutreachTally,
    WaitsFor,
    WakeState,
)
from tasks.operations.audit import SYSTEM
from tasks.outreach import agents, deeds
from tasks.outreach.campaigns import (
    cap_agent,
    cap_contacts,
    find_campaign,
    remove_campaign,
    save_campaign,
)
from tasks.outreach.looking import get_engagement
from tests.support import factories
from tests.support.factories import NOW
from tests.support.fakes import FakePost, bench
from tests.support.outreach import AGENT, engagement, enrolling, sweep_due
from tests.support.statements import statements

Sessions = sessionmaker[Session]
PARIS_MIDNIGHT = datetime.fromisoformat("2026-03-11T00:00+01:00")
MINUTE = timedelta(minutes=1)


@pytest.fixture
def tenant(make_session: Sessions) -> UUID:
    with make_session.begin() as session:
        return factories.congregation(session, timezone="Europe/Paris")


@pytest.fixture
def add(make_session: Sessions, tenant: UUID) -> Callable[..., UUID]:
    return enrolling(make_session, tenant)


def _cap(make_session: Sessions, tenant: UUID, cap: int | None) -> None:
    with make_session.begin() as session:
        save_campaign(session, tenant, "Spring", cap, SYSTEM, now=NOW)


def _n_events(make_session: Sessions) -> int:
    with make_session() as session:
        return session.scalar(select(func.count()).select_from(Event)) or 0


def test_a_campaign_wakes_so_many_a_day_and_the_rest_comes_on_the_next_ones(
    make_session: Sessions, tenant: UUID, add: Callable[..., UUID]
) -> None:
    _cap(make_session, tenant, 2)
    ids = [
        add(
            f"g{n}@example.org",
            campaign="Spring",
            next_action_at=NOW - n * MINUTE,
        )
        for n in range(5)
    ]
    other = add("max@example.org", campaign="Autumn")
    done = sweep_due(make_session)
    oldest = ids[::-1]
    assert set(done.announced) == {other, *oldest[:2]}
    assert set(done.waiting) == set(oldest[2:])
    with make_session() as session:
        row = session.get_one(Engagement, oldest[2])
        assert row.waits_for is WaitsFor.CAMPAIGN_CAP
        assert row.wake_at == PARIS_MIDNIGHT
        tally = session.scalars(select(OutreachTally)).one()
        assert (tally.day, tally.n) == (date(2026, 3, 10), 2)
    assert sweep_due(make_session, PARIS_MIDNIGHT - MINUTE) == ContactDueSweep()
    newer = add("z@example.org", campaign="Spring", next_action_at=PARIS_MIDNIGHT)
    morning = sweep_due(make_session, PARIS_MIDNIGHT)
    assert set(morning.announced) == set(oldest[2:4])  # the newer one takes no place
    third = sweep_due(make_session, PARIS_MIDNIGHT + timedelta(days=1))
    assert set(third.announced) == {oldest[4], newer}
    with make_session() as session:
        assert set(session.scalars(select(Engagement.waits_for))) == {None}
        told = session.scalars(select(EventData.data)).all()
    assert {each["engagement"]["campaign"] for each in told} == {"Spring", "Autumn"}


def test_a_day_is_the_congregations_own(
    make_session: Sessions, tenant: UUID, add: Callable[..., UUID]
) -> None:
    with make_session.begin() as session:
        far = factories.congregation(session, "far", timezone="Pacific/Auckland")
        for of in (tenant, far):
            save_campaign(session, of, "Spring", 1, SYSTEM, now=NOW)
    for of in (tenant, far):
        for n in range(2):
            add(f"g{n}@example.org", of=of, campaign="Spring")
    assert len(sweep_due(make_session).announced) == 2
    for midnight, of in (
        (PARIS_MIDNIGHT, tenant),
        (datetime.fromisoformat("2026-03-12T00:00+13:00"), far),
    ):
        assert sweep_due(make_session, midnight - MINUTE) == ContactDueSweep()
        (woken,) = sweep_due(make_session, midnight).announced
        with make_session() as session:
            assert session.get_one(Engagement, woken).congregation_id == of


def test_an_agent_and_a_contact_have_caps_of_their_own(
    make_session: Sessions, tenant: UUID, add: Callable[..., UUID]
) -> None:
    first = add()
    second = add("max@example.org")
    third = add(agent="night@agents.example.org")
    with make_session.begin() as session:
        agent = agents.get_agent(session, tenant, AGENT)
        cap_agent(session, agent, 1, SYSTEM)
        house = session.get_one(Congregation, tenant)
        cap_contacts(session, house, 1, SYSTEM)
        assert session.get_one(Engagement, second).wake_state is WakeState.ARMED
    done = sweep_due(make_session)
    assert (done.announced, set(done.waiting)) == ((first,), {second, third})
    with make_session() as session:
        assert session.get_one(Engagement, second).waits_for is WaitsFor.AGENT_CAP
        assert session.get_one(Engagement, third).waits_for is WaitsFor.CONTACT_CAP


def test_a_cap_that_grows_lets_what_waited_for_it_go_at_once(
    make_session: Sessions, tenant: UUID, add: Callable[..., UUID]
) -> None:
    _cap(make_session, tenant, 1)
    for n in range(4):
        add(f"g{n}@example.org", campaign="Spring")
    assert len(sweep_due(make_session).announced) == 1
    _cap(make_session, tenant, 2)
    done = sweep_due(make_session)
    assert (len(done.announced), len(done.waiting)) == (1, 2)
    with make_session.begin() as session:
        row = get_engagement(session, done.waiting[0])
        deeds.edit(session, row, {"campaign": None}, SYSTEM, NOW)
    assert sweep_due(make_session).announced == (done.waiting[0],)
    with make_session.begin() as session:
        found = find_campaign(session, tenant, "Spring")
        assert remove_campaign(session, found, SYSTEM) == 3
    assert sweep_due(make_session).announced == (done.waiting[1],)
    with make_session() as session:
        actions = set(session.scalars(select(AuditEntry.action)))
        assert {"outreach_campaign.capped", "outreach_campaign.removed"} <= actions
        assert session.scalars(select(Engagement.campaign).distinct()).all() == [None]


def test_two_workers_that_race_keep_the_cap_exactly(
    make_session: Sessions, tenant: UUID, add: Callable[..., UUID]
) -> None:
    _cap(make_session, tenant, 7)
    with make_session.begin() as session:
        cap = 20
        for n in range(30):
            engagement(session, tenant, f"g{n}@example.org", campaign="Spring")
            engagement(session, tenant, f"g{n}@example.org", agent="b@example.org")
        agent = agents.get_agent(session, tenant, "b@example.org")
        cap_agent(session, agent, cap, SYSTEM)

    def drain(_worker: int) -> int:
        n = 0
        while (done := sweep_due(make_session, limit=5)) != ContactDueSweep():
            n += len(done.announced)
        return n

    with ThreadPoolExecutor(2) as pool:
        assert sum(pool.map(drain, range(2))) == 7 + cap
    assert _n_events(make_session) == 7 + cap


def test_where_nothing_has_a_cap_nothing_is_asked(
    make_session: Sessions, tenant: UUID, add: Callable[..., UUID]
) -> None:
    add(campaign="Spring")
    with statements() as seen:
        assert len(sweep_due(make_session).announced) == 1
    assert not [each for each in seen if "outreach_tallies" in str(each)]
    counts = []
    _cap(make_session, tenant, 100)
    for size in (2, 20):
        for n in range(size):
            add(f"{size}-{n}@example.org", campaign="Spring")
        with statements() as seen:
            assert len(sweep_due(make_session).announced) == size
        counts.append(len(seen))
    assert counts[1] <= counts[0] + 1


def test_mistakes_are_told_in_words(make_session: Sessions, tenant: UUID) -> None:
    with make_session() as session:
        for name, cap, field in (
            ("", 1, "name"),
            ("a/b", 1, "name"),
            ("x" * 81, 1, "name"),
            ("Spring", 0, "daily_cap"),
            ("Spring", True, "daily_cap"),
            ("Spring", "many", "daily_cap"),
            ("Spring", 10**9, "daily_cap"),
        ):
            with pytest.raises(InvalidInput) as refused:
                save_campaign(session, tenant, name, cap, SYSTEM)
            assert refused.value.field == field
            assert refused.value.message.endswith(".")
        with pytest.raises(NotFound):
            find_campaign(session, tenant, "nowhere")


def test_days_long_past_are_forgotten(
    make_session: Sessions, tenant: UUID, add: Callable[..., UUID]
) -> None:
    _cap(make_session, tenant, 1)
    add(campaign="Spring")
    sweep_due(make_session)
    later = NOW + timedelta(days=92)
    swept = janitor.sweep(bench(make_session, lambda: later, FakePost()), 10)
    assert len(swept.tallies) == 1
    with make_session() as session:
        assert session.scalars(select(OutreachTally)).all() == []
        assert session.scalars(select(OutreachCampaign)).one().name == "Spring"
