"""All that match, of engagements and deliveries: what can, what cannot, and why."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from uuid import UUID

import pytest
from bs4 import BeautifulSoup
from flask import Flask
from sqlalchemy import Engine, select
from sqlalchemy.orm import Session

from dashboard import amounts
from tasks.clock import utcnow
from tasks.models import (
    Congregation,
    Delivery,
    DeliveryState,
    Endpoint,
    Engagement,
    Event,
    Operation,
    OperationKind,
    OperationState,
    SuppressionReason,
    WakeState,
    new_id,
)
from tasks.operations.audit import SYSTEM
from tasks.operations.suppressions import suppress
from tasks.outreach.scheduling import schedule
from tests.dashboard.conftest import Browser
from tests.support.confirming import confirm
from tests.support.factories import NOW
from tests.support.outreach import engagement
from tests.support.statements import statements
from tests.support.webhooks import webhooks

LATER = utcnow() + timedelta(days=30)


@pytest.fixture
def engaged(sqlite_engine: Engine, congregation: Congregation) -> dict[str, UUID]:
    """Return engagements by name: two that come, one paused, one stopped address."""
    with Session(sqlite_engine) as session, session.begin():
        found = {}
        for name in ("anna", "ben", "paused", "stopped", "idle"):
            row = engagement(
                session, congregation.id, f"{name}@example.org", next_action_at=LATER
            )
            found[name] = row.id
            if name == "paused":
                row.paused_at = NOW
            if name == "idle":
                schedule(row, None)
        reason = SuppressionReason.ASKED
        suppress(session, congregation.id, "stopped@example.org", reason, SYSTEM)
        return found


def _rows(engine: Engine) -> dict[str, Engagement]:
    with Session(engine) as session:
        rows = session.scalars(select(Engagement)).all()
        return {row.address.partition("@")[0]: row for row in rows}


def test_the_agents_of_all_that_match_are_woken_where_that_is_of_use(
    as_operator: Browser, engaged: dict[str, UUID], sqlite_engine: Engine
) -> None:
    asked = as_operator.get("/outreach/all/wake?tab=upcoming").text
    assert "Wake 2 engagements" in asked
    assert "1 cannot, and stays as it is: they are paused, or their agent is." in asked
    assert "1 cannot, and stays as it is: the address is stopped." in asked
    told = confirm(as_operator, "/outreach/all/wake?tab=upcoming")
    assert "2 of 2 engagements looked at" in told
    rows = _rows(sqlite_engine)
    is_now = {
        name: row.next_action_at < LATER for name, row in rows.items() if name != "idle"
    }
    assert is_now == {"anna": True, "ben": True, "paused": False, "stopped": False}
    with Session(sqlite_engine) as session:
        row = session.scalars(select(Operation)).one()
        assert row.state is OperationState.DONE
        assert row.matching["within"].startswith("state:armed next:>2")
    page = as_operator.get("/operations/?q=lane:contact_due+state:done").text
    assert "Wake the agents of engagements" in page
    assert "No operation matches" in as_operator.get("/operations/?q=lane:email").text


def test_ticked_engagements_are_stopped_paused_and_resumed(
    as_operator: Browser, engaged: dict[str, UUID], sqlite_engine: Engine
) -> None:
    ids = {"id": [str(engaged[name]) for name in ("anna", "paused", "idle")]}
    told = confirm(as_operator, "/outreach/ticked/stop", ids)
    assert "2 stopped" in told
    told = confirm(as_operator, "/outreach/ticked/resume", ids)
    assert "1 resumed" in told
    told = confirm(as_operator, "/outreach/all/pause?q=anna@")
    assert "1 paused" in told
    rows = _rows(sqlite_engine)
    assert {name for name, row in rows.items() if row.paused_at} == {"anna"}
    idle = {name for name, r in rows.items() if r.wake_state is WakeState.IDLE}
    assert idle == {"anna", "paused", "idle"}
    too_many = {"id": [str(new_id()) for _ in range(201)]}
    assert as_operator.post("/outreach/ticked/stop", data=too_many).status_code == 400


def test_what_none_can_is_said_with_its_reason(
    as_operator: Browser, engaged: dict[str, UUID]
) -> None:
    asked = as_operator.get("/outreach/all/resume?q=anna@").text
    assert "Nothing to resume" in asked
    assert "1 cannot, and stays as it is: they are not paused." in asked


def test_deliveries_that_match_are_sent_again_but_for_those_of_endpoints_that_are_off(
    as_operator: Browser, congregation: Congregation, sqlite_engine: Engine
) -> None:
    with Session(sqlite_engine) as session, session.begin():
        for name in ("website", "intranet", "old"):
            event = Event(
                congregation_id=congregation.id,
                id=new_id(),
                type="booking.confirmed",
                booking_id="b1",
                source="api",
                occurred_at=NOW,
            )
            session.add(event)
            session.flush()
            webhooks(session, event, name)
        old = session.scalars(select(Endpoint).filter_by(description="Website old"))
        old.one().enabled = False
    asked = as_operator.get("/webhooks/deliveries/retry-all?q=endpoint:website").text
    assert "Send 2 deliveries again" in asked
    assert "1 cannot, and stays as it is: the endpoint is off" in asked
    told = confirm(as_operator, "/webhooks/deliveries/retry-all?q=endpoint:intranet")
    assert "1 queued again" in told
    with Session(sqlite_engine) as session:
        states = session.scalars(select(Delivery.state).order_by(Delivery.id)).all()
        assert sorted(states) == [
            DeliveryState.FAILED,
            DeliveryState.FAILED,
            DeliveryState.PENDING,
        ]
        row = session.scalars(select(Operation)).one()
        assert row.kind is OperationKind.RETRY_DELIVERIES
    listed = as_operator.get("/webhooks/deliveries").text
    assert "Send the one again that did not arrive" in listed
    bad = as_operator.get("/webhooks/deliveries/retry-all?to=nobody")
    assert bad.status_code == 400


def _links(browser: Browser, path: str, asked: str) -> dict[str, str]:
    """Return what links to questions say, and the questions' headings."""
    page = BeautifulSoup(browser.get(path).text, "html.parser")
    headings = {}
    for link in page.select(f".bulk a[href*='{asked}']"):
        question = BeautifulSoup(browser.get(str(link["href"])).text, "html.parser")
        heading = question.select_one("h1")
        assert heading is not None
        headings[" ".join(link.text.split())] = heading.text.strip()
    return headings


def test_links_to_questions_say_how_many_the_question_will_be_about(
    as_operator: Browser, engaged: dict[str, UUID]
) -> None:
    assert _links(as_operator, "/outreach/", "/all/") == {
        "Wake all 3 that can be woken": "Wake 3 engagements?",
        "Stop all 4 that have a schedule": "Stop 4 engagements?",
        "Pause all 4 that are not paused": "Pause 4 engagements?",
        "Resume the one that is paused": "Resume 1 engagement?",
    }
    assert _links(as_operator, "/outreach/?q=anna@", "/all/") == {
        "Wake the one that can be woken": "Wake 1 engagement?",
        "Stop the one that has a schedule": "Stop 1 engagement?",
        "Pause the one that is not paused": "Pause 1 engagement?",
    }
    assert _links(as_operator, "/outreach/?tab=stopped", "/all/") == {
        "Wake the one that can be woken": "Wake 1 engagement?",
        "Pause the one that is not paused": "Pause 1 engagement?",
    }


@pytest.fixture
def short(app: Flask, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let pages show one row, and two be looked at for a number."""
    config = replace(app.config["CARILLON"], page_size=1)
    monkeypatch.setitem(app.config, "CARILLON", config)
    monkeypatch.setattr(amounts, "COUNT_CAP", 2)


def test_numbers_are_lower_bounds_where_more_rows_are_than_are_looked_at(
    as_operator: Browser, engaged: dict[str, UUID], sqlite_engine: Engine, short: None
) -> None:
    path = "/outreach/"
    # Looked at are the idle one, and the one whose address is stopped.
    assert _links(as_operator, path, "/all/") == {
        "Wake all 1+ that can be woken": "Wake 3 engagements?",
        "Stop all 1+ that have a schedule": "Stop 4 engagements?",
        "Pause all 2+ that are not paused": "Pause 4 engagements?",
        "Resume all that are paused": "Resume 1 engagement?",
    }
    with statements() as seen:
        as_operator.get(path)
    counting = [one for one in seen if "count(" in one and "FROM engagements" in one]
    assert len(counting) == 1
    assert "LIMIT" in counting[0]
    # What is found on one page is counted, however far behind the newest it is.
    assert _links(as_operator, "/outreach/?q=anna@", "/all/") == {
        "Wake the one that can be woken": "Wake 1 engagement?",
        "Stop the one that has a schedule": "Stop 1 engagement?",
        "Pause the one that is not paused": "Pause 1 engagement?",
    }


def _happen(
    session: Session, of: UUID, type_: str, booking: str, minute: int = 0
) -> Event:
    event = Event(
        congregation_id=of,
        id=new_id(),
        type=type_,
        booking_id=booking,
        source="api",
        occurred_at=NOW,
        created_at=NOW + timedelta(minutes=minute),
    )
    session.add(event)
    session.flush()
    return event


def _three_confirmed(engine: Engine, of: UUID) -> None:
    """Let three bookings be confirmed, and then one be declined."""
    with Session(engine) as session, session.begin():
        for number in range(3):
            _happen(session, of, "booking.confirmed", f"b{number}", number)
        _happen(session, of, "booking.declined", "b0", 3)


def test_a_replay_of_events_says_its_number_before_and_after_the_press(
    as_operator: Browser,
    congregation: Congregation,
    sqlite_engine: Engine,
) -> None:
    _three_confirmed(sqlite_engine, congregation.id)
    asked = "/replay-all"
    assert _links(as_operator, "/events/?text=type:booking.confirmed", asked) == {
        "Replay all 3 events that match": "Replay 3 events?"
    }
    assert _links(as_operator, "/events/?text=booking:b1", asked) == {
        "Replay the one event that matches": "Replay 1 event?"
    }
    assert _links(as_operator, "/events/", asked) == {}, "nothing narrows it"


def test_a_replay_of_more_events_than_are_looked_at_says_how_many_there_are_at_least(
    as_operator: Browser, congregation: Congregation, sqlite_engine: Engine, short: None
) -> None:
    _three_confirmed(sqlite_engine, congregation.id)
    asked = "/replay-all"
    # Looked at are the newest two, one of which was declined.
    assert _links(as_operator, "/events/?text=type:booking.confirmed", asked) == {
        "Replay all 1+ events that match": "Replay 3 events?"
    }
    assert _links(as_operator, "/events/?text=type:booking.declined", asked) == {
        "Replay the one event that matches": "Replay 1 event?"
    }
    # Of one day an index knows the newest, so all that are looked at match.
    assert _links(as_operator, "/events/?since=2026-03-10T00:00", asked) == {
        "Replay all 2+ events that match": "Replay 4 events?"
    }


def test_the_page_of_an_endpoint_says_how_much_did_not_arrive(
    as_operator: Browser, congregation: Congregation, sqlite_engine: Engine
) -> None:
    with Session(sqlite_engine) as session, session.begin():
        event = _happen(session, congregation.id, "booking.confirmed", "b1")
        endpoint_id = webhooks(session, event, "website")["endpoint_id"]
    path = f"/webhooks/{endpoint_id}"
    page = BeautifulSoup(as_operator.get(path).text, "html.parser")
    [again] = page.select("#again a")
    assert "Send the one again that did not arrive" in again.text
    asked = as_operator.get(str(again["href"])).text
    assert "Send 1 delivery again" in asked
    confirm(as_operator, str(again["href"]))
    page = BeautifulSoup(as_operator.get(path).text, "html.parser")
    assert not page.select("#again > a")
    assert "Nothing is left that did not arrive." in page.text


def test_a_viewer_is_not_asked(as_viewer: Browser, engaged: dict[str, UUID]) -> None:
    assert as_viewer.get("/outreach/all/wake").status_code == 403
    assert "Change many" not in as_viewer.get("/outreach/").text
