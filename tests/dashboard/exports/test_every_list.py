"""Every list that can be searched goes into a file, with its own rows alone."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable

import pytest
from flask import Flask
from sqlalchemy import Engine

from dashboard.exports.sources import SOURCES
from dashboard.search.kinds import SEARCHED
from tasks.db import sessions
from tasks.storage import make_storage
from tests.dashboard.conftest import Browser
from tests.support.twins import Twin, twin

#: Lists of which one congregation has rows here.
FILLED = (
    *("rules", "endpoints", "territories", "campaigns", "groups", "documents"),
    *("addresses", "syncs", "transfers", "recipients", "congregations", "tokens"),
    *("agents", "outreach-campaigns", "contact-imports", "retention"),
)


@pytest.fixture
def houses(sqlite_engine: Engine, app: Flask) -> list[Twin]:
    """Return two congregations with rows of all kinds."""
    storage = make_storage(app.config["CARILLON"])
    with sessions(sqlite_engine).begin() as session:
        return [twin(session, f"house{n}", f"mark{n}", storage) for n in range(2)]


def test_every_list_is_written_in_both_formats_and_within_the_scope(
    log_in: Callable[..., Browser], houses: list[Twin]
) -> None:
    assert SOURCES.keys() == SEARCHED.keys()
    own = {"sees_all": False, "congregations": [houses[0].id]}
    browser = log_in("admin", **own)
    queries = {
        "failures": "?show=all",
        "documents": "?tab=all",
        "ledger": f"?slug={houses[0].slug}",
        "versions": f"?rule_id={houses[0].ids['rule_id']}",
    }
    for name in SEARCHED:
        query = queries.get(name, "")
        text = browser.post(f"/exports/{name}/csv{query}").text
        rows = [*csv.DictReader(io.StringIO(text.removeprefix("\ufeff")))]
        told = json.loads(browser.post(f"/exports/{name}/json{query}").text)
        # The audit log tells of the first file in the second one.
        assert told["n"] == len(rows) or name == "audit", name
        assert "mark1" not in text, name
        assert "secret" not in text.lower(), name
        if name in FILLED:
            assert rows, name
            assert [*told["rows"][0]] == [*rows[0]], name


def test_a_list_for_admins_is_neither_searched_nor_exported_nor_viewed_by_others(
    log_in: Callable[..., Browser], houses: list[Twin]
) -> None:
    admin = log_in("admin", email="ada@example.org")
    data = {"name": "Old tokens", "audience": "all"}
    saved = admin.post("/views/new/tokens?q=used:<-30d", data=data)
    assert saved.status_code == 303
    assert "Old tokens" in admin.get("/tokens/").text
    operator = log_in("operator", email="ben@example.org")
    for path in ("/search/tokens", "/exports/tokens", "/views/new/tokens"):
        assert operator.get(path).status_code == 403, path
    assert operator.post("/exports/tokens/csv").status_code == 403
    for path in ("/views/", "/views/menu"):
        assert "Old tokens" not in operator.get(path).text, path
        assert "Old tokens" in admin.get(path).text, path
