"""The list of the events: filtered, searched, paged, and each with whom it is about."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from uuid import UUID

import pytest
from flask.testing import FlaskClient
from sqlalchemy import Engine
from sqlalchemy.orm import Session, sessionmaker

from dashboard.events.told import named_in
from tasks.clock import utcnow
from tasks.db import sessions
from tasks.lanes.contact_due import sweep
from tasks.models import Episode, EpisodeGuest, Podcast
from tests.dashboard.events.conftest import listed, soup, words
from tests.support import factories
from tests.support.factories import NOW
from tests.support.fakes import FakePost, bench
from tests.support.outreach import engagement
from tests.support.statements import statements

Sessions = sessionmaker[Session]


def test_an_empty_list_says_where_events_come_from(as_viewer: FlaskClient) -> None:
    assert "Nothing has happened yet" in words(as_viewer.get("/events/"))


def test_the_list_is_filtered_by_its_address(
    as_viewer: FlaskClient,
    sqlite_engine: Engine,
    house: UUID,
    add: Callable[..., UUID],
) -> None:
    with Session(sqlite_engine) as session, session.begin():
        session.add_all(
            [
                Podcast(congregation_id=house, id="other", title="Other"),
                Episode(
                    congregation_id=house, id="e1", podcast_id="show", title="On bells"
                ),
                EpisodeGuest(
                    congregation_id=house, id="g1", podcast_id="show", name="Grace"
                ),
            ]
        )
    of_booking = add(external_id="ext-7")
    of_episode = add(type="episode.published", booking_id=None, episode_id="e1")
    of_guest = add(type="guest.responded", booking_id=None, guest_id="g1")
    of_other = add(booking_id="gone", podcast_id="other")
    every = {of_booking, of_episode, of_guest, of_other}
    for query, expected in {
        "": every,
        "type=episode.published": {of_episode},
        "booking=b1": {of_booking},
        "booking=gone": {of_other},
        f"podcast={house}/other": {of_other},
        f"podcast={house}": every,
        "text=j%C3%B6rg": {of_booking},
        "text=BELLS": {of_episode},
        "text=grace": {of_guest},
        "text=ext-7": {of_booking},
        "text=gone": {of_other},
        "text=%25": set(),
        "text=%00": every,
        "type=nonsense": every,
    }.items():
        found = listed(as_viewer.get(f"/events/?{query}"))
        assert found == {f"event-{id_}" for id_ in expected}, query


def test_a_filter_that_hides_everything_says_so(
    as_viewer: FlaskClient, add: Callable[..., UUID]
) -> None:
    add()
    assert "No event matches" in words(as_viewer.get("/events/?text=nobody"))


def test_pages_stay_where_they_are_while_events_arrive(
    as_viewer: FlaskClient, add: Callable[..., UUID]
) -> None:
    start = utcnow() - timedelta(hours=1)
    old = [add(created_at=start + timedelta(seconds=n)) for n in range(60)]
    first = as_viewer.get("/events/")
    following = soup(first).select_one("a[rel=next]")
    assert following is not None
    assert listed(first) == {f"event-{id_}" for id_ in old[10:]}

    add()
    second = as_viewer.get(str(following["href"]))
    assert listed(second) == {f"event-{id_}" for id_ in old[:10]}
    assert as_viewer.get("/events/?cursor=nonsense").status_code == 400


def test_a_page_costs_the_same_for_one_event_and_for_forty(
    as_viewer: FlaskClient, add: Callable[..., UUID]
) -> None:
    add()
    as_viewer.get("/events/")
    with statements() as one:
        as_viewer.get("/events/")
    for _ in range(39):
        add()
    with statements() as forty:
        as_viewer.get("/events/")
    assert len(one) == len(forty)


@pytest.fixture
def due(sqlite_engine: Engine, house: UUID) -> dict[str, UUID]:
    """Let two contacts come due; returns the engagements by their addresses."""
    make = sessions(sqlite_engine)
    with make.begin() as session:
        found = {}
        for name in ("zoe", "ida"):
            address = f"{name}@example.org"
            row = engagement(session, house, address)
            found[address] = row.id
    sweep(bench(make, lambda: NOW, FakePost()), 10)
    return found


def test_an_event_of_a_contact_names_it_and_leads_to_its_engagement(
    as_viewer: FlaskClient, due: dict[str, UUID], add: Callable[..., UUID]
) -> None:
    add()
    page = as_viewer.get("/events/")
    for address, id_ in due.items():
        (link,) = soup(page).select(f'a[href="/outreach/{id_}"]')
        assert link.text == address
    (row,) = soup(as_viewer.get("/events/?text=contact:zoe@")).select("tbody tr")
    event = as_viewer.get(f"/events/{str(row['id']).removeprefix('event-')}")
    assert "Contact due: zoe@example.org" in words(event)
    assert f"/outreach/{due['zoe@example.org']}" in event.text


def test_a_search_may_say_of_what_kind_it_is(
    as_viewer: FlaskClient, due: dict[str, UUID], add: Callable[..., UUID]
) -> None:
    of_booking = f"event-{add(booking_id='zoe@example.org')}"
    of_zoe = listed(as_viewer.get("/events/?text=contact:ZOE@example.org"))
    assert len(of_zoe) == 1
    both = listed(as_viewer.get("/events/?text=zoe@example.org"))
    assert both == of_zoe | {of_booking}
    for query, expected in {
        "text=contact:nobody": set(),
        "text=booking:zoe@example.org": {of_booking},
        "text=Episode:zoe@example.org": set(),
        "text=%22odd:zoe@example.org%22": set(),
        f"text={of_booking.removeprefix('event-')}": {of_booking},
        "text=contact:zoe@example.org&type=contact.due": of_zoe,
        "text=contact:zoe@example.org&type=booking.confirmed": set(),
    }.items():
        assert listed(as_viewer.get(f"/events/?{query}")) == expected, query
    for query, sentence in {
        "text=contact:": "“contact:” needs a value",
        "text=odd:zoe@example.org": "There is no field “odd” here",
    }.items():
        answer = as_viewer.get(f"/events/?{query}")
        assert answer.status_code == 422
        assert sentence in words(answer)


def test_events_of_our_own_lanes_are_named_by_their_values() -> None:
    for data, name in (
        ({"congregation": {"name": "St Mary"}}, None),
        ({}, None),
        ({"campaign": "odd"}, None),
        ({"member": {"left_on": "2026-01-01"}}, None),
        ({"member": {"id": 7}}, "7"),
        ({"document": {"id": "7", "title": "Plan"}}, "Plan"),
        ({"contact": {"address": "a@b.org"}, "engagement": {"id": "x"}}, "a@b.org"),
    ):
        found = named_in(data)
        assert (found and found.name) == name
        assert not found or (found.note, found.engagement_id) == ("", None)
    told = named_in({"contact": {"address": "a@b.org", "display_name": "Ann"}})
    assert told is not None
    assert (told.name, told.note) == ("Ann", "a@b.org")


def test_an_event_without_a_podcast_is_listed_and_found_by_its_congregation(
    as_viewer: FlaskClient, due: dict[str, UUID], house: UUID, sqlite_engine: Engine
) -> None:
    with Session(sqlite_engine) as session, session.begin():
        factories.congregation(session, "other")
    assert len(listed(as_viewer.get(f"/events/?podcast={house}"))) == len(due)
