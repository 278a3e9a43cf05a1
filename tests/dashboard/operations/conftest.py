"""A rule, its executions, and the presses of who acts on them."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import timedelta
from typing import Any
from uuid import UUID

import pytest
from flask.testing import FlaskClient
from sqlalchemy import Engine, func, select
from sqlalchemy.orm import Session, sessionmaker
from werkzeug.test import TestResponse

from tasks.clock import utcnow
from tasks.db import sessions
from tasks.lanes import operations
from tasks.models import ExecutionState, Rule
from tests.support import factories
from tests.support.fakes import FakePost, bench

S = ExecutionState
AN_HOUR_AGO = utcnow() - timedelta(hours=1)


@pytest.fixture
def make_db(sqlite_engine: Engine) -> sessionmaker[Session]:
    """Return sessions on the console's database."""
    return sessions(sqlite_engine)


@pytest.fixture
def rule(make_db: sessionmaker[Session]) -> Rule:
    """Return a rule of a congregation with a booking."""
    with make_db.begin() as session:
        house = factories.congregation(session)
        factories.booking(session, house, start_time=utcnow() + timedelta(days=2))
        return factories.rule(session, house)


@pytest.fixture
def add(make_db: sessionmaker[Session], rule: Rule) -> Callable[..., list[UUID]]:
    """Return a function that adds executions that ended an hour ago."""

    def made(n: int, state: ExecutionState, **values: Any) -> list[UUID]:
        with make_db.begin() as session:
            return [
                factories.execution(
                    session, rule, state=state, settled_at=AN_HOUR_AGO, **values
                ).id
                for _ in range(n)
            ]

    return made


def press_confirm(client: FlaskClient, url: str, **data: str) -> TestResponse:
    """Open the question and press its button."""
    page = client.get(url)
    assert page.status_code == 200
    return client.post(url, data=hidden_of(page.text) | data)


def hidden_of(question: str) -> dict[str, str]:
    """Return what a question carries."""
    names = "high_water|operation|shown"
    return dict(re.findall(rf'name="({names})" value="([^"]+)"', question))


def sweep_operations(make_db: sessionmaker[Session]) -> None:
    operations.sweep(bench(make_db, utcnow, FakePost()), 200)


def n_rows(make_db: sessionmaker[Session], model: type) -> int:
    with make_db() as session:
        return session.scalar(select(func.count()).select_from(model)) or 0
