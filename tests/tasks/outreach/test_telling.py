"""The event ``contact.due`` says exactly this, with facts and without content."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone
from uuid import UUID

from tasks.automation.triggers import TRIGGERS
from tasks.models import Agent, Contact, Engagement
from tasks.outreach.telling import event_id_of, event_of, told_of

AT = datetime(2026, 3, 12, 14, 0, 0, 250_000, tzinfo=timezone(timedelta(hours=1)))
ID = UUID("01950000-0000-7000-8000-000000000001")
CONTACT = Contact(id=ID, address="zoe@example.org", display_name="", details={})
AGENT = Agent(id=ID, address="sales@agents.org")


def _engagement(**values: object) -> Engagement:
    known = {"id": ID, "congregation_id": ID, "revision": 3, "outbound_count": 0}
    about = {"address": "zoe@example.org", "stage": "", "next_action_at": AT}
    return Engagement(**known | about | values)


MINIMAL = {
    "contact": {
        "id": str(ID),
        "address": "zoe@example.org",
        "display_name": "",
        "metadata": {},
    },
    "engagement": {
        "id": str(ID),
        "revision": 3,
        "agent_email": "sales@agents.org",
        "address": "zoe@example.org",
        "stage": "",
        "next_action_at": "2026-03-12T13:00:00.250000Z",
        "replied": False,
        "outbound_count": 0,
    },
}


def test_the_least_that_it_says() -> None:
    assert told_of(_engagement(), CONTACT, AGENT) == MINIMAL


def test_the_most_that_it_says() -> None:
    sent = datetime(2026, 3, 1, 9, tzinfo=UTC)
    row = _engagement(
        stage="warm",
        outbound_count=2,
        first_outbound_at=sent,
        last_outbound_at=sent,
        last_inbound_at=sent + timedelta(hours=1),
        last_conversation_id="c1",
        campaign="Spring",
        details={"notes": "the agent's own, which stay here"},
    )
    contact = Contact(
        id=ID, address="zoe@example.org", display_name="Zoe", details={"vip": True}
    )
    told = told_of(row, contact, AGENT)
    assert told["contact"] == MINIMAL["contact"] | {
        "display_name": "Zoe",
        "metadata": {"vip": True},
    }
    assert told["engagement"] == MINIMAL["engagement"] | {
        "stage": "warm",
        "replied": True,
        "outbound_count": 2,
        "last_outbound_at": "2026-03-01T09:00:00Z",
        "last_conversation_id": "c1",
        "campaign": "Spring",
    }
    promised = {
        name
        for name in TRIGGERS["contact.due"].variables
        if not name.startswith("congregation.")
    }
    held = {f"{section}.{name}" for section in told for name in told[section]}
    assert held - promised == {"engagement.address"}
    assert promised <= held


def test_its_id_is_that_of_the_schedule() -> None:
    row = _engagement()
    assert event_id_of(row) == f"carillon:contact.due:{ID}:3"
    assert event_id_of(row) == event_of(row, CONTACT, AGENT).event_id
    assert event_id_of(row, 2) != event_id_of(row)
