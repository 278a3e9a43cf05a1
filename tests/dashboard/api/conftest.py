"""A congregation with a bit of everything, its twin, and callers with tokens."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import pytest
from flask import Flask
from sqlalchemy.orm import Session, sessionmaker

from dashboard.extensions import db
from tasks.db import sessions
from tests.dashboard.api.caller import Api
from tests.dashboard.api.world import new_producer, settle


@pytest.fixture
def make_db(app: Flask) -> sessionmaker[Session]:
    """Return a factory of unscoped sessions on the app's own database."""
    with app.app_context():
        return sessions(db.engine)


@pytest.fixture
def producer(app: Flask, make_db: sessionmaker[Session]) -> Callable[..., Api]:
    """Return a function that makes a token of a congregation, and its caller."""
    return partial(new_producer, app, make_db)


@pytest.fixture
def api(make_db: sessionmaker[Session], producer: Callable[..., Api]) -> Api:
    """Return the caller of a congregation that has one record of each kind."""
    with make_db.begin() as session:
        of = settle(session, "mary")
    return producer(of)


@pytest.fixture
def twin(api: Api, make_db: sessionmaker[Session], producer: Callable[..., Api]) -> Api:
    """Return the caller of another congregation, whose records have the same ids."""
    with make_db.begin() as session:
        of = settle(session, "twin")
    return producer(of)
