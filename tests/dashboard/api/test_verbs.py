"""Lifecycle verbs: change, event and planning in one transaction."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Any

import pytest
from sqlalchemy.orm import Session, sessionmaker

from tasks import doorbell
from tasks.models import Rule
from tests.dashboard.api.caller import Api, error_of
from tests.dashboard.api.world import START


@pytest.fixture
def rung() -> Any:
    heard: list[str] = []
    doorbell.on_commit(heard.append)
    yield heard
    doorbell._listeners.remove(heard.append)


def _jobs(api: Api, **query: str) -> list[dict[str, Any]]:
    answer = api.get("/scheduled-jobs", query_string={"booking_id": "b", **query})
    found: list[dict[str, Any]] = answer.json["scheduled_jobs"]
    return found


def _instant(text: str) -> datetime:
    return datetime.fromisoformat(text)


def test_confirming_fires_plans_and_rings(api: Api, rung: list[str]) -> None:
    answer = api.post("/bookings/b/confirm")
    assert answer.status_code == 200, answer.text
    assert answer.json["status"] == "confirmed"
    assert answer.json["automation"]["changed"] is True
    assert answer.json["automation"]["event"]["executions_created"] == 1
    assert answer.json["automation"]["schedule"]["jobs_created"] == 1
    assert "executions" in rung
    (execution,) = api.get("/executions?booking_id=b").json["executions"]
    assert execution["state"] == "pending"
    assert execution["recipient"] == "guest@mary.example.org"
    (job,) = _jobs(api)
    assert job["state"] == "pending"
    assert _instant(job["due_at"]) == START - timedelta(hours=24)


def test_confirming_twice_changes_nothing(api: Api) -> None:
    api.post("/bookings/b/confirm")
    answer = api.post("/bookings/b/confirm", {})
    assert answer.status_code == 200
    assert answer.json["automation"]["changed"] is False
    assert len(api.get("/executions").json["executions"]) == 1
    assert len(_jobs(api)) == 1


def test_rescheduling_moves_the_reminder(api: Api) -> None:
    api.post("/bookings/b/confirm")
    later = START + timedelta(days=2)
    answer = api.post("/bookings/b/reschedule", {"start_time": later.isoformat()})
    assert answer.status_code == 200, answer.text
    assert _instant(answer.json["start_time"]) == later
    (job,) = _jobs(api, state="pending")
    assert _instant(job["due_at"]) == later - timedelta(hours=24)


def test_cancelling_cancels_what_was_planned(api: Api) -> None:
    api.post("/bookings/b/confirm")
    answer = api.post("/bookings/b/cancel")
    assert answer.status_code == 200, answer.text
    assert answer.json["status"] == "cancelled"
    assert _jobs(api, state="pending") == []
    assert [job["reason"] for job in _jobs(api)] == ["booking_cancelled"]
    assert _jobs(api)[0]["message"] == "The booking was cancelled."
    (execution,) = api.get("/executions?booking_id=b").json["executions"]
    assert execution["state"] == "cancelled"


def test_declining_is_for_bookings_that_wait(api: Api) -> None:
    assert api.post("/bookings/b/decline").json["status"] == "declined"


def test_what_the_state_does_not_allow_is_a_conflict(api: Api) -> None:
    api.post("/bookings/b/cancel")
    error_of(api.post("/bookings/b/decline"), 409)
    moved = {"start_time": (START + timedelta(days=1)).isoformat()}
    error_of(api.post("/bookings/b/reschedule", moved), 409)


@pytest.fixture
def publish_rule(api: Api, make_db: sessionmaker[Session]) -> None:
    with make_db.begin() as session:
        session.add(
            Rule(
                congregation_id=api.congregation_id,
                name="before",
                trigger_type="time.before_publish",
                offset_value=48,
                action="webhook",
                settings={"url": "https://example.org/hook"},
            )
        )


def _episode_jobs(api: Api) -> list[dict[str, Any]]:
    answer = api.get("/scheduled-jobs?episode_id=e&state=pending")
    found: list[dict[str, Any]] = answer.json["scheduled_jobs"]
    return found


@pytest.mark.usefixtures("publish_rule")
def test_an_episode_is_scheduled_moved_and_published(api: Api) -> None:
    when = START + timedelta(days=5)
    body = {"scheduled_for": when.isoformat()}
    scheduled = api.post("/episodes/e/schedule", body)
    assert scheduled.status_code == 200, scheduled.text
    assert scheduled.json["status"] == "scheduled"
    assert [_instant(j["due_at"]) for j in _episode_jobs(api)] == [
        when - timedelta(hours=48)
    ]
    when += timedelta(days=1)
    moved = api.post("/episodes/e/reschedule", {"scheduled_for": when.isoformat()})
    assert moved.status_code == 200, moved.text
    assert [_instant(j["due_at"]) for j in _episode_jobs(api)] == [
        when - timedelta(hours=48)
    ]
    published = api.post("/episodes/e/publish")
    assert published.status_code == 200, published.text
    assert published.json["status"] == "published"
    assert published.json["published_at"] is not None


def test_a_verb_about_nothing_is_not_found(api: Api) -> None:
    date = START.isoformat()
    for path, body in (
        ("/bookings/x/confirm", None),
        ("/bookings/x/reschedule", {"start_time": date}),
        ("/episodes/x/schedule", {"scheduled_for": date}),
        ("/episodes/x/reschedule", {"scheduled_for": date}),
        ("/episodes/x/publish", None),
    ):
        assert error_of(api.post(path, body), 404)["code"].startswith("unknown_")


def test_an_event_that_cannot_be_stored_takes_the_change_back(
    api: Api, monkeypatch: pytest.MonkeyPatch
) -> None:
    from dashboard.api import verbs

    real: Callable[..., Any] = verbs.bookings.confirm

    def late_failure(*args: Any, **kwargs: Any) -> Any:
        real(*args, **kwargs)
        raise RuntimeError("power cut")

    monkeypatch.setattr(verbs.bookings, "confirm", late_failure)
    api.app.testing = False
    assert api.post("/bookings/b/confirm").status_code == 500
    assert api.get("/bookings/b").json["status"] == "requested"
    assert _jobs(api) == []
