"""Every page, found in the map of addresses: few statements, and not much to send."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Final
from uuid import UUID

import pytest
from flask import Flask
from sqlalchemy import Engine

from bench.visits import visits
from dashboard.operators.models import RoleName
from tasks.db import sessions
from tasks.models import Event, ExecutionState, Rule
from tasks.storage import make_storage
from tests.dashboard.conftest import Browser
from tests.support import factories
from tests.support.factories import NOW
from tests.support.statements import statements
from tests.support.twins import twin

#: Statements of a page, with those that begin transactions and read who is there.
MOST: Final = 25
#: Pages that may ask more, by endpoint, and what for.
MORE: Final[Mapping[str, int]] = {
    "overview.index": 36,  # a few of each thing that may need somebody
    "lanes.index": 44,  # the backlog of each lane
}
#: Bytes of a page; files that pages share are not among them.
BYTES_MAX: Final = 150_000
#: What a session of a browser writes is of no page.
_WRITES: Final = re.compile(r"(INSERT|UPDATE|DELETE)(?!.* operator_sessions)")


@pytest.fixture
def ids(sqlite_engine: Engine, app: Flask) -> Mapping[str, str]:
    """Add three congregations; returns what addresses name of the first."""
    storage = make_storage(app.config["CARILLON"])
    with sessions(sqlite_engine).begin() as session:
        made = [twin(session, f"house{n}", f"mark{n}", storage) for n in range(3)]
    return {**made[0].ids, "rare_rule_id": made[0].ids["rule_id"]}


def test_no_page_asks_much_or_is_large(
    app: Flask, ids: Mapping[str, str], log_in: Callable[..., Browser]
) -> None:
    browser = log_in(RoleName.ADMIN)
    wrong, seen = [], set()
    for endpoint, path in visits(app, ids):
        with statements() as asked:
            answer = browser.get(path)
        seen.add(endpoint)
        found = (answer.status_code, len(asked), len(answer.data))
        if not (
            found[0] < 404
            and found[1] <= MORE.get(endpoint, MOST)
            and found[2] <= BYTES_MAX
        ):
            wrong.append(f"{path}: {found}")
        # Pages end with a commit, so one that writes would change something.
        wrong += [path for each in asked if _WRITES.match(each)]
    assert wrong == []
    assert seen >= MORE.keys()


@pytest.mark.parametrize(
    "path", ["/executions/", "/executions/?state=failed", "/scheduled/", "/events/"]
)
def test_a_full_page_of_a_list_is_not_large(
    sqlite_engine: Engine,
    app: Flask,
    ids: Mapping[str, str],
    log_in: Callable[..., Browser],
    path: str,
) -> None:
    with sessions(sqlite_engine).begin() as session:
        rule = session.get_one(Rule, UUID(ids["rule_id"]))
        error = "The mail server said no: 550 5.1.1 there is no such mailbox here."
        states = (ExecutionState.FAILED, ExecutionState.PENDING)
        for number in range(240):
            state = states[number % 2]
            values = {"state": state, "error": error, "recipient": "anna@example.org"}
            factories.execution(session, rule, **values)
            factories.job(session, rule)
            session.add(_event(rule))
    answer = log_in(RoleName.ADMIN).get(path)
    assert answer.text.count('<tr id="') == app.config["CARILLON"].page_size
    assert len(answer.data) <= BYTES_MAX


def _event(rule: Rule) -> Event:
    return Event(
        congregation_id=rule.congregation_id,
        type="booking.confirmed",
        podcast_id="show",
        booking_id="b1",
        source="test",
        occurred_at=NOW,
    )


def test_every_page_is_visited(app: Flask, ids: Mapping[str, str]) -> None:
    visited = {endpoint for endpoint, _ in visits(app, ids)}
    pages = {
        route.endpoint
        for route in app.url_map.iter_rules()
        if "GET" in (route.methods or ()) and _is_for_people(route.endpoint)
    }
    # Nobody else logs in here.
    assert pages - visited == {"operators.edit"}


def _is_for_people(endpoint: str) -> bool:
    others = ("api", "openapi", "hooks", "cron", "unsubscribe", "setup")
    alone = ("healthz", "static", "security.login", "security.verify")
    is_file = endpoint.endswith(".static")
    return not (is_file or endpoint in alone or endpoint.partition(".")[0] in others)
