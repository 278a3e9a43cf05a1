"""A year, day by day, of three congregations at the ends of the earth.

The clock stands still between sweeps.  A second book-keeping says what each day has to
look like, and does not know how the engine does it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, timedelta
from uuid import UUID
from zoneinfo import ZoneInfo

from sqlalchemy import Engine, select, text
from sqlalchemy.orm import Session, sessionmaker

from tasks import daily
from tasks.lanes.campaign import CampaignSweep, sweep
from tasks.models import (
    Attribution,
    Campaign,
    CampaignState,
    EndAction,
    Event,
    StartAction,
)
from tests.support import factories, territory_rows
from tests.support.fakes import FakePost, bench

Begin = Callable[[], AbstractContextManager[Session]]
DAY = timedelta(days=1)
STEP = timedelta(hours=6)  # around the days that matter; else a day
BIRTH = datetime(2027, 1, 1, tzinfo=UTC)
DEATH = datetime(2028, 1, 2, tzinfo=UTC)
#: Nobody sweeps then: over a start, over an end, and over a whole campaign.
DOWN = (
    (datetime(2027, 6, 30, tzinfo=UTC), datetime(2027, 7, 3, tzinfo=UTC)),
    (datetime(2027, 9, 9, tzinfo=UTC), datetime(2027, 9, 13, tzinfo=UTC)),
    (datetime(2027, 11, 1, tzinfo=UTC), datetime(2027, 11, 20, tzinfo=UTC)),
)
ZONES = ("Europe/Paris", "Pacific/Noumea", "America/Guadeloupe")


@dataclass(frozen=True)
class Plan:
    """A campaign of the year; of the same days in each congregation."""

    name: str
    starts_on: date
    ends_on: date
    end_action: EndAction = EndAction.RESUME
    start_action: StartAction = StartAction.PAUSE


PLANS = (
    Plan("dst", date(2027, 3, 27), date(2027, 3, 28)),  # clocks go on in Paris
    Plan("one", date(2027, 5, 1), date(2027, 5, 14)),
    Plan("two", date(2027, 5, 15), date(2027, 5, 31)),  # the very next day
    Plan("down at its start", date(2027, 7, 1), date(2027, 7, 9)),
    Plan("down at its end", date(2027, 9, 1), date(2027, 9, 10)),
    Plan("nobody there", date(2027, 11, 5), date(2027, 11, 12)),
    Plan("last", date(2027, 12, 31), date(2027, 12, 31), EndAction.KEEP_PAUSED),
)


@dataclass
class Tenant:
    """One congregation, its only piece of work, and what was seen of it."""

    id: UUID
    zone: str
    work: UUID
    campaigns: dict[UUID, Plan]
    flips: dict[tuple[str, str], datetime] = field(default_factory=dict)

    def day(self, at: datetime) -> date:
        return at.astimezone(ZoneInfo(self.zone)).date()


def _tenant(session: Session, zone: str) -> Tenant:
    slug = zone.partition("/")[2].lower()
    id_ = factories.congregation(session, slug, timezone=zone)
    work = territory_rows.attribution(
        session,
        id_,
        territory_rows.member(session, id_),
        territory_rows.territory(session, id_),
        started_on=date(2026, 12, 1),
        due_on=date(2027, 6, 1),
    )
    campaigns = {
        territory_rows.campaign(session, id_, **vars(plan)): plan for plan in PLANS
    }
    return Tenant(id_, zone, work, campaigns)


def _moments() -> Iterator[datetime]:
    at = BIRTH
    while at < DEATH:
        if not any(start <= at < end for start, end in DOWN):
            yield at
        at += STEP if _matters(at.date()) else DAY


def _matters(day: date) -> bool:
    """Whether a campaign starts or ends somewhere about this day."""
    days = [each for plan in PLANS for each in (plan.starts_on, plan.ends_on)]
    return any(abs(day - each) <= 2 * DAY for each in days)


def _sweep(make_session: sessionmaker[Session], at: datetime) -> CampaignSweep:
    return sweep(bench(make_session, lambda: at, FakePost()), 100)


def _note(tenants: list[Tenant], swept: CampaignSweep, at: datetime) -> None:
    for what in ("activated", "ended", "missed"):
        for id_ in getattr(swept, what):
            (of,) = (each for each in tenants if id_ in each.campaigns)
            key = (of.campaigns[id_].name, what)
            assert key not in of.flips
            of.flips[key] = at


def _first(of: Tenant, moments: list[datetime], day: date) -> datetime:
    """Return the first sweep at which the tenant's calendar shows ``day`` or later."""
    return next(at for at in moments if of.day(at) >= day)


def _wanted(of: Tenant, moments: list[datetime]) -> dict[tuple[str, str], datetime]:
    wanted = {}
    for plan in PLANS:
        start = _first(of, moments, plan.starts_on)
        over = _first(of, moments, plan.ends_on + DAY)
        if of.day(start) > plan.ends_on:
            wanted[plan.name, "missed"] = start
        else:
            wanted[plan.name, "activated"] = start
            wanted[plan.name, "ended"] = over
    return wanted


def _paused_days(of: Tenant) -> int:
    """Return how many days the work was paused, by what was seen to happen."""
    return sum(
        (of.day(of.flips[plan.name, "ended"]) - of.day(at)).days
        for plan in PLANS
        if plan.end_action is EndAction.RESUME
        and (at := of.flips.get((plan.name, "activated"))) is not None
    )


def test_every_campaign_of_a_year_flips_on_its_congregations_own_day(
    begin: Begin, make_session: sessionmaker[Session]
) -> None:
    with begin() as session:
        tenants = [_tenant(session, zone) for zone in ZONES]
    moments = list(_moments())
    for at in moments:
        swept = _sweep(make_session, at)
        assert (swept.failed, swept.is_full) == ((), False)
        _note(tenants, swept, at)
    with begin() as session:
        for of in tenants:
            assert of.flips == _wanted(of, moments)
            row = session.get_one(Attribution, of.work)
            assert row.due_on == date(2027, 6, 1) + _paused_days(of) * DAY
            assert row.paused_on == date(2027, 12, 31)  # kept
            assert row.ended_on is None
        _check_events(session)


def _check_events(session: Session) -> None:
    types = sorted(session.scalars(select(Event.type)))
    n_run = (len(PLANS) - 1) * len(ZONES)
    assert types == ["campaign.activated"] * n_run + ["campaign.ended"] * n_run


@contextmanager
def _broken(engine: Engine, congregation_id: UUID) -> Iterator[None]:
    """Let the database refuse every change of one congregation's work."""
    on_postgres = engine.dialect.name == "postgresql"
    value = congregation_id if on_postgres else congregation_id.hex
    make, drop = (
        (
            "ALTER TABLE attributions ADD CONSTRAINT broken CHECK "
            f"(congregation_id <> '{value}' OR paused_on IS NULL)",
            "ALTER TABLE attributions DROP CONSTRAINT broken",
        )
        if on_postgres
        else (
            "CREATE TRIGGER broken BEFORE UPDATE ON attributions WHEN "
            f"NEW.congregation_id = '{value}' BEGIN SELECT RAISE(ABORT, 'broken'); END",
            "DROP TRIGGER broken",
        )
    )
    with engine.begin() as connection:
        connection.execute(text(make))
    try:
        yield
    finally:
        with engine.begin() as connection:
            connection.execute(text(drop))


def test_a_congregation_that_fails_for_a_day_starts_late_and_the_others_on_time(
    begin: Begin, make_session: sessionmaker[Session], engine: Engine
) -> None:
    with begin() as session:
        sick, *healthy = [_tenant(session, zone) for zone in ZONES]
    at = datetime(2027, 4, 30, tzinfo=UTC)
    n_failed = 0
    with _broken(engine, sick.id):
        while at < datetime(2027, 5, 3, tzinfo=UTC):
            swept = _sweep(make_session, at)
            n_failed += len(swept.failed)
            assert {*swept.failed} <= {sick.id}
            at += STEP
    with begin() as session:
        assert n_failed > 2
        assert len(daily.troubles(session, sick.id)) == 1
        assert _active(session, sick) == []
        assert [_active(session, of) for of in healthy] == [["one"], ["one"]]
    swept = _sweep(make_session, at)
    assert len(swept.activated) == 1
    with begin() as session:
        assert _active(session, sick) == ["one"]
        row = session.get_one(Attribution, sick.work)
        assert row.paused_on == date(2027, 5, 3)
        assert daily.troubles(session, sick.id) == []


def _active(session: Session, of: Tenant) -> list[str]:
    rows = session.scalars(select(Campaign).where(Campaign.congregation_id == of.id))
    return [row.name for row in rows if row.state is CampaignState.ACTIVE]
