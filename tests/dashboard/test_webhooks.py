"""The pages of webhooks: endpoints, their buttons, deliveries."""

from __future__ import annotations

import html
import re
from dataclasses import dataclass
from datetime import timedelta
from typing import Any
from uuid import UUID

import pytest
from sqlalchemy import Engine, select
from sqlalchemy.orm import Session, sessionmaker

from tasks.automation import AutomationEvent, emit_events
from tasks.clock import utcnow
from tasks.db import sessions
from tasks.lane import Bench
from tasks.lanes import deliveries, fanout
from tasks.models import Delivery, DeliveryState, Endpoint, OutboxEntry
from tasks.operations.audit import SYSTEM
from tasks.secrets import SecretBox
from tasks.webhooks import notices
from tasks.webhooks.endpoint_fields import EndpointChange
from tasks.webhooks.endpoints import add_endpoint
from tests.dashboard.conftest import Browser
from tests.support import factories
from tests.support.fakes import FakePost, bench


@dataclass
class Office:
    """A congregation, and what the pages do to it."""

    make: sessionmaker[Session]
    id: UUID

    def form(self, **values: Any) -> dict[str, Any]:
        form = {"url": "https://example.org/hook", "scope": str(self.id)}
        return form | {"which": "all"} | values

    def add(self, browser: Browser, **values: Any) -> UUID:
        answer = browser.post("/webhooks/", data=self.form(**values))
        assert answer.status_code == 201, answer.get_data(as_text=True)
        with self.make() as session:
            return session.scalars(
                select(Endpoint.id).order_by(Endpoint.id.desc())
            ).all()[0]

    def happen(self) -> UUID:
        event = AutomationEvent("booking.confirmed", "show", congregation_id=self.id)
        with self.make.begin() as session:
            (done,) = emit_events(session, [event])
            assert done.event_id, done.error
        return done.event_id

    def work(self) -> None:
        fanout.sweep(self.bench, 10)
        deliveries.sweep(self.bench, 10)

    @property
    def bench(self) -> Bench:
        return bench(self.make, utcnow, FakePost())

    def one(self) -> Delivery:
        with self.make() as session:
            return session.scalars(select(Delivery)).one()

    def endpoint(self, id_: UUID) -> Endpoint:
        with self.make() as session:
            return session.get_one(Endpoint, id_)


@pytest.fixture
def office(sqlite_engine: Engine) -> Office:
    make = sessions(sqlite_engine)
    with make.begin() as session:
        return Office(make, factories.congregation(session))


def text(browser: Browser, path: str) -> str:
    answer = browser.get(path)
    assert answer.status_code == 200, path
    return answer.get_data(as_text=True)


def test_a_secret_is_shown_once(as_admin: Browser, office: Office) -> None:
    answer = as_admin.post("/webhooks/", data=office.form(description="Website"))
    shown = answer.get_data(as_text=True)
    found = re.search(r"whsec_[A-Za-z0-9+/=]{40,}", shown)
    assert found
    assert answer.headers["Cache-Control"] == "no-store"
    page = text(as_admin, "/webhooks/")
    assert "Website" in page
    assert found[0] not in page


@pytest.mark.parametrize(
    ("values", "sentence"),
    [
        ({"url": ""}, "Give the address to call"),
        ({"url": "http://10.0.0.1/"}, "Only https"),
        ({"url": "https://127.0.0.1/"}, "private or local"),
        ({"scope": ""}, "Choose a congregation or a podcast."),
        ({"scope": "nonsense"}, "Choose a congregation or a podcast."),
        ({"which": "chosen"}, "Choose at least one type of event"),
        ({"which": "chosen", "event_types": "no.such"}, "There is no event type"),
        ({"description": "x" * 201}, "at most 200 characters"),
    ],
)
def test_a_mistake_is_explained_at_its_field(
    as_admin: Browser, office: Office, values: dict[str, str], sentence: str
) -> None:
    answer = as_admin.post("/webhooks/", data=office.form(**values))
    assert answer.status_code == 422
    assert sentence in answer.get_data(as_text=True)


def test_an_endpoint_of_nowhere_is_not_found(as_admin: Browser, office: Office) -> None:
    scope = "018f4c1e-7a00-7000-8000-000000000000"
    answer = as_admin.post("/webhooks/", data=office.form(scope=scope))
    assert answer.status_code == 422
    assert "There is no such congregation." in answer.get_data(as_text=True)


def test_a_form_shows_and_changes_what_is_set(
    as_admin: Browser, office: Office
) -> None:
    id_ = office.add(
        as_admin,
        scope=f"{office.id}/show",
        which="chosen",
        event_types=["booking.confirmed"],
    )
    page = text(as_admin, f"/webhooks/{id_}/edit")
    assert 'checked class="form-check-input" id="event_types-0"' in page
    assert text(as_admin, f"/webhooks/{id_}").count("Booking confirmed") == 1
    answer = as_admin.post(
        f"/webhooks/{id_}", data=office.form(url="https://example.org/new")
    )
    assert answer.status_code == 303
    row = office.endpoint(id_)
    assert (row.url, row.event_types, row.podcast_ids) == (
        "https://example.org/new",
        None,
        None,
    )
    answer = as_admin.post(f"/webhooks/{id_}", data=office.form(url="ftp://x"))
    assert answer.status_code == 422


def test_a_new_secret_is_shown_and_the_former_holds_for_a_day(
    as_admin: Browser, office: Office
) -> None:
    id_ = office.add(as_admin)
    answer = as_admin.post(f"/webhooks/{id_}/secret", data={"former": "keep"})
    assert "as well" in answer.get_data(as_text=True)
    assert office.endpoint(id_).former_secret
    answer = as_admin.post(f"/webhooks/{id_}/secret", data={"former": "drop"})
    assert "alone" in answer.get_data(as_text=True)
    assert office.endpoint(id_).former_secret is None


def test_the_buttons_of_an_endpoint(as_admin: Browser, office: Office) -> None:
    id_ = office.add(as_admin)
    as_admin.post(f"/webhooks/{id_}/disable")
    assert "Switched off" in text(as_admin, f"/webhooks/{id_}")
    as_admin.post(f"/webhooks/{id_}/test")
    assert "Switch the endpoint on first." in text(as_admin, f"/webhooks/{id_}")
    answer = as_admin.post(f"/webhooks/{id_}/enable")
    assert "since=" in answer.headers["Location"]
    answer = as_admin.post(f"/webhooks/{id_}/test")
    assert "/webhooks/deliveries/" in answer.headers["Location"]
    assert "This is a test" in text(as_admin, answer.headers["Location"])
    asked = text(as_admin, f"/webhooks/deliveries/retry-all?to={id_}")
    assert "1 cannot, and stays as it is: they are on their way already." in asked
    as_admin.post(f"/webhooks/{id_}/delete")
    assert as_admin.get(f"/webhooks/{id_}").status_code == 404
    assert "removed" in text(as_admin, "/webhooks/deliveries")


def test_a_span_is_told_again(as_operator: Browser, office: Office) -> None:
    with office.make.begin() as session:
        made, _ = add_endpoint(
            session,
            office.id,
            EndpointChange("https://example.org/"),
            SYSTEM,
            box=SecretBox("x"),
            now=utcnow(),
        )
    office.happen()
    office.work()
    since = (utcnow() - timedelta(hours=1)).strftime("%Y-%m-%dT%H:%M")
    where = f"/webhooks/{made.id}/replay"
    for bad in ({}, {"since": "yesterday"}, {"since": since, "until": "2000-01-01"}):
        assert as_operator.post(where, data=bad).status_code == 422, bad
    assert as_operator.post(where, data={"since": since}).status_code == 303
    with office.make() as session:
        entry = session.scalars(select(OutboxEntry)).one()
        assert (entry.endpoint_id, entry.again) == (made.id, False)
    assert "looked at again" in text(as_operator, f"/webhooks/{made.id}")


def test_a_delivery_shows_its_tries_and_can_be_sent_again(
    as_admin: Browser, office: Office
) -> None:
    id_ = office.add(as_admin)
    event = office.happen()
    office.work()  # nobody to deliver: it is tried again
    row = office.one()
    where = f"/webhooks/deliveries/{row.id}"
    page = text(as_admin, where)
    assert "This worker delivers no webhooks." in page
    assert str(event) in page
    assert 'id="attempt-1"' in page
    with office.make.begin() as session:
        session.get_one(Delivery, row.id).state = DeliveryState.FAILED
        session.get_one(Delivery, row.id).settled_at = utcnow()
    for path in (
        *("", "?state=failed", f"?to={id_}", "?type=booking.confirmed"),
        *("?since=2026-01-01T00:00", "?until=9999-01-01T00:00", "?since=soon"),
        "?since=0001-01-01T00:00",
    ):
        assert f'id="delivery-{row.id}"' in text(
            as_admin, f"/webhooks/deliveries{path}"
        )
    for path in (
        *("?state=delivered", "?type=endpoint.test"),
        *("?until=2026-01-01T00:00", "?since=9999-01-01T00:00"),
        "?until=0001-01-01T00:00",
    ):
        assert "No delivery matches" in text(as_admin, f"/webhooks/deliveries{path}")
    for path in ("?state=nonsense", "?to=nonsense", "?type=%00"):
        assert f'id="delivery-{row.id}"' in text(
            as_admin, f"/webhooks/deliveries{path}"
        )
    hour = re.search(
        r'href="(/webhooks/deliveries\?[^"]*since=[^"]+)"',
        text(as_admin, f"/webhooks/{id_}"),
    )
    assert hour
    assert f'id="delivery-{row.id}"' in text(as_admin, html.unescape(hour[1]))
    as_admin.post(f"{where}/retry")
    assert office.one().state is DeliveryState.PENDING
    as_admin.post(f"{where}/retry")
    assert "on its way already" in text(as_admin, where)


def test_an_event_says_who_was_told_and_can_be_told_again(
    as_admin: Browser, office: Office
) -> None:
    silent = office.happen()
    as_admin.post(f"/webhooks/events/{silent}/replay")
    page = text(as_admin, f"/events/{silent}")
    assert "No endpoint of this congregation is enabled." in page
    assert "Tell endpoints again" not in page
    office.add(as_admin, description="Website")
    as_admin.post(f"/webhooks/events/{silent}/replay")
    office.work()
    page = text(as_admin, f"/events/{silent}")
    assert "Tell endpoints again" in page
    assert "Website" in page


def test_a_viewer_looks_and_an_operator_changes_no_endpoint(
    as_viewer: Browser, as_operator: Browser, as_admin: Browser, office: Office
) -> None:
    id_ = office.add(as_admin)
    assert "New endpoint" not in text(as_viewer, "/webhooks/")
    assert as_viewer.post(f"/webhooks/{id_}/test").status_code == 403
    assert as_operator.get("/webhooks/new").status_code == 403
    assert as_operator.post("/webhooks/", data=office.form()).status_code == 403
    for verb in ("secret", "delete"):
        assert as_operator.post(f"/webhooks/{id_}/{verb}").status_code == 403
    assert as_operator.post(f"/webhooks/{id_}/test").status_code == 303


def test_the_overview_says_that_an_endpoint_needs_somebody(
    as_admin: Browser, office: Office
) -> None:
    id_ = office.add(as_admin)
    office.happen()
    assert "Webhook endpoints" not in text(as_admin, "/")
    with office.make.begin() as session:
        endpoint = session.get_one(Endpoint, id_)
        endpoint.failing_since = endpoint.warned_at = utcnow()
        endpoint.failures = 7
        notices.warn(session, endpoint, utcnow(), utcnow())
    assert "Webhook endpoints" in text(as_admin, "/")
    page = text(as_admin, f"/webhooks/{id_}")
    assert "it is switched off at" in page
    told = page.split('id="admin-mails"', 1)[1].partition("</dd>")[0]
    assert told.count("admin@example.org") == 1
