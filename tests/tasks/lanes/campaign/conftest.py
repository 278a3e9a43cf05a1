"""A congregation with members and territories, and short verbs for campaigns."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from datetime import timedelta
from typing import Any
from uuid import UUID

import pytest
from sqlalchemy import select
from sqlalchemy.orm import Session, sessionmaker

from tasks.lanes.campaign import CampaignSweep, sweep
from tasks.models import Attribution, Campaign, CampaignState, CampaignTerritory
from tests.support import factories, territory_rows
from tests.support.factories import NOW
from tests.support.fakes import FakePost, bench

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


def sweep_after(
    make_session: Sessions, after: timedelta = timedelta()
) -> CampaignSweep:
    return sweep(bench(make_session, lambda: NOW + after, FakePost()), 100)


def add_campaign(begin: Begin, tenant: UUID, **values: Any) -> UUID:
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


def add_work(begin: Begin, tenant: UUID, *ids: UUID, **values: Any) -> UUID:
    with begin() as session:
        return territory_rows.attribution(session, tenant, *ids, **values)


def get_work(make_session: Sessions, id_: UUID) -> Attribution:
    with make_session() as session:
        return session.get_one(Attribution, id_)


def work_of(make_session: Sessions, campaign_id: UUID) -> list[Attribution]:
    with make_session() as session:
        return list(
            session.scalars(
                select(Attribution)
                .where(Attribution.campaign_id == campaign_id)
                .order_by(Attribution.id)
            )
        )


def state_of(make_session: Sessions, id_: UUID) -> CampaignState:
    with make_session() as session:
        return session.get_one(Campaign, id_).state
