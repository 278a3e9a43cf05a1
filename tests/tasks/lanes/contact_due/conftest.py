"""A tenant with engagements, and what the lane made of them."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime, timedelta
from uuid import UUID

import pytest
from sqlalchemy import select
from sqlalchemy.orm import Session, sessionmaker

from tasks.models import Engagement, Event
from tasks.outreach.engagements import save_engagement
from tests.support import factories
from tests.support.factories import NOW
from tests.support.outreach import ADDRESS, AGENT, enrolling

Sessions = sessionmaker[Session]
MINUTE = timedelta(minutes=1)


@pytest.fixture
def tenant(make_session: Sessions) -> UUID:
    with make_session.begin() as session:
        return factories.congregation(session, timezone="Europe/Paris")


@pytest.fixture
def add(make_session: Sessions, tenant: UUID) -> Callable[..., UUID]:
    return enrolling(make_session, tenant)


def get_row(make_session: Sessions, id_: UUID) -> Engagement:
    with make_session() as session:
        return session.get_one(Engagement, id_)


def events_of(make_session: Sessions) -> list[Event]:
    with make_session() as session:
        return list(session.scalars(select(Event).order_by(Event.id)))


def move_schedule(make_session: Sessions, tenant: UUID, at: datetime | None) -> None:
    with make_session.begin() as session:
        told = {"next_action_at": at}
        save_engagement(session, tenant, AGENT, ADDRESS, told, now=NOW)
