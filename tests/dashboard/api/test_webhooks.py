"""Webhook endpoints over HTTP."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from sqlalchemy import select
from sqlalchemy.orm import Session, sessionmaker

from tasks.models import Delivery, DeliveryState, Endpoint, new_id
from tests.dashboard.api.caller import Api, error_of

URL = "https://example.org/hook"


def add(api: Api, **values: Any) -> dict[str, Any]:
    answer = api.post("/webhook-endpoints", {"url": URL, **values})
    assert answer.status_code == 201, answer.text
    made: dict[str, Any] = answer.json or {}
    return made


def test_a_secret_is_told_once(api: Api) -> None:
    made = add(api, description="Website")
    assert made["secret"].startswith("whsec_")
    assert made["event_types"] is None
    listed = api.get("/webhook-endpoints").json
    assert listed is not None
    (shown,) = listed["endpoints"]
    assert shown == {k: v for k, v in made.items() if k != "secret"}
    another = api.post(f"/webhook-endpoints/{made['id']}/secret").json
    assert another is not None
    assert another["secret"] != made["secret"]


def test_answers_with_secrets_are_kept_for_nobody(api: Api) -> None:
    headers = {"Idempotency-Key": "once"}
    answer = api.post("/webhook-endpoints", {"url": URL}, headers=headers)
    assert error_of(answer, 422)["problems"][0]["code"] == "idempotency_key_refused"
    assert api.get("/webhook-endpoints").json == {"endpoints": [], "next_cursor": None}


def test_what_is_absent_stays_and_null_means_all(api: Api) -> None:
    id_ = add(api, event_types=["booking.confirmed"], description="Website")["id"]
    changed = api.put(f"/webhook-endpoints/{id_}", {"description": "Calendar"}).json
    assert changed is not None
    assert changed["event_types"] == ["booking.confirmed"]
    assert changed["url"] == URL
    changed = api.put(f"/webhook-endpoints/{id_}", {"event_types": None}).json
    assert changed is not None
    assert (changed["event_types"], changed["description"]) == (None, "Calendar")


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("url", None),
        ("url", "https://10.0.0.1/"),
        ("url", 7),
        ("event_types", []),
        ("event_types", ["nonsense"]),
        ("event_types", "booking.confirmed"),
        ("podcast_ids", ["nowhere"]),
        ("description", "a\nb"),
        ("unknown", 1),
    ],
)
def test_a_mistake_is_named(api: Api, field: str, value: Any) -> None:
    answer = api.post("/webhook-endpoints", {"url": URL, field: value})
    error = error_of(answer, 422)
    told = str(error.get("problems") or error)
    assert field in told or "url" in told


def test_an_endpoint_is_switched_tested_and_removed(
    api: Api, make_db: sessionmaker[Session]
) -> None:
    where = f"/webhook-endpoints/{add(api)['id']}"
    off = api.post(f"{where}/disable").json
    assert off is not None
    assert (off["enabled"], off["disabled_reason"]) == (False, "operator")
    assert error_of(api.post(f"{where}/test"), 409)["code"] == "endpoint_disabled"
    assert (api.post(f"{where}/enable").json or {})["enabled"]
    sent = api.post(f"{where}/test")
    assert sent.status_code == 202
    with make_db.begin() as session:
        row = session.scalars(select(Delivery)).one()
        row.state = DeliveryState.FAILED
    again = api.post(f"/webhook-deliveries/{row.id}/retry")
    assert (again.status_code, (again.json or {})["state"]) == (202, "pending")
    listed = api.get("/webhook-deliveries?state=pending").json or {}
    assert [one["id"] for one in listed["deliveries"]] == [str(row.id)]
    assert (api.get("/webhook-deliveries?state=failed").json or {})["deliveries"] == []
    assert api.call("DELETE", where).json == {"removed": True}
    assert error_of(api.get(where), 404)["code"] == "unknown_endpoint"


def test_it_needs_a_scope_of_its_own(api: Api, producer: Callable[..., Api]) -> None:
    other = producer(api.congregation_id, "records:write", "records:read")
    for method, path in (
        ("GET", "/webhook-endpoints"),
        ("POST", "/webhook-endpoints"),
        ("GET", "/webhook-deliveries"),
    ):
        error = error_of(other.call(method, path, json={}), 403)
        assert error["scope"] == "webhooks:manage"


def test_a_twin_sees_and_changes_nothing(
    api: Api, twin: Api, make_db: sessionmaker[Session]
) -> None:
    made = add(api)
    where = f"/webhook-endpoints/{made['id']}"
    assert (twin.get("/webhook-endpoints").json or {})["endpoints"] == []
    assert twin.get(where).json == twin.get(f"/webhook-endpoints/{new_id()}").json
    assert twin.put(where, {"url": URL}).status_code == 404
    for verb in ("secret", "enable", "disable", "test"):
        assert twin.post(f"{where}/{verb}").status_code == 404
    assert twin.call("DELETE", where).status_code == 404
    with make_db() as session:
        row = session.scalars(select(Endpoint)).one()
        assert (row.enabled, row.deleted_at) == (True, None)
