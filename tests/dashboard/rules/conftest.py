"""A congregation with a booking to come, and what the forms of its rules send."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from typing import Any
from uuid import UUID

import pytest
from bs4 import BeautifulSoup
from sqlalchemy import Engine, select
from sqlalchemy.orm import Session
from werkzeug.test import TestResponse

from tasks.clock import utcnow
from tasks.models import Rule, new_id
from tests.support import factories

XSS = "<script>alert(1)</script>"
HTMX = {"HX-Request": "true"}


@pytest.fixture
def house(sqlite_engine: Engine) -> UUID:
    """Return the id of a congregation with a podcast and a booking in two days."""
    with Session(sqlite_engine) as session, session.begin():
        id_ = factories.congregation(session)
        start = utcnow() + timedelta(days=2)
        factories.booking(session, id_, start_time=start, confirmed_at=utcnow())
        return id_


@pytest.fixture
def read(sqlite_engine: Engine) -> Callable[..., list[Any]]:
    """Return a function that reads every row of a table."""

    def rows(model: type[Any]) -> list[Any]:
        with Session(sqlite_engine) as session:
            return list(session.scalars(select(model)))

    return rows


@pytest.fixture
def add(sqlite_engine: Engine, house: UUID) -> Callable[..., UUID]:
    """Return a function that adds a rule with ``make`` and returns its id."""

    def made(make: Callable[..., Rule] = factories.rule, **values: Any) -> UUID:
        with Session(sqlite_engine) as session, session.begin():
            return make(session, values.pop("of", house), **values).id

    return made


def mail(of: UUID, **values: Any) -> dict[str, Any]:
    """Return what the form of a new mail rule sends."""
    return {
        "rule_id": str(new_id()),
        "name": "Welcome",
        "scope": str(of),
        "trigger_type": "booking.confirmed",
        "offset_value": "24",
        "offset_unit": "hours",
        "late_policy": "skip",
        "action": "email",
        "recipient": "guest",
        "address": "",
        "subject": "Hello {{ guest.name }}",
        "text": "See you.\r\nBye.",
        "html": "",
        "max_attempts": "5",
        "enabled": "y",
        "sample": "b1",
    } | values


def hook(of: UUID, **values: Any) -> dict[str, Any]:
    """Return what the form of a new webhook rule sends."""
    return mail(of, action="webhook", url="https://example.org/hook") | values


def soup(answer: TestResponse) -> BeautifulSoup:
    return BeautifulSoup(answer.get_data(as_text=True), "html.parser")


def words(answer: TestResponse) -> str:
    return " ".join(soup(answer).get_text(" ").split())
