"""While the database is away the API says so, and when to come again."""

from __future__ import annotations

from typing import Any

import pytest
from sqlalchemy import text
from sqlalchemy.exc import OperationalError
from sqlalchemy.orm import Session, sessionmaker

from dashboard.api import access
from dashboard.api import events as events_view
from tests.dashboard.api.caller import Api, error_of

GOOD = {"trigger_type": "booking.confirmed", "podcast_id": "p", "booking_id": "b"}


def _away(*_args: Any, **_kwargs: Any) -> Any:
    raise OperationalError("SELECT 1", {}, Exception("connection refused"))


@pytest.mark.parametrize("module", [access, events_view])
def test_an_away_database_is_503_and_not_500(
    api: Api, monkeypatch: pytest.MonkeyPatch, module: Any
) -> None:
    name = "authenticate" if module is access else "emit_events"
    monkeypatch.setattr(module, name, _away)
    answer = api.post("/events", GOOD)
    error = error_of(answer, 503)
    assert error["code"] == "database_unavailable"
    assert int(answer.headers["Retry-After"]) >= 1
    assert "connection refused" not in answer.text


def test_a_real_missing_table_is_503_and_not_500(
    api: Api, make_db: sessionmaker[Session]
) -> None:
    with make_db.begin() as session:
        session.execute(text("DROP TABLE api_tokens"))
    assert error_of(api.get("/podcasts/p"), 503)["code"] == "database_unavailable"
