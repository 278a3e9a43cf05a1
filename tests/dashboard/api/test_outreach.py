"""Contacts and engagements over HTTP."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from sqlalchemy import select
from sqlalchemy.orm import Session, sessionmaker
from werkzeug.test import TestResponse

from tasks.lanes.contact_due import sweep
from tasks.models import (
    Contact,
    Engagement,
    EngagementMessage,
    Suppression,
    SuppressionReason,
    WakeState,
)
from tasks.operations.audit import SYSTEM
from tasks.operations.suppressions import suppress
from tests.dashboard.api.caller import Api, error_of
from tests.support.fakes import FakePost, bench

AGENT = "/agents/sales@agents.org/contacts"
ZOE = f"{AGENT}/zoe@example.org"
SOON = "2026-03-12T14:00:00.250000+01:00"
PAST = "2026-01-05T09:00:00Z"


def _json(answer: TestResponse, status: int = 200) -> Any:
    assert answer.status_code == status, answer.text
    return answer.json


def _codes(error: dict[str, Any]) -> set[tuple[str, str]]:
    return {(each["field"], each["code"]) for each in error.get("problems", [])}


def _sweep(make_db: sessionmaker[Session]) -> Any:
    return sweep(bench(make_db, lambda: datetime.now(UTC), FakePost()), 200)


def test_enrolling_makes_the_contact_and_addresses_are_normalised(api: Api) -> None:
    made = _json(
        api.put(f"{AGENT}/Zoe@Example.ORG", {"next_action_at": SOON, "stage": "new"}),
        201,
    )
    assert made["address"] == made["contact"]["address"] == "zoe@example.org"
    assert (made["agent"], made["state"]) == ("sales@agents.org", "armed")
    assert made["next_action_at"] == "2026-03-12T13:00:00.250000Z"
    assert _json(api.get("/contacts/ZOE@example.org"))["source"] == "api"
    assert _json(api.get(ZOE)) == made


def test_absent_leaves_a_field_and_null_stops(api: Api) -> None:
    api.put(ZOE, {"next_action_at": SOON, "stage": "new", "metadata": {"a": 1}})
    kept = _json(api.put(ZOE, {"stage": "warm"}))
    assert (kept["next_action_at"] is not None, kept["metadata"]) == (True, {"a": 1})
    stopped = _json(api.put(ZOE, {"next_action_at": None, "metadata": None}))
    assert (stopped["state"], stopped["next_action_at"]) == ("idle", None)
    assert (stopped["stage"], stopped["metadata"]) == ("warm", {})


def test_the_second_of_two_writers_gets_a_412(api: Api) -> None:
    made = api.put(ZOE, {"stage": "new"})
    etag = {"If-Match": made.headers["ETag"]}
    changed = api.put(ZOE, {"stage": "first"}, headers=etag)
    assert changed.headers["ETag"] != made.headers["ETag"]
    error = error_of(api.put(ZOE, {"stage": "second"}, headers=etag), 412)
    assert error["code"] == "version_mismatch"
    assert error_of(api.call("DELETE", ZOE, headers=etag), 412)
    assert _json(api.get(ZOE))["stage"] == "first"
    assert api.get(ZOE).headers["ETag"] == changed.headers["ETag"]


@pytest.mark.parametrize(
    "tag", ['"7"', "*", '"x"', 'W/"1"', "", '"١"', f'"{"1" * 5_000}"']
)
def test_nothing_is_made_under_a_condition(
    api: Api, tag: str, make_db: sessionmaker[Session]
) -> None:
    answer = api.put(ZOE, {}, headers={"If-Match": tag.encode().decode("latin-1")})
    assert error_of(answer, 412)
    with make_db() as session:
        assert session.scalars(select(Contact)).all() == []


def test_any_version_will_do_for_a_star(api: Api) -> None:
    api.put(ZOE, {})
    assert _json(api.put(ZOE, {"stage": "x"}, headers={"If-Match": "*"}))


def test_what_is_the_server_s_own_cannot_be_written(api: Api) -> None:
    for name in ("state", "outbound_count", "last_inbound_at", "replied", "revision"):
        error = error_of(api.put(ZOE, {name: 1}), 422)
        assert _codes(error) == {(name, "unknown_field")}


@pytest.mark.parametrize(
    ("body", "problem"),
    [
        ({"next_action_at": "tomorrow"}, ("next_action_at", "date_invalid")),
        (
            {"next_action_at": "2026-03-12T14:00"},
            ("next_action_at", "date_without_offset"),
        ),
        ({"stage": "x" * 121}, ("stage", "too_long")),
        ({"stage": "a\nb"}, ("stage", "control_chars")),
        ({"metadata": []}, ("metadata", "wrong_type")),
        ({"metadata": {"x": "y" * 20_000}}, ("metadata", "metadata_too_large")),
        ({"stop_on_reply": "yes"}, ("stop_on_reply", "wrong_type")),
        ({"stop_on_reply": None}, ("stop_on_reply", "wrong_type")),
        ({"quiet_from": "25:00"}, ("quiet_from", "bad_clock")),
        ({"quiet_from": "7:00"}, ("quiet_from", "bad_clock")),
        ({"quiet_from": "²³:00"}, ("quiet_from", "bad_clock")),
        ({"quiet_from": "21:00"}, ("quiet_until", "quiet_hours")),
        (
            {"quiet_from": "21:00", "quiet_until": "21:00"},
            ("quiet_until", "quiet_hours"),
        ),
        ({"timezone": "Mars"}, ("timezone", "unknown_timezone")),
    ],
)
def test_a_wrong_field_is_named(
    api: Api, body: Any, problem: tuple[str, str], make_db: sessionmaker[Session]
) -> None:
    assert _codes(error_of(api.put(ZOE, body), 422)) == {problem}
    with make_db() as session:
        assert session.scalars(select(Contact)).all() == []


@pytest.mark.parametrize(
    "address", ["nobody", "a@b@c.org", "a@b.org, c@d.org", "-a@b.org", "x" * 250 + "@b"]
)
def test_what_is_no_address_is_refused(api: Api, address: str) -> None:
    assert _codes(error_of(api.put(f"/contacts/{address}", {}), 422))
    assert _codes(error_of(api.put(f"/agents/{address}/contacts/z@b.org", {}), 422))
    assert error_of(api.get(f"/contacts/{address}"), 404)


def test_removing_an_engagement_keeps_contact_and_suppression(
    api: Api, make_db: sessionmaker[Session]
) -> None:
    api.put(ZOE, {})
    with make_db.begin() as session:
        why = SuppressionReason.ASKED
        suppress(session, api.congregation_id, "zoe@example.org", why, SYSTEM)
    assert _json(api.get(ZOE))["suppressed"] is True
    assert _json(api.call("DELETE", ZOE)) == {"removed": True}
    assert error_of(api.get(ZOE), 404)["code"] == "unknown_engagement"
    assert error_of(api.call("DELETE", ZOE), 404)
    assert _json(api.call("DELETE", "/contacts/zoe@example.org"))
    with make_db() as session:
        assert len(session.scalars(select(Suppression)).all()) == 1


def test_mails_are_counted_once_and_never_enrol_anybody(
    api: Api, make_db: sessionmaker[Session]
) -> None:
    error_of(api.post(f"{ZOE}/messages", _mail("m1", "inbound")), 404)
    api.put(ZOE, {"next_action_at": SOON})
    for _ in range(2):
        told = api.post(f"{ZOE}/messages", _mail("m1", at=PAST, conversation_id="c1"))
        assert told.status_code == 200
    assert _json(told) == {"counted": False, "stopped": False}
    assert _json(api.get(ZOE))["replied"] is False
    api.post(f"{ZOE}/messages", _mail("m2", "inbound", conversation_id="c2"))
    now = _json(api.get(ZOE))
    assert (now["outbound_count"], now["inbound_count"], now["replied"]) == (1, 1, True)
    assert now["first_outbound_at"] == now["last_outbound_at"] == PAST
    assert (now["last_conversation_id"], now["state"]) == ("c2", "armed")
    with make_db() as session:
        assert len(session.scalars(select(EngagementMessage)).all()) == 2


def _mail(id_: str, direction: str = "outbound", **values: Any) -> dict[str, Any]:
    return {"direction": direction, "message_id": id_, **values}


def test_a_reply_stops_what_is_to_stop_until_it_is_scheduled_anew(api: Api) -> None:
    api.put(ZOE, {"next_action_at": SOON, "stop_on_reply": True})
    told = _json(api.post(f"{ZOE}/messages", _mail("m1", "inbound")))
    assert told == {"counted": True, "stopped": True}
    now = _json(api.get(ZOE))
    assert (now["state"], now["passed_because"]) == ("passed", "replied")
    assert _json(api.put(ZOE, {"next_action_at": PAST}))["state"] == "armed"


def test_a_mail_of_the_future_counts_as_of_now(api: Api) -> None:
    api.put(ZOE, {})
    api.post(f"{ZOE}/messages", _mail("m1", at="2199-01-01T00:00:00Z"))
    at = datetime.fromisoformat(_json(api.get(ZOE))["last_outbound_at"])
    assert at <= datetime.now(UTC)


def test_the_list_has_filters_and_pins_its_cursor_to_them(api: Api) -> None:
    for name in ("a", "b", "c"):
        body = {"stage": "warm" if name != "c" else "cold", "next_action_at": PAST}
        api.put(f"{AGENT}/{name}@example.org", body)
    api.post(f"{AGENT}/a@example.org/messages", _mail("m1"))

    def names(query: str) -> list[str]:
        found = _json(api.get(f"{AGENT}?{query}"))["engagements"]
        return [each["address"][0] for each in found]

    assert names("") == ["c", "b", "a"]
    assert names("stage=warm") == ["b", "a"]
    assert names("replied=true") == []
    assert names("suppressed=false&replied=false") == ["c", "b", "a"]
    assert names(f"next_action_before={PAST}") == []
    assert names("next_action_before=2026-01-05T09:00:01Z&state=armed") == [*"cba"]
    assert names("last_outbound_before=2020-01-01T00:00:00Z") == ["c", "b"]
    page = _json(api.get(f"{AGENT}?stage=warm&limit=1"))
    cursor = page["next_cursor"]
    assert names(f"stage=warm&limit=1&cursor={cursor}") == ["a"]
    error = error_of(api.get(f"{AGENT}?stage=cold&cursor={cursor}"), 400)
    assert error["code"] == "cursor_invalid"
    assert error_of(api.get("/agents/nobody@agents.org/contacts"), 404)


@pytest.mark.parametrize(
    ("query", "status"),
    [
        ("limit=101", 422),
        ("limit=0", 422),
        ("replied=maybe", 422),
        ("state=due", 422),
        ("next_action_before=soon", 422),
        ("colour=red", 422),
        ("cursor=x", 400),
    ],
)
def test_a_wrong_query_is_refused(api: Api, query: str, status: int) -> None:
    api.put(ZOE, {})
    error_of(api.get(f"{AGENT}?{query}"), status)


def test_a_suppressed_contact_is_found_but_not_announced(
    api: Api, make_db: sessionmaker[Session]
) -> None:
    api.put(ZOE, {"next_action_at": PAST})
    with make_db.begin() as session:
        why = SuppressionReason.ASKED
        of = api.congregation_id
        suppress(session, of, "zoe@example.org", why, SYSTEM, agent="sales@agents.org")
    (row,) = _json(api.get(f"{AGENT}?suppressed=true"))["engagements"]
    assert row["suppressed"] is True
    assert len(_sweep(make_db).passed) == 1


def test_a_resumed_agent_is_not_woken_by_the_past_but_finds_it(
    api: Api, make_db: sessionmaker[Session]
) -> None:
    api.put(ZOE, {"next_action_at": PAST})
    agent = "/agents/sales@agents.org"
    for _ in range(2):
        assert _json(api.post(f"{agent}/pause"))["paused"] is True
    assert _json(api.get(ZOE))["paused"] is True
    resumed = _json(api.post(f"{agent}/resume"))
    assert resumed["address"] == "sales@agents.org"
    assert (resumed["paused"], resumed["passed"]) == (False, 1)
    assert _json(api.post(f"{agent}/resume"))["passed"] == 0
    assert _sweep(make_db).announced == ()
    tomorrow = (datetime.now(UTC) + timedelta(days=1)).isoformat()
    found = api.get(f"{AGENT}", query_string={"next_action_before": tomorrow})
    assert len(_json(found)["engagements"]) == 1


def test_the_whole_way_from_a_list_to_a_wake_up(
    api: Api, make_db: sessionmaker[Session]
) -> None:
    rows = [
        {"address": f"g{n}@example.org", "display_name": f"G {n}"} for n in range(3)
    ]
    taken = _json(
        api.post("/contacts/import?agent=sales@agents.org", {"contacts": rows})
    )
    assert taken["counts"] == {"created": 3}
    now = datetime.now(UTC).isoformat()
    first_touch = api.get(AGENT, query_string={"last_outbound_before": now})
    assert len(_json(first_touch)["engagements"]) == 3
    for n in range(3):
        api.put(f"{AGENT}/g{n}@example.org", {"next_action_at": PAST})
    with make_db.begin() as session:
        why = SuppressionReason.BOUNCED
        suppress(session, api.congregation_id, "g0@example.org", why, SYSTEM)
    done = _sweep(make_db)
    assert (len(done.announced), len(done.passed)) == (2, 1)
    with make_db() as session:
        states = set(session.scalars(select(Engagement.wake_state)))
    assert states == {WakeState.ANNOUNCED, WakeState.PASSED}


def test_producers_cannot_report_what_only_engagements_do(api: Api) -> None:
    event = {"trigger_type": "contact.due", "podcast_id": "p"}
    error = error_of(api.post("/events", event), 422)
    assert _codes(error) == {("trigger_type", "unknown_trigger")}


def test_two_congregations_have_contacts_of_the_same_address(
    api: Api, twin: Api, producer: Callable[..., Api]
) -> None:
    api.put("/contacts/zoe@example.org", {"display_name": "Ours"})
    twin.put("/contacts/zoe@example.org", {"display_name": "Theirs"})
    assert _json(api.get("/contacts/zoe@example.org"))["display_name"] == "Ours"
    (only,) = _json(twin.get("/contacts"))["contacts"]
    assert only["display_name"] == "Theirs"
    reader = producer(api.congregation_id, "records:read")
    assert error_of(reader.put("/contacts/zoe@example.org", {}), 403)
