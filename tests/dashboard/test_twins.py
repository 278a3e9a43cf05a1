"""Two congregations with the same names: as one, nothing of the other can be seen."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest
from flask import Flask
from sqlalchemy import Engine, select
from sqlalchemy.orm import Session, sessionmaker
from werkzeug.routing import Rule as Route

from dashboard.operators.models import RoleName
from tasks.clock import utcnow
from tasks.db import sessions
from tasks.models import (
    AuditEntry,
    Base,
    Hold,
    OfCongregation,
    Operation,
    SavedView,
    new_id,
)
from tasks.storage import make_storage
from tests.dashboard.conftest import Browser
from tests.support.twins import Twin, twin

#: In every text of the other congregation, and nowhere else.
MARK = "zwillingsgeheimnis"


@pytest.fixture
def make_db(sqlite_engine: Engine) -> sessionmaker[Session]:
    """Return unscoped sessions on the console's database."""
    return sessions(sqlite_engine)


@pytest.fixture
def twins(make_db: sessionmaker[Session], app: Flask) -> tuple[Twin, Twin]:
    """Return the congregation that looks, and the one that must not be seen."""
    storage = make_storage(app.config["CARILLON"])
    with make_db.begin() as session:
        return (
            twin(session, "ours", "harmless", storage),
            twin(session, "theirs", MARK, storage),
        )


@pytest.fixture
def admin_of_ours(twins: tuple[Twin, Twin], log_in: Callable[..., Browser]) -> Browser:
    """Return the browser of an admin of the first congregation only."""
    return log_in(RoleName.ADMIN, sees_all=False, congregations=[twins[0].id])


def _routes(app: Flask, method: str) -> Iterator[Route]:
    for route in app.url_map.iter_rules():
        if method in (route.methods or ()) and not route.rule.startswith("/api/"):
            yield route


def _paths(app: Flask, method: str, twin: Twin) -> list[str]:
    """Return every path of the console that asks for rows of ``twin``."""
    with app.test_request_context():
        return [
            app.url_map.bind("localhost").build(
                route.endpoint,
                {name: twin.ids[name] for name in route.arguments},
                method,
            )
            for route in _routes(app, method)
            if route.arguments and route.arguments <= twin.ids.keys()
        ]


def _rows_of(make_db: sessionmaker[Session], twin: Twin) -> dict[str, list[object]]:
    with make_db() as session:
        found: dict[str, list[object]] = {}
        for mapper in Base.registry.mappers:
            model = mapper.class_
            may_be_of_one = (AuditEntry, Hold, Operation, SavedView)
            if issubclass(model, OfCongregation) or model in may_be_of_one:
                table = Base.metadata.tables[model.__tablename__]
                rows = session.execute(
                    select(table).where(table.c.congregation_id == twin.id)
                )
                found[table.name] = [*sorted(map(repr, rows))]
        return found


def test_the_walk_meets_every_kind_of_row(app: Flask, twins: tuple[Twin, Twin]) -> None:
    walked = {
        name
        for method in ("GET", "POST")
        for route in _routes(app, method)
        for name in route.arguments
        if route.arguments <= twins[1].ids.keys()
    }
    assert walked == twins[1].ids.keys()


def test_every_page_of_the_other_twin_is_not_found(
    app: Flask, admin_of_ours: Browser, twins: tuple[Twin, Twin]
) -> None:
    for path in _paths(app, "GET", twins[1]):
        answer = admin_of_ours.get(path)
        assert answer.status_code == 404, path
        assert MARK not in answer.get_data(as_text=True), path


def test_ones_own_pages_are_found(
    app: Flask, admin_of_ours: Browser, twins: tuple[Twin, Twin]
) -> None:
    for path in _paths(app, "GET", twins[0]):
        status = admin_of_ours.get(path).status_code
        # What cannot be edited any more leads back to its own page, and a view's short
        # address to its list.
        leads_on = status == 303 and path.endswith(("/edit", "/rows"))
        assert status == 200 or leads_on, path


def test_no_action_reaches_the_other_twin(
    app: Flask,
    admin_of_ours: Browser,
    twins: tuple[Twin, Twin],
    make_db: sessionmaker[Session],
) -> None:
    before = _rows_of(make_db, twins[1])
    for path in _paths(app, "POST", twins[1]):
        answer = admin_of_ours.post(path)
        assert answer.status_code == 404, f"{path}: {answer.status}"
    assert _rows_of(make_db, twins[1]) == before


def test_no_list_shows_or_counts_the_other_twin(
    app: Flask, admin_of_ours: Browser, twins: tuple[Twin, Twin]
) -> None:
    for route in _routes(app, "GET"):
        if route.arguments or route.endpoint in {"setup.show", "openapi.doc_url"}:
            continue
        answer = admin_of_ours.get(route.rule)
        text = answer.get_data(as_text=True)
        assert MARK not in text, route.rule
        assert "theirs" not in text, route.rule


def test_bulk_actions_on_everything_leave_the_other_twin_alone(
    admin_of_ours: Browser,
    twins: tuple[Twin, Twin],
    make_db: sessionmaker[Session],
) -> None:
    before = _rows_of(make_db, twins[1])
    theirs = twins[1].ids
    admin_of_ours.post("/executions/retry", data={"ids": [theirs["execution_id"]]})
    admin_of_ours.post("/executions/retry-all", data={"state": "failed"})
    admin_of_ours.post("/notifications/retry-failed")
    for path in ("executions/cancel-all", "executions/replay-all", "events/replay-all"):
        asked = {"operation": str(new_id()), "high_water": utcnow().isoformat()}
        admin_of_ours.post(f"/{path}", data=asked | {"again": "yes", "why": "All"})
    admin_of_ours.post("/scheduled/cancel", data={"ids": [theirs["job_id"]]})
    admin_of_ours.post("/scheduled/cancel-all", data={"state": "pending"})
    assert _rows_of(make_db, twins[1]) == before
