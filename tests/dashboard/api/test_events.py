"""Events come in, once each, and rules act on them."""

from __future__ import annotations

from typing import Any
from uuid import UUID

import pytest
from sqlalchemy import func, select
from sqlalchemy.orm import Session, sessionmaker

from tasks.models import Event, EventData, Execution, ExecutionState, Rule
from tests.dashboard.api.caller import Api, error_of

GOOD = {"trigger_type": "booking.confirmed", "podcast_id": "p", "booking_id": "b"}


def _count(make_db: sessionmaker[Session], table: type[Any]) -> int:
    with make_db() as session:
        return session.scalar(select(func.count()).select_from(table)) or 0


def test_an_event_becomes_an_execution(
    api: Api, make_db: sessionmaker[Session]
) -> None:
    answer = api.post("/events", GOOD)
    assert answer.status_code == 202
    with make_db() as session:
        event = session.scalars(select(Event)).one()
        execution = session.scalars(select(Execution)).one()
        rule = session.scalars(select(Rule).filter_by(name="booking.confirmed")).one()
    assert answer.json == {
        "event_id": str(event.id),
        "duplicate": False,
        "executions_created": 1,
        "rule_ids": [str(rule.id)],
        "error": None,
    }
    assert execution.state is ExecutionState.PENDING
    assert execution.event_id == event.id
    assert execution.recipient == "guest@mary.example.org"
    assert event.source == "api"


def test_the_same_event_id_twice_is_one_event(
    api: Api, make_db: sessionmaker[Session]
) -> None:
    body = GOOD | {"event_id": "b/1", "occurred_at": "2026-03-10T14:00:00+01:00"}
    first, second = api.post("/events", body), api.post("/events", body)
    assert second.status_code == 202
    assert second.json["duplicate"] is True
    assert second.json["executions_created"] == 0
    assert second.json["event_id"] == first.json["event_id"]
    assert (_count(make_db, Event), _count(make_db, Execution)) == (1, 1)


def test_without_an_event_id_the_same_event_acts_once_a_day(
    api: Api, make_db: sessionmaker[Session]
) -> None:
    created = [api.post("/events", GOOD).json["executions_created"] for _ in range(2)]
    assert created == [1, 0]
    assert _count(make_db, Execution) == 1


@pytest.mark.parametrize("wrapped", [False, True])
def test_a_batch_answers_for_each_event(
    api: Api, make_db: sessionmaker[Session], wrapped: bool
) -> None:
    events = [
        GOOD | {"event_id": "1"},
        GOOD | {"event_id": "1"},
        GOOD | {"booking_id": "nobody"},
        {"trigger_type": "guest.responded", "podcast_id": "p", "guest_id": "g"},
    ]
    answer = api.post("/events", {"events": events} if wrapped else events)
    assert answer.status_code == 202
    assert (answer.json["accepted"], answer.json["refused"]) == (3, 1)
    results = answer.json["results"]
    assert [each["executions_created"] for each in results] == [1, 0, 0, 0]
    assert [each["duplicate"] for each in results] == [False, True, False, False]
    assert results[2]["error"]["code"] == "unknown_booking"
    assert results[2]["event_id"] is None
    assert _count(make_db, Event) == 2


def test_the_largest_batch_is_taken(api: Api, make_db: sessionmaker[Session]) -> None:
    events = [GOOD | {"event_id": str(number)} for number in range(500)]
    answer = api.post("/events", events)
    assert answer.json["accepted"] == 500
    assert sum(r["executions_created"] for r in answer.json["results"]) == 500
    assert _count(make_db, Execution) == 500


def test_an_event_can_be_looked_at_by_either_id(api: Api) -> None:
    context = {"mood": "good 🔔"}
    told = api.post("/events", GOOD | {"event_id": "mine/1", "context": context})
    event_id = told.json["event_id"]
    for path in (f"/events/{event_id}", "/events/mine%2F1"):
        shown = api.get(path)
        assert shown.status_code == 200, path
        assert shown.json["id"] == event_id
        assert shown.json["producer_event_id"] == "mine/1"
        assert shown.json["context"]["mood"] == "good 🔔"
        (decision,) = shown.json["decisions"]
        assert decision["outcome"] == "fired"
        assert UUID(decision["execution_id"])


def test_the_no_is_told_with_its_reason(
    api: Api, make_db: sessionmaker[Session]
) -> None:
    with make_db.begin() as session:
        session.scalars(
            select(Rule).filter_by(name="booking.confirmed")
        ).one().enabled = False
    told = api.post("/events", GOOD)
    assert told.json["executions_created"] == 0
    (decision,) = api.get(f"/events/{told.json['event_id']}").json["decisions"]
    assert (decision["outcome"], decision["reason"]) == ("no", "rule_disabled")
    assert decision["message"] == "The rule is switched off."


def test_a_context_that_is_too_big_is_refused(
    api: Api, make_db: sessionmaker[Session]
) -> None:
    answer = api.post("/events", GOOD | {"context": {"x": "y" * 70_000}})
    (problem,) = error_of(answer, 422)["problems"]
    assert problem["field"] == "context"
    assert _count(make_db, Event) == 0


def test_an_access_token_in_a_context_is_not_kept(
    api: Api, make_db: sessionmaker[Session]
) -> None:
    api.post("/events", GOOD | {"context": {"guest": {"access_token": "s3cret"}}})
    with make_db() as session:
        data = session.scalars(select(EventData.data)).all()
    assert "s3cret" not in str(data)


CLOUD = {
    "specversion": "1.0",
    "id": "1",
    "source": "/website",
    "type": "booking.confirmed",
    "time": "2026-03-10T13:00:00Z",
    "traceparent": "00-x",
    "data": {"podcast_id": "p", "booking_id": "b", "mood": "good"},
}


def _cloud(api: Api, body: Any, kind: str) -> Any:
    return api.post("/events", body, headers={"Content-Type": kind})


def test_a_structured_cloudevent_is_an_event(
    api: Api, make_db: sessionmaker[Session]
) -> None:
    kind = "application/cloudevents+json; charset=utf-8"
    answer = _cloud(api, CLOUD, kind)
    assert answer.status_code == 202
    assert answer.json["executions_created"] == 1
    with make_db() as session:
        event = session.scalars(select(Event)).one()
        data = session.scalars(select(EventData.data)).one()
    assert event.external_id == "/website#1"
    assert event.occurred_at.isoformat() == "2026-03-10T13:00:00+00:00"
    assert data["mood"] == "good"
    assert _cloud(api, CLOUD, kind).json["duplicate"] is True


def test_two_sources_may_use_the_same_id(api: Api) -> None:
    kind = "application/cloudevents-batch+json"
    answer = _cloud(api, [CLOUD, CLOUD, CLOUD | {"source": "/app"}], kind)
    assert [each["duplicate"] for each in answer.json["results"]] == [
        False,
        True,
        False,
    ]


def test_a_binary_cloudevent_stands_in_the_headers(
    api: Api, make_db: sessionmaker[Session]
) -> None:
    headers = {
        "ce-specversion": "1.0",
        "ce-id": "caf%C3%A9",
        "ce-source": "/website",
        "ce-type": "booking.confirmed",
    }
    answer = api.post("/events", CLOUD["data"], headers=headers)
    assert answer.status_code == 202, answer.text
    with make_db() as session:
        assert session.scalars(select(Event.external_id)).one() == "/website#café"


@pytest.mark.parametrize(
    ("body", "kind", "field"),
    [
        (CLOUD | {"specversion": "0.3"}, "application/cloudevents+json", "specversion"),
        (CLOUD | {"type": "x"}, "application/cloudevents+json", "type"),
        (CLOUD | {"id": ""}, "application/cloudevents+json", "id"),
        (CLOUD | {"id": "x" * 250}, "application/cloudevents+json", "id"),
        (CLOUD | {"data": None}, "application/cloudevents+json", "data"),
        (CLOUD | {"data": {}}, "application/cloudevents+json", "data.podcast_id"),
        (
            [CLOUD, CLOUD | {"time": "now"}],
            "application/cloudevents-batch+json",
            "events[1].time",
        ),
    ],
)
def test_a_wrong_cloudevent_is_told_where(
    api: Api, body: Any, kind: str, field: str
) -> None:
    (problem,) = error_of(_cloud(api, body, kind), 422)["problems"]
    assert problem["field"] == field


def test_one_and_many_cloudevents_are_not_mixed_up(api: Api) -> None:
    for body, kind in (([CLOUD], ""), (CLOUD, "-batch")):
        answer = _cloud(api, body, f"application/cloudevents{kind}+json")
        assert error_of(answer, 422)["code"] == "object_expected"
