"""Second chances from the console: of one execution, of events, of all that match."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from uuid import UUID

import pytest
from flask.testing import FlaskClient
from sqlalchemy import insert, select
from sqlalchemy.orm import Session, sessionmaker

from tasks.automation.events import AutomationEvent, emit_automation_event
from tasks.clock import utcnow
from tasks.models import Event, Execution, Operation, Rule, new_id
from tests.dashboard.operations.conftest import AN_HOUR_AGO, S, n_rows, press_confirm


@pytest.mark.parametrize(
    ("data", "sentence"),
    [
        ({}, "Tick this if it is meant to be sent a second time."),
        ({"again": "yes", "why": "Lost."}, "Type 3, the number of executions"),
        ({"again": "yes", "number": "4", "why": "Lost."}, "Type 3, the number"),
        ({"again": "yes", "number": "3"}, "Say why it is to be sent again"),
        ({"again": "yes", "number": "3", "why": "x" * 301}, "at most 300 are kept"),
    ],
)
def test_a_second_sending_of_many_is_confirmed_in_full(
    as_operator: FlaskClient,
    add: Callable[..., list[UUID]],
    make_db: sessionmaker[Session],
    data: dict[str, str],
    sentence: str,
) -> None:
    add(3, S.SUCCEEDED)
    answer = press_confirm(
        as_operator, "/executions/replay-all?state=succeeded", **data
    )
    assert answer.status_code == 422
    assert sentence in answer.text
    assert (n_rows(make_db, Operation), n_rows(make_db, Execution)) == (0, 3)


def test_one_execution_is_sent_again_and_both_know_of_each_other(
    as_operator: FlaskClient,
    add: Callable[..., list[UUID]],
    make_db: sessionmaker[Session],
) -> None:
    (id_,) = add(1, S.SUCCEEDED)
    page = as_operator.get(f"/executions/{id_}").text
    assert f'href="/executions/{id_}/replay"' in page
    data = {"again": "yes", "why": "The guest deleted it."}
    answer = press_confirm(as_operator, f"/executions/{id_}/replay", **data)
    assert answer.status_code == 303
    with make_db() as session:
        new = session.scalars(select(Execution.id).where(Execution.id != id_)).one()
    assert f'href="/executions/{new}"' in as_operator.get(f"/executions/{id_}").text
    assert f'href="/executions/{id_}"' in as_operator.get(f"/executions/{new}").text


def test_one_that_was_skipped_is_replayed_and_a_second_time_says_why_not(
    as_operator: FlaskClient, add: Callable[..., list[UUID]]
) -> None:
    (id_,) = add(1, S.SKIPPED)
    for sentence in ("1 execution came of it", "It was replayed before."):
        answer = press_confirm(as_operator, f"/executions/{id_}/replay")
        told = " ".join(as_operator.get(answer.location).text.split())
        assert sentence in told
    assert f'href="/executions/{id_}"' in told


def test_a_waiting_execution_has_nothing_to_replay(
    as_operator: FlaskClient, add: Callable[..., list[UUID]]
) -> None:
    (id_,) = add(1, S.RUNNING)
    assert "Nothing to replay" in as_operator.get(f"/executions/{id_}/replay").text


def test_an_event_is_replayed_for_rules_that_did_not_know_it(
    as_operator: FlaskClient, make_db: sessionmaker[Session], rule: Rule
) -> None:
    with make_db.begin() as session:
        session.get_one(Rule, rule.id).enabled = False
        event = AutomationEvent(
            "booking.confirmed",
            "show",
            booking_id="b1",
            congregation_id=rule.congregation_id,
        )
        emit_automation_event(session, event, now=AN_HOUR_AGO)
        id_ = session.scalars(select(Event.id)).one()
        session.get_one(Rule, rule.id).enabled = True
    assert f'href="/events/{id_}/replay"' in as_operator.get(f"/events/{id_}").text
    for sentence in ("1 execution came of it", "has acted on it already"):
        answer = press_confirm(as_operator, f"/events/{id_}/replay")
        told = " ".join(as_operator.get(answer.location).text.split())
        assert sentence in told
    assert n_rows(make_db, Execution) == 1
    page = as_operator.get(f"/events/{id_}").text
    assert "at a replay" in page
    assert "The same thing was already asked for." in page


def test_events_that_match_are_counted_and_replayed(
    as_operator: FlaskClient, make_db: sessionmaker[Session], rule: Rule
) -> None:
    with make_db.begin() as session:
        rows = [
            {
                "id": new_id(),
                "congregation_id": rule.congregation_id,
                "type": kind,
                "external_id": f"{kind}:{number}",
                "podcast_id": "show",
                "booking_id": "b1",
                "source": "api",
                "depth": 0,
                "occurred_at": AN_HOUR_AGO,
                "created_at": AN_HOUR_AGO,
            }
            for kind in ("booking.confirmed", "booking.cancelled")
            for number in range(3)
        ]
        session.execute(insert(Event), rows)
    url = "/events/replay-all?type=booking.confirmed"
    listed = as_operator.get("/events/?type=booking.confirmed").text
    assert f'href="{url}"' in listed
    assert "Replay 3 events?" in as_operator.get(url).text
    answer = press_confirm(as_operator, url, why="The rule was written too late.")
    told = " ".join(as_operator.get(answer.location).text.split())
    assert "3 executions came of it" in told
    assert "Booking confirmed" in told
    later = (utcnow() + timedelta(days=1)).strftime("%Y-%m-%dT%H:%M")
    empty = as_operator.get(f"/events/replay-all?since={later}").text
    assert "Nothing to replay" in empty


@pytest.mark.parametrize(
    "query",
    ["podcast=nonsense", "since=yesterday", "type=" + "x" * 99, "text=heard:soon"],
)
def test_a_filter_of_events_that_cannot_be_read_replays_nothing(
    as_operator: FlaskClient, query: str
) -> None:
    answer = as_operator.get(f"/events/replay-all?{query}")
    assert answer.status_code == 400
    assert "cannot be read" in answer.text


def test_a_replay_that_finds_nothing_new_leaves_the_answer_to_why(
    as_operator: FlaskClient, make_db: sessionmaker[Session], rule: Rule
) -> None:
    with make_db.begin() as session:
        event = AutomationEvent(
            "booking.confirmed",
            "show",
            booking_id="b1",
            congregation_id=rule.congregation_id,
        )
        emit_automation_event(session, event, now=AN_HOUR_AGO)
        id_ = session.scalars(select(Event.id)).one()
    url = "/why/bonifatius/bookings/b1"
    assert "already asked for" not in as_operator.get(url).text
    press_confirm(as_operator, f"/events/{id_}/replay")
    assert "already asked for" not in as_operator.get(url).text
    assert "already asked for" in as_operator.get(f"/events/{id_}").text
