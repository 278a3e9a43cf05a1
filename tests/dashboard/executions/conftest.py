"""A rule, executions that were made a minute ago, and readers of their pages."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import timedelta
from typing import Any
from uuid import UUID

import pytest
from bs4 import BeautifulSoup
from sqlalchemy import Engine
from sqlalchemy.orm import Session

from tasks.clock import utcnow
from tasks.models import Execution, ExecutionState, Reason, Rule
from tests.support import factories

S = ExecutionState
HOSTILE = "<script>alert(1)</script>\"'><img src=x onerror=alert(2)>{{7*7}}"
FAILED: dict[str, Any] = {
    "state": S.FAILED,
    "attempt": 5,
    "failures": 5,
    "reason": Reason.ATTEMPTS_USED_UP,
    "error": "The mail server said no.",
}


@pytest.fixture
def rule(sqlite_engine: Engine) -> Rule:
    """Return a rule of the congregation ``bonifatius``, with a booking ``b1``."""
    with Session(sqlite_engine, expire_on_commit=False) as session, session.begin():
        of = factories.congregation(session)
        factories.booking(session, of)
        return factories.rule(session, of)


@pytest.fixture
def add(sqlite_engine: Engine, rule: Rule) -> Callable[..., UUID]:
    """Return a function that adds an execution of the rule, made some seconds ago."""

    def make(ago: float = 60, of: Rule = rule, **values: Any) -> UUID:
        at = utcnow() - timedelta(seconds=ago)
        instants: dict[str, Any] = {"created_at": at, "due_at": at, "run_at": at}
        if values.get("state", S.PENDING) not in (S.PENDING, S.RUNNING):
            instants["settled_at"] = at
        with Session(sqlite_engine) as session, session.begin():
            return factories.execution(session, of, **instants | values).id

    return make


def ids_of(page: str) -> list[str]:
    return re.findall(r'<tr id="execution-([^"]+)"', page)


def text_of(page: str, id_: str) -> str:
    found = BeautifulSoup(page, "html.parser").find(id=id_)
    assert found is not None, id_
    for place in found("wbr"):  # an address may break there, and is one word
        place.decompose()
    found.smooth()
    return " ".join(found.get_text(" ").split())


def state_of(engine: Engine, id_: UUID) -> ExecutionState:
    with Session(engine) as session:
        return session.get_one(Execution, id_).state
