"""Rules that wait for ``contact.due``: written, tried, explained, and carried out."""

from __future__ import annotations

from uuid import UUID

import pytest
from sqlalchemy import Engine, select
from sqlalchemy.orm import Session, sessionmaker

from dashboard.rules.drafts import draft
from tasks.db import sessions
from tasks.lanes import contact_due, executions
from tasks.models import Event, Execution, ExecutionState, Rule
from tests.dashboard.conftest import Browser
from tests.dashboard.rules.conftest import mail
from tests.support import factories
from tests.support.factories import NOW
from tests.support.fakes import FakePost, bench
from tests.support.outreach import AGENT, engagement

Sessions = sessionmaker[Session]


@pytest.fixture
def make_db(sqlite_engine: Engine) -> Sessions:
    return sessions(sqlite_engine)


@pytest.fixture
def house(make_db: Sessions) -> UUID:
    with make_db.begin() as session:
        return factories.congregation(session)


def test_its_first_words_are_for_the_agent(as_operator: Browser, house: UUID) -> None:
    for locale in ("en", "fr"):
        words = draft("contact.due", locale)
        assert words is not None
        assert words.recipient == "agent"
        assert "{{ contact.address }}" in words.text
    page = as_operator.get("/rules/new?trigger=contact.due").get_data(as_text=True)
    assert "Contact due" in page


@pytest.mark.parametrize("recipient", ["guest", "host"])
def test_it_knows_no_guest_and_no_host(
    as_operator: Browser, house: UUID, recipient: str
) -> None:
    data = mail(house, trigger_type="contact.due", recipient=recipient)
    answer = as_operator.post("/rules/", data=data)
    assert answer.status_code == 422
    assert "contact.due knows a contact and an agent" in answer.get_data(as_text=True)
    other = as_operator.post("/rules/", data=mail(house, recipient="agent"))
    assert "booking.confirmed knows a guest and a host" in other.get_data(as_text=True)


def test_a_rule_is_written_looked_at_and_wakes_the_agent_by_mail(
    as_operator: Browser, house: UUID, make_db: Sessions
) -> None:
    told = {
        "subject": "{{ contact.display_name | default: contact.address }} is due",
        "text": "{{ engagement.stage }}, {{ contact.metadata.city | default: '?' }}",
    }
    data = mail(house, trigger_type="contact.due", recipient="agent", **told)
    assert as_operator.post("/rules/", data=data).status_code == 303
    with make_db() as session:
        rule = session.scalars(select(Rule)).one()
    for path in (f"/rules/{rule.id}", f"/rules/{rule.id}/try", f"/why/?rule={rule.id}"):
        assert as_operator.get(path).status_code == 200, path

    with make_db.begin() as session:
        row = engagement(session, house, stage="warm")
        engagement(session, house, "max@example.org", stage="cold")
    post = FakePost()
    contact_due.sweep(bench(make_db, lambda: NOW, post), 10)
    executions.sweep(bench(make_db, lambda: NOW, post), 10)

    with make_db() as session:
        found = session.scalars(select(Execution)).all()
        assert {each.state for each in found} == {ExecutionState.SUCCEEDED}
        event_id = session.scalars(select(Event.id)).first()
    assert {message["to"] for _, message in post.sent} == {AGENT}
    assert "zoe@example.org is due" in {message["subject"] for _, message in post.sent}
    for path in (
        "/events/?type=contact.due",
        f"/events/{event_id}",
        f"/executions/{found[0].id}",
        "/executions/",
        "/",
        f"/outreach/{row.id}",
    ):
        assert as_operator.get(path).status_code == 200, path
    page = as_operator.get(f"/events/{event_id}").get_data(as_text=True)
    assert f"/outreach/{row.id}" in page
