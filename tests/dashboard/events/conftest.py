"""A congregation with a booking, and events of it."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from typing import Any
from uuid import UUID

import pytest
from bs4 import BeautifulSoup
from sqlalchemy import Engine
from sqlalchemy.orm import Session
from werkzeug.test import TestResponse

from tasks.clock import utcnow
from tasks.models import Event, new_id
from tests.support import factories


@pytest.fixture
def house(sqlite_engine: Engine) -> UUID:
    """Return the id of a congregation with a podcast and a booking."""
    with Session(sqlite_engine) as session, session.begin():
        id_ = factories.congregation(session)
        factories.booking(session, id_, start_time=utcnow() + timedelta(days=2))
        return id_


@pytest.fixture
def add(sqlite_engine: Engine, house: UUID) -> Callable[..., UUID]:
    """Return a function that stores an event and returns its id."""

    def made(**values: Any) -> UUID:
        defaults: dict[str, Any] = {
            "id": new_id(),
            "congregation_id": house,
            "type": "booking.confirmed",
            "podcast_id": "show",
            "booking_id": "b1",
            "source": "api",
            "occurred_at": utcnow(),
        }
        with Session(sqlite_engine) as session, session.begin():
            row = Event(**defaults | values)
            session.add(row)
            session.flush()
            return row.id

    return made


def soup(answer: TestResponse) -> BeautifulSoup:
    return BeautifulSoup(answer.get_data(as_text=True), "html.parser")


def words(answer: TestResponse) -> str:
    return " ".join(soup(answer).get_text(" ").split())


def listed(answer: TestResponse) -> set[str]:
    return {str(row["id"]) for row in soup(answer).select("tbody tr")}
