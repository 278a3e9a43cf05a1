"""A small congregation to plan for, on both databases."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

import pytest
from sqlalchemy import select
from sqlalchemy.orm import Session, sessionmaker

from tasks.models import (
    Booking,
    BookingLink,
    BookingStatus,
    Congregation,
    Decision,
    Episode,
    EpisodeGuest,
    Event,
    Execution,
    Podcast,
    Rule,
    ScheduledJob,
)
from tests.support import factories

NOW = datetime(2026, 3, 10, 12, 0, tzinfo=UTC)


@dataclass
class World:
    """One congregation, a podcast "show", and short ways to add to it."""

    make_session: sessionmaker[Session]
    id: UUID

    def rule(self, trigger_type: str, **values: Any) -> Rule:
        defaults: dict[str, Any] = {
            "name": trigger_type,
            "action": "email",
            "settings": {
                "recipient": "guest",
                "subject": "Hello",
                "text": "Hello {{ guest.name }}",
                "html": "",
            },
        }
        with self.make_session.begin() as session:
            return factories.rule(
                session, self.id, trigger_type=trigger_type, **{**defaults, **values}
            )

    def booking(self, id: str = "b1", **values: Any) -> Booking:  # noqa: A002
        defaults: dict[str, Any] = {
            "podcast_id": "show",
            "guest_name": "Zoë",
            "guest_email": "zoe@example.org",
            "start_time": NOW + timedelta(days=3),
            "status": BookingStatus.CONFIRMED,
            "confirmed_at": NOW,
        }
        return self.add(
            Booking(congregation_id=self.id, id=id, **{**defaults, **values})
        )

    def episode(self, id: str = "e1", **values: Any) -> Episode:  # noqa: A002
        defaults: dict[str, Any] = {"podcast_id": "show", "title": "Bells"}
        return self.add(
            Episode(congregation_id=self.id, id=id, **{**defaults, **values})
        )

    def add(self, row: Any) -> Any:
        with self.make_session.begin() as session:
            session.add(row)
        return row

    def all(self, model: type[Any]) -> list[Any]:
        with self.make_session() as session:
            found = session.scalars(
                select(model).where(model.congregation_id == self.id)
            )
            return sorted(found.all(), key=lambda row: row.created_at)

    def events(self) -> list[Event]:
        return self.all(Event)

    def executions(self) -> list[Execution]:
        return self.all(Execution)

    def jobs(self, state: str | None = None) -> list[ScheduledJob]:
        return [j for j in self.all(ScheduledJob) if state in {None, j.state.value}]

    def decisions(self) -> list[tuple[str, str | None]]:
        rows: list[Decision] = self.all(Decision)
        return sorted((row.outcome.value, row.reason or "") for row in rows)


def make_world(make_session: sessionmaker[Session], slug: str) -> World:
    with make_session.begin() as session:
        congregation = Congregation(
            slug=slug, name="St. Bonifatius", timezone="Europe/Berlin", locale="de"
        )
        session.add(congregation)
        session.flush()
        of = congregation.id
        session.add(
            Podcast(
                congregation_id=of,
                id="show",
                title="Kirchplatz",
                slug="kirchplatz",
                host_name="Ida",
                host_email="ida@example.org",
            )
        )
        session.add(Podcast(congregation_id=of, id="other", title="Other"))
        session.flush()
        session.add(
            BookingLink(congregation_id=of, id="l1", podcast_id="show", name="45 min")
        )
        session.add(
            EpisodeGuest(
                congregation_id=of,
                id="g1",
                podcast_id="show",
                name="Ada",
                email="ada@example.org",
                access_token="let-me-in",
            )
        )
    return World(make_session, of)


@pytest.fixture
def world(make_session: sessionmaker[Session]) -> World:
    """Return a congregation on both databases in turn."""
    return make_world(make_session, "bonifatius")


@pytest.fixture
def twin(make_session: sessionmaker[Session]) -> World:
    """Return another congregation with records of the same ids."""
    return make_world(make_session, "twin")
