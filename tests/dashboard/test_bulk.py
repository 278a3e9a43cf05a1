"""All that match, of engagements and deliveries: what can, what cannot, and why."""

from __future__ import annotations

from datetime import timedelta
from uuid import UUID

import pytest
from sqlalchemy import Engine, select
from sqlalchemy.orm import Session

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


def test_a_viewer_is_not_asked(as_viewer: Browser, engaged: dict[str, UUID]) -> None:
    assert as_viewer.get("/outreach/all/wake").status_code == 403
    assert "Change many" not in as_viewer.get("/outreach/").text
