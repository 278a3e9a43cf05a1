"""What may be asked of an endpoint, and what is said about mistakes."""

from __future__ import annotations

from typing import Any

import pytest
from sqlalchemy import select

from tasks.errors import Conflict, InvalidInput, NotFound
from tasks.models import AuditEntry, new_id
from tasks.webhooks import endpoint_fields
from tasks.webhooks.endpoint_fields import EndpointChange
from tasks.webhooks.endpoints import add_endpoint, edit_endpoint, enable
from tasks.webhooks.testing import send_test
from tests.tasks.webhooks.conftest import ACTOR, BOX, Desk

GOOD: dict[str, Any] = {"url": "https://example.org/hook"}


def add(desk: Desk, **values: Any) -> None:
    with desk.begin() as session:
        change = EndpointChange(**GOOD | values)
        add_endpoint(session, desk.world.id, change, ACTOR, box=BOX, now=desk.now)


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("url", ""),
        ("url", "http://example.org/"),
        ("url", "https://127.0.0.1/"),
        ("url", "https://0x7f.1/"),
        ("url", "https://user:pass@example.org/"),
        ("url", "https://example.org:22/"),
        ("url", "javascript:alert(1)"),
        ("description", "x" * 201),
        ("description", "a\x00b"),
        ("event_types", []),
        ("event_types", ["booking.exploded"]),
        ("event_types", ["time.before_recording"]),
        ("podcast_ids", []),
        ("podcast_ids", ["show", "nowhere"]),
        ("podcast_ids", ["\x00"]),
    ],
)
def test_a_mistake_is_named_at_its_field(desk: Desk, field: str, value: Any) -> None:
    with pytest.raises(InvalidInput) as refused:
        add(desk, **{field: value})
    assert refused.value.field == field
    assert refused.value.message.endswith(".")


def test_a_congregation_has_so_many_endpoints_and_no_more(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(endpoint_fields, "ENDPOINTS_MAX", 1)
    add(desk)
    with pytest.raises(Conflict, match="at most 1"):
        add(desk)


def test_secrets_are_sealed_and_told_to_nobody(desk: Desk) -> None:
    endpoint = desk.endpoint()
    assert desk.secret not in endpoint.secret
    assert BOX.unseal(endpoint.secret) == desk.secret
    with desk.begin() as session:
        entries = session.scalars(select(AuditEntry)).all()
    assert [entry.action for entry in entries] == ["endpoint.created"]
    assert desk.secret not in str([(entry.before, entry.after) for entry in entries])


def test_a_change_holds_for_what_waits(desk: Desk) -> None:
    endpoint = desk.endpoint("/former")
    desk.happen()
    desk.fan_out()
    with desk.begin() as session:
        changed = edit_endpoint(
            session, endpoint.id, EndpointChange(**GOOD), ACTOR, desk.now
        )
        changed.url = desk.sink.url("/new")
    desk.deliver()
    assert [hook.path for hook in desk.sink.requests] == ["/new"]


def test_what_is_not_there_is_not_found(desk: Desk) -> None:
    with desk.begin() as session:
        for call in (
            lambda: enable(session, new_id(), ACTOR, desk.now),
            lambda: send_test(session, new_id(), ACTOR, desk.now),
        ):
            with pytest.raises(NotFound):
                call()
