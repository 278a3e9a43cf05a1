"""Two congregations with the same ids: neither sees nor touches the other's rows."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from sqlalchemy import select
from sqlalchemy.orm import Session, sessionmaker

from tasks.models import Booking, Congregation, Event, Podcast
from tests.dashboard.api.caller import Api, error_of
from tests.dashboard.api.world import START

DATE = START.isoformat()
#: Every route that names a record, with a body that would be accepted.
ROUTES: tuple[tuple[str, str, Any], ...] = (
    ("GET", "/podcasts/<id>", None),
    ("GET", "/booking-links/<id>", None),
    ("GET", "/bookings/<id>", None),
    ("GET", "/episodes/<id>", None),
    ("GET", "/guests/<id>", None),
    ("GET", "/events/<path:id>", None),
    ("POST", "/bookings/<id>/confirm", None),
    ("POST", "/bookings/<id>/decline", None),
    ("POST", "/bookings/<id>/cancel", None),
    ("POST", "/bookings/<id>/reschedule", {"start_time": DATE}),
    ("POST", "/episodes/<id>/schedule", {"scheduled_for": DATE}),
    ("POST", "/episodes/<id>/reschedule", {"scheduled_for": DATE}),
    ("POST", "/episodes/<id>/publish", None),
    ("PUT", "/podcasts/<id>", {"title": "x"}),
    ("PUT", "/booking-links/<id>", {"podcast_id": "only", "name": "x"}),
    ("PUT", "/bookings/<id>", {"podcast_id": "only", "start_time": DATE}),
    ("PUT", "/episodes/<id>", {"podcast_id": "only", "title": "x"}),
    ("PUT", "/guests/<id>", {"podcast_id": "only", "name": "x"}),
    ("GET", "/contacts/<address>", None),
    ("PUT", "/contacts/<address>", {"display_name": "x"}),
    ("DELETE", "/contacts/<address>", None),
    ("GET", "/agents/<agent>/contacts", None),
    ("GET", "/agents/<agent>/contacts/<address>", None),
    ("PUT", "/agents/<agent>/contacts/<address>", {"stage": "x"}),
    ("DELETE", "/agents/<agent>/contacts/<address>", None),
    (
        "POST",
        "/agents/<agent>/contacts/<address>/messages",
        {"direction": "inbound", "message_id": "m"},
    ),
    ("GET", "/agents/<agent>", None),
    ("PUT", "/agents/<agent>", {"daily_cap": 5}),
    ("GET", "/outreach-campaigns/<name>", None),
    ("PUT", "/outreach-campaigns/<name>", {"daily_cap": 5}),
    ("DELETE", "/outreach-campaigns/<name>", None),
    ("GET", "/suppressions/<address>", None),
    ("PUT", "/suppressions/<address>", None),
    ("DELETE", "/suppressions/<address>", None),
    ("POST", "/agents/<agent>/pause", None),
    ("POST", "/agents/<agent>/resume", None),
    ("POST", "/contact-imports/<id>/undo", None),
    ("GET", "/webhook-endpoints/<id>", None),
    ("PUT", "/webhook-endpoints/<id>", {"description": "x"}),
    ("DELETE", "/webhook-endpoints/<id>", None),
    *(
        ("POST", f"/webhook-endpoints/<id>/{verb}", None)
        for verb in ("secret", "enable", "disable", "test")
    ),
    ("POST", "/webhook-deliveries/<id>/retry", None),
)
#: Routes that name no record; looked at below.
WITHOUT_ID = {
    ("POST", "/events"),
    ("GET", "/executions"),
    ("GET", "/scheduled-jobs"),
    ("GET", "/contacts"),
    ("GET", "/suppressions"),
    ("GET", "/outreach-campaigns"),
    ("GET", "/outreach-caps"),
    ("PUT", "/outreach-caps"),
    ("POST", "/contacts/import"),
    ("GET", "/webhook-endpoints"),
    ("POST", "/webhook-endpoints"),
    ("GET", "/webhook-deliveries"),
    ("GET", "/openapi.json"),
}


@pytest.fixture
def stranger(
    api: Api, make_db: sessionmaker[Session], producer: Callable[..., Api]
) -> Api:
    """Return the caller of an empty congregation."""
    with make_db.begin() as session:
        empty = Congregation(slug="empty", name="St Mary")
        session.add(empty)
        session.flush()
        of = empty.id
    return producer(of)


@pytest.fixture
def fill(api: Api) -> None:
    """Give the first congregation one of each, under the id "only"."""
    api.put("/podcasts/only", {"title": "Secret"})
    podcast = {"podcast_id": "only"}
    api.put("/booking-links/only", {**podcast, "name": "Secret"})
    api.put("/bookings/only", {**podcast, "start_time": DATE})
    api.put("/episodes/only", {**podcast, "title": "Secret"})
    api.put("/guests/only", {**podcast, "name": "Secret"})
    contact = {"display_name": "Secret"}
    api.put("/contacts/only@example.org", contact)
    api.put("/agents/only@agents.org/contacts/only@example.org", {"stage": "Secret"})
    api.put("/outreach-campaigns/only", {"daily_cap": 3})
    api.put("/suppressions/only@example.org", {"note": "Secret"})
    event = {"trigger_type": "booking.confirmed", "event_id": "only"}
    assert api.post("/events", {**event, **podcast}).status_code == 202


def test_every_route_is_walked(api: Api) -> None:
    known = {
        (method, rule.rule.removeprefix("/api/v1"))
        for rule in api.app.url_map.iter_rules()
        if rule.endpoint.startswith("api.")
        for method in (rule.methods or set()) - {"HEAD", "OPTIONS"}
    }
    assert known == {(method, path) for method, path, _ in ROUTES} | WITHOUT_ID


@pytest.mark.usefixtures("fill")
@pytest.mark.parametrize(("method", "path", "body"), ROUTES)
def test_a_stranger_s_record_is_as_good_as_none(
    stranger: Api, method: str, path: str, body: Any
) -> None:
    extra = {} if body is None else {"json": body}
    path = path.replace("<path:id>", "only").replace("<id>", "only")
    path = path.replace("<address>", "only@example.org")
    path = path.replace("<agent>", "only@agents.org").replace("<name>", "only")
    answer = stranger.call(method, path, **extra)
    makes = "@" in path or path in {"/podcasts/only", "/outreach-campaigns/only"}
    if method == "PUT" and makes:
        assert answer.status_code == 201  # a record of its own
    elif method == "PUT":
        assert answer.status_code in {404, 422}
    else:
        assert answer.status_code == 404
    assert "Secret" not in answer.text


@pytest.mark.usefixtures("fill")
def test_an_unknown_and_a_stranger_s_record_are_told_the_same(stranger: Api) -> None:
    for path in ("/podcasts", "/bookings", "/episodes", "/guests", "/events"):
        theirs = stranger.get(f"{path}/only")
        nobody = stranger.get(f"{path}/nobody")
        assert theirs.json == nobody.json
    event = {"trigger_type": "booking.confirmed", "podcast_id": "only"}
    error = error_of(stranger.post("/events", event), 422)
    assert error["problems"][0]["code"] == "unknown_podcast"


@pytest.mark.usefixtures("fill")
def test_a_stranger_s_own_event_id_is_not_a_duplicate(
    stranger: Api, make_db: sessionmaker[Session]
) -> None:
    stranger.put("/podcasts/only", {"title": "Mine"})
    event = {"trigger_type": "booking.confirmed", "podcast_id": "only"}
    answer = stranger.post("/events", {**event, "event_id": "only"})
    assert answer.json["duplicate"] is False
    with make_db() as session:
        same = session.scalars(select(Event).filter_by(external_id="only")).all()
    assert {event.congregation_id for event in same} > {stranger.congregation_id}


def test_twins_with_the_same_ids_change_their_own_only(
    api: Api, twin: Api, make_db: sessionmaker[Session]
) -> None:
    assert api.get("/podcasts/p").json["title"] == "Bells of mary"
    assert twin.get("/podcasts/p").json["title"] == "Bells of twin"
    twin.put("/podcasts/p", {"title": "Changed"})
    twin.post("/bookings/b/confirm")
    assert api.get("/podcasts/p").json["title"] == "Bells of mary"
    assert api.get("/bookings/b").json["status"] == "requested"
    for path, key in (("/executions", "executions"), ("/scheduled-jobs",) * 2):
        key = key.strip("/").replace("-", "_")
        assert api.get(f"{path}?booking_id=b").json[key] == []
        assert len(twin.get(f"{path}?booking_id=b").json[key]) == 1
    with make_db() as session:
        titles = session.scalars(select(Podcast.title).order_by(Podcast.title)).all()
        states = session.scalars(
            select(Booking.status).order_by(Booking.congregation_id)
        ).all()
    assert titles == ["Bells of mary", "Changed"]
    assert sorted(states) == ["confirmed", "requested"]


def test_a_twin_s_execution_goes_to_the_twin_s_guest(api: Api, twin: Api) -> None:
    twin.post("/bookings/b/confirm")
    (execution,) = twin.get("/executions").json["executions"]
    assert execution["recipient"] == "guest@twin.example.org"
    shown = api.get(f"/events/{execution['event_id']}")
    assert error_of(shown, 404)["code"] == "unknown_event"


def test_a_cursor_of_the_twin_shows_nothing_of_it(api: Api, twin: Api) -> None:
    for number in range(3):
        twin.post(
            "/events",
            {
                "trigger_type": "booking.confirmed",
                "podcast_id": "p",
                "booking_id": "b",
                "event_id": str(number),
            },
        )
    page = twin.get("/executions?limit=1").json
    seen = [page["executions"][0]["id"]]
    while page["next_cursor"]:
        cursor = page["next_cursor"]
        assert api.get(f"/executions?limit=1&cursor={cursor}").json["executions"] == []
        page = twin.get(f"/executions?limit=1&cursor={cursor}").json
        seen += [row["id"] for row in page["executions"]]
    assert len(set(seen)) == len(seen) == 3
