"""The rule's form asks for the hour, for lateness and for quiet hours."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any
from uuid import UUID

import pytest
from flask.testing import FlaskClient
from sqlalchemy import Engine
from sqlalchemy.orm import Session

from tasks.models import QuietPolicy, Rule, new_id
from tests.dashboard.rules.conftest import soup, words


@pytest.fixture
def rule(sqlite_engine: Engine) -> Callable[[], Rule]:
    """Return a function that reads the only rule."""

    def read() -> Rule:
        with Session(sqlite_engine) as session:
            return session.query(Rule).one()

    return read


def form(of: UUID, **values: str) -> dict[str, str]:
    """Return what the form of a rule on the eve of a recording sends."""
    return {
        "rule_id": str(new_id()),
        "name": "On the eve",
        "scope": str(of),
        "trigger_type": "time.before_recording",
        "offset_value": "1",
        "offset_unit": "days",
        "offset_at": "18:00",
        "late_policy": "send_now",
        "late_kind": "limit",
        "late_limit": "90",
        "quiet_from": "22:00",
        "quiet_until": "07:00",
        "quiet_policy": "skip",
        "action": "email",
        "recipient": "guest",
        "subject": "Tomorrow",
        "text": "See you.",
        "max_attempts": "5",
        "retry_first_seconds": "30",
        "retry_longest_minutes": "360",
        "rate_window_minutes": "60",
        "enabled": "y",
    } | values


def test_what_is_said_is_kept_shown_and_told_in_sentences(
    as_operator: FlaskClient, house: UUID, rule: Callable[[], Rule]
) -> None:
    answer = as_operator.post("/rules/", data=form(house), follow_redirects=True)
    told = words(answer)
    assert "1 day before the recording at 18:00" in told
    assert "It acts at most 90 minutes late." in told
    assert "Quiet from 22:00 until 07:00" in told
    kept = rule()
    assert (kept.offset_at, kept.late_limit) == ("18:00", 90)
    assert (kept.quiet_from, kept.quiet_until) == ("22:00", "07:00")
    assert kept.quiet_policy is QuietPolicy.SKIP
    page = soup(as_operator.get(f"/rules/{kept.id}/edit"))
    shown = {
        name: page.select_one(f"#{name}")["value"]  # type: ignore[index]
        for name in ("offset_at", "late_limit", "quiet_from", "quiet_until")
    }
    assert shown == {
        "offset_at": "18:00",
        "late_limit": "90",
        "quiet_from": "22:00",
        "quiet_until": "07:00",
    }


@pytest.mark.parametrize(
    ("values", "field", "part"),
    [
        ({"offset_at": "25:00"}, "offset_at", "00:00 to 23:59"),
        ({"late_limit": ""}, "late_limit", "whole number"),
        ({"late_limit": "soon"}, "late_limit", "whole number"),
        ({"late_limit": "3"}, "late_limit", "Choose 5 to 43200 minutes"),
        ({"quiet_until": ""}, "quiet_until", "when the quiet hours end"),
        ({"quiet_from": "x\x00"}, "quiet_from", "00:00 to 23:59"),
        ({"late_kind": "never ever"}, None, "Not a valid choice"),
        ({"quiet_policy": "x"}, None, "Not a valid choice"),
    ],
)
def test_each_mistake_is_said_at_its_field(
    as_operator: FlaskClient,
    house: UUID,
    values: dict[str, str],
    field: str | None,
    part: str,
) -> None:
    answer = as_operator.post("/rules/", data=form(house, **values))
    assert answer.status_code == 422
    assert part in words(answer)
    if field is not None:
        marked = soup(answer).select_one(f"#{field}")
        assert marked is not None
        assert marked["aria-invalid"] == "true"


@pytest.mark.parametrize(
    ("values", "limit"),
    [({"late_kind": "helps"}, None), ({"late_kind": "never"}, 0)],
)
def test_a_number_that_is_not_asked_for_does_not_count(
    as_operator: FlaskClient,
    house: UUID,
    rule: Callable[[], Rule],
    values: dict[str, Any],
    limit: int | None,
) -> None:
    data = form(house, late_limit="soon", **values)
    assert as_operator.post("/rules/", data=data).status_code == 303
    assert rule().late_limit == limit


def test_an_event_is_never_late_but_may_be_quiet(
    as_operator: FlaskClient, house: UUID
) -> None:
    data = form(house, trigger_type="booking.confirmed")
    page = soup(as_operator.post("/rules/fields", data=data))
    assert page.select_one("#quiet_from") is not None
    assert page.select_one("#late_limit") is None
    assert page.select_one("#offset_at") is None
