"""Records are created, changed field by field, and shown."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from sqlalchemy import select
from sqlalchemy.orm import Session, sessionmaker

from tasks.models import EpisodeGuest
from tests.dashboard.api.caller import Api
from tests.dashboard.api.world import START

RECORDS: dict[str, dict[str, Any]] = {
    "/podcasts/n": {
        "title": "Bells 🔔",
        "slug": "bells",
        "timezone": "Europe/Paris",
        "host_name": "Zoë",
        "host_email": "zoe@example.org",
    },
    "/booking-links/n": {"podcast_id": "p", "name": "45 minutes"},
    "/bookings/n": {
        "podcast_id": "p",
        "booking_link_id": "l",
        "episode_id": "e",
        "guest_id": "g",
        "guest_name": "Ünal",
        "guest_email": "unal@example.org",
        "guest_phone": "+49 30 1234",
        "start_time": START.isoformat(),
        "end_time": (START + timedelta(hours=1)).isoformat(),
        "timezone": "Asia/Tokyo",
        "meeting_url": "https://meet.example.org/x",
    },
    "/episodes/n": {
        "podcast_id": "p",
        "title": "One",
        "episode_number": 1,
        "description": "Two\nlines",
        "recording_at": START.isoformat(),
        "scheduled_for": (START + timedelta(days=7)).isoformat(),
        "timezone": "Europe/Paris",
    },
    "/guests/n": {
        "podcast_id": "p",
        "episode_id": "e",
        "name": "Ann",
        "email": "ann@example.org",
    },
}
MAY_BE_CLEARED = {
    "/podcasts/n": "timezone",
    "/bookings/n": "guest_phone",
    "/episodes/n": "scheduled_for",
    "/guests/n": "email",
}


def _same(shown: Any, sent: Any) -> bool:
    if isinstance(sent, str) and sent.endswith("+00:00"):
        return bool(shown == sent.replace("+00:00", "Z"))
    return bool(shown == sent)


@pytest.mark.parametrize("path", RECORDS)
def test_a_record_is_created_once_and_shown(api: Api, path: str) -> None:
    body = RECORDS[path]
    created = api.put(path, body)
    assert created.status_code == 201, created.text
    again = api.put(path, body)
    assert again.status_code == 200, again.text
    assert again.json["automation"]["changed"] is False
    shown = api.get(path).json
    assert shown["id"] == "n"
    assert all(_same(shown[name], value) for name, value in body.items()), shown


@pytest.mark.parametrize("path", MAY_BE_CLEARED)
def test_null_clears_and_absent_keeps(api: Api, path: str) -> None:
    api.put(path, RECORDS[path])
    cleared = MAY_BE_CLEARED[path]
    answer = api.put(path, {cleared: None})
    assert answer.status_code == 200, answer.text
    shown = api.get(path).json
    assert shown[cleared] is None
    kept = RECORDS[path].items() - {(cleared, RECORDS[path][cleared])}
    assert all(_same(shown[name], value) for name, value in kept), shown


def test_a_guest_s_access_token_is_kept_and_never_shown(
    api: Api, make_db: sessionmaker[Session]
) -> None:
    body = RECORDS["/guests/n"] | {"access_token": "s3cret"}
    answers = [api.put("/guests/n", body), api.get("/guests/n")]
    assert all("s3cret" not in answer.text for answer in answers)
    with make_db() as session:
        kept = session.scalars(
            select(EpisodeGuest.access_token).where(EpisodeGuest.id == "n")
        ).one()
    assert kept == "s3cret"


def test_a_record_of_an_unknown_podcast_is_refused(api: Api) -> None:
    for path, body in RECORDS.items():
        if "podcast_id" in body:
            answer = api.put(path, body | {"podcast_id": "nobody"})
            assert answer.status_code in {404, 422}, path
            assert api.get(path).status_code == 404


def test_a_booking_that_ends_before_it_begins_is_refused(api: Api) -> None:
    end = (START - timedelta(hours=1)).isoformat()
    assert api.put("/bookings/b", {"end_time": end}).status_code == 422
