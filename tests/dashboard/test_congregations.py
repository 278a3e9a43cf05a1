"""The pages of congregations, podcasts and bookings."""

from __future__ import annotations

import html
import re
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from flask.testing import FlaskClient
from sqlalchemy import Engine, func, select, update
from sqlalchemy.orm import Session

from dashboard.congregations.ahead import AHEAD_MAX
from dashboard.congregations.podcast_views import wall_clock
from dashboard.operators.models import Operator
from tasks.automation import zone_moves
from tasks.clock import utcnow
from tasks.models import (
    AuditEntry,
    BookingLink,
    BookingStatus,
    Congregation,
    DailyRun,
    Episode,
    EpisodeStatus,
    Podcast,
    Rule,
)
from tasks.models.replan import ZoneMove
from tests.support import factories
from tests.support.statements import statements

FORM = {
    "name": "St. Paul",
    "slug": "st-paul",
    "locale": "fr",
    "timezone": "Europe/Paris",
}


@pytest.fixture
def house(sqlite_engine: Engine) -> Congregation:
    """Return a congregation with a podcast, a link, an episode, a rule, a booking."""
    soon = utcnow() + timedelta(days=2)
    with Session(sqlite_engine, expire_on_commit=False) as session, session.begin():
        id_ = factories.congregation(session)
        session.add_all(
            [
                BookingLink(congregation_id=id_, id="l1", podcast_id="show", name="45"),
                Episode(
                    congregation_id=id_,
                    id="e1",
                    podcast_id="show",
                    title="On bells",
                    status=EpisodeStatus.SCHEDULED,
                    scheduled_for=soon,
                ),
            ]
        )
        factories.rule(session, id_)
        factories.booking(
            session, id_, start_time=soon, episode_id="e1", booking_link_id="l1"
        )
        return session.get_one(Congregation, id_)


def test_a_lane_that_failed_is_told_in_the_readers_language(
    as_viewer: FlaskClient, house: Congregation, sqlite_engine: Engine
) -> None:
    with Session(sqlite_engine) as session, session.begin():
        session.execute(update(Operator).values(language="fr"))
        # As the lanes write it (tasks.daily.isolated).
        error = "StorageFailed: s3.example.org cannot be reached (connection refused)."
        values = {"failed_at": utcnow(), "retry_at": utcnow(), "error": error}
        for lane in ("retention", "former"):
            session.add(DailyRun(congregation_id=house.id, lane=lane, **values))
    told = "StorageFailed: s3.example.org est injoignable (connexion refusée)."
    home = as_viewer.get(f"/congregations/{house.slug}").text
    assert home.count(told) == 2
    assert ">Conservation</a>" in home
    assert ">former</a>" in home, "which is no lane any more"
    assert told in as_viewer.get(f"/retention/{house.slug}").text


def test_the_list_names_each_congregation(
    as_viewer: FlaskClient, house: Congregation, congregation: Congregation
) -> None:
    page = as_viewer.get("/congregations/").text
    assert page.index("St Mary") < page.index("St. Bonifatius")
    assert "/congregations/bonifatius" in page
    assert "New congregation" not in page  # a viewer cannot make one


def test_the_first_start_says_what_a_congregation_is(
    as_admin: FlaskClient, log_in: Callable[..., FlaskClient]
) -> None:
    assert "Make the first one" in as_admin.get("/congregations/").text
    viewer = log_in("viewer", email="v@example.org")
    assert "An admin can make one" in viewer.get("/congregations/").text


def test_an_admin_makes_a_congregation(
    as_admin: FlaskClient, sqlite_engine: Engine
) -> None:
    answer = as_admin.post("/congregations/", data=FORM, follow_redirects=True)
    assert "St. Paul is created." in answer.text
    assert "Français" in answer.text
    assert "No podcast yet" in answer.text
    with Session(sqlite_engine) as session:
        row = session.scalars(select(Congregation)).one()
        entry = session.scalars(
            select(AuditEntry).where(AuditEntry.action == "congregation.created")
        ).one()
    assert (row.slug, row.timezone) == ("st-paul", "Europe/Paris")
    assert (entry.actor, entry.congregation_id) == ("admin@example.org", row.id)


def test_many_jobs_that_follow_to_another_timezone_are_left_to_the_lane(
    as_admin: FlaskClient,
    sqlite_engine: Engine,
    house: Congregation,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(zone_moves, "AT_ONCE_MAX", 2)
    with Session(sqlite_engine) as session, session.begin():
        rule = factories.reminder(session, house.id)
        for n in range(3):
            factories.job(session, rule, idempotency_key=f"k{n}")
    form = {**FORM, "slug": house.slug}
    with statements() as seen:
        answer = as_admin.post(
            f"/congregations/{house.slug}", data=form, follow_redirects=True
        )
    assert "still being planned anew, by the clock of Europe/Paris" in answer.text
    assert 'href="/lanes/replanning"' in answer.text
    assert not [each for each in seen if "UPDATE scheduled_jobs" in each]

    with Session(sqlite_engine) as session, session.begin():
        (move,) = session.scalars(select(ZoneMove)).all()
        session.delete(move)
    page = as_admin.get(f"/congregations/{house.slug}").text
    assert "still being planned anew" not in page


def test_a_podcast_says_that_its_jobs_are_still_being_planned_anew(
    as_viewer: FlaskClient, sqlite_engine: Engine, house: Congregation
) -> None:
    with Session(sqlite_engine) as session, session.begin():
        move = {"congregation_id": house.id, "was": "Asia/Tokyo", "podcast_id": "show"}
        session.add(ZoneMove(**move, since=utcnow(), touched_at=utcnow()))
    page = as_viewer.get(f"/congregations/{house.slug}/podcasts/show").text
    assert "still being planned anew, by the clock of" in page
    assert "planned anew" not in as_viewer.get(f"/congregations/{house.slug}").text


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"name": " "}, "Give it a name."),
        ({"name": "x" * 121}, "at most 120"),
        ({"slug": "St Paul!"}, "small letters"),
        ({"slug": "new"}, "word of the console"),
        ({"slug": "bonifatius"}, "Another congregation has the address"),
        ({"locale": "tlh"}, "Choose one of the languages"),
        ({"timezone": "Paris"}, "There is no timezone “Paris”"),
    ],
)
def test_a_wrong_form_comes_back_with_a_sentence(
    as_admin: FlaskClient,
    house: Congregation,
    sqlite_engine: Engine,
    change: dict[str, str],
    sentence: str,
) -> None:
    page = as_admin.post("/congregations/", data=FORM | change)
    assert page.status_code == 422
    assert sentence in page.text
    assert "Europe/Paris" in page.text or "Paris" in page.text  # what was typed stays
    with Session(sqlite_engine) as session:
        assert session.scalar(select(func.count()).select_from(Congregation)) == 1


def test_a_new_one_is_chosen_where_another_was(
    as_admin: FlaskClient, house: Congregation
) -> None:
    as_admin.get("/?congregation=bonifatius")
    answer = as_admin.post("/congregations/", data=FORM, follow_redirects=True)
    assert answer.status_code == 200
    assert "St. Paul is created." in answer.text
    assert "St. Bonifatius" not in as_admin.get("/rules/new").text.split("<main")[1]


def test_an_edit_is_saved_and_audited(
    as_admin: FlaskClient, house: Congregation, sqlite_engine: Engine
) -> None:
    assert (
        'value="St. Bonifatius"' in as_admin.get("/congregations/bonifatius/edit").text
    )
    change = FORM | {"slug": "boni"}
    answer = as_admin.post(
        "/congregations/bonifatius", data=change, follow_redirects=True
    )
    assert answer.request.path == "/congregations/boni"
    with Session(sqlite_engine) as session:
        entry = session.scalars(
            select(AuditEntry).where(AuditEntry.action == "congregation.edited")
        ).one()
    assert entry.before is not None
    assert entry.before["slug"] == "bonifatius"


def test_only_admins_make_and_change(
    as_operator: FlaskClient, house: Congregation
) -> None:
    assert as_operator.get("/congregations/new").status_code == 403
    assert as_operator.post("/congregations/", data=FORM).status_code == 403
    assert as_operator.get("/congregations/bonifatius/edit").status_code == 403
    assert as_operator.post("/congregations/bonifatius", data=FORM).status_code == 403
    assert "/edit" not in as_operator.get("/congregations/bonifatius").text


def test_an_admin_of_some_congregations_cannot_make_one_unseen(
    log_in: Callable[..., FlaskClient], congregation: Congregation
) -> None:
    browser = log_in("admin", sees_all=False, congregations=[congregation.id])
    assert browser.post("/congregations/", data=FORM).status_code == 403
    assert "New congregation" not in browser.get("/congregations/").text
    assert browser.get("/congregations/st-mary/edit").status_code == 200


def test_a_congregation_shows_its_podcasts_with_links_and_next_booking(
    as_viewer: FlaskClient, house: Congregation
) -> None:
    page = as_viewer.get("/congregations/bonifatius").text
    row = page.split('id="podcast-show"')[1].split("</tr>")[0]
    assert "Kirchplatz" in row
    assert 'data-label="Booking links">1</td>' in row
    assert "in 1\xa0d" in row


def test_a_podcast_shows_bookings_rules_and_episodes(
    as_viewer: FlaskClient, house: Congregation
) -> None:
    page = as_viewer.get("/congregations/bonifatius/podcasts/show").text
    for piece in ("Jörg 🎙", "Confirmed", "Welcome", "On bells", "goes out", "Ines"):
        assert piece in page
    past = as_viewer.get("/congregations/bonifatius/podcasts/show?when=past").text
    assert "No past bookings" in past


def test_a_deleted_rule_and_one_of_another_podcast_do_not_listen(
    as_viewer: FlaskClient, house: Congregation, sqlite_engine: Engine
) -> None:
    with Session(sqlite_engine) as session, session.begin():
        session.add(Podcast(congregation_id=house.id, id="other", title="Other"))
        session.flush()
        factories.rule(session, house.id, name="Gone", deleted_at=utcnow())
        factories.rule(session, house.id, name="Elsewhere", podcast_id="other")
        factories.rule(session, house.id, name="Right here", podcast_id="show")
    page = as_viewer.get("/congregations/bonifatius/podcasts/show").text
    assert "Gone" not in page
    assert "Elsewhere" not in page
    assert page.index("Right here") < page.index("Welcome")


def test_a_booking_tells_its_past_and_its_future(
    as_viewer: FlaskClient, house: Congregation, sqlite_engine: Engine
) -> None:
    with Session(sqlite_engine, expire_on_commit=False) as session, session.begin():
        rule = session.scalars(select(Rule)).one()
        ahead = utcnow() + timedelta(days=1)
        reminder = factories.reminder(session, house.id)
        planned = factories.job(session, reminder, due_at=ahead, run_at=ahead)
        failed = factories.execution(
            session, rule, state="failed", settled_at=utcnow(), error="Refused: no."
        )
    page = as_viewer.get("/congregations/bonifatius/bookings/b1").text
    for piece in ("Jörg 🎙", "joerg@example.org", "On bells", "45", "Europe/Berlin"):
        assert piece in page
    to_come, past = page.split("What happened")
    assert f"job-{planned.id}" in to_come
    assert f"execution-{failed.id}" in past
    assert "Refused: no." in past


def test_all_that_is_scheduled_for_a_booking_is_of_its_congregation_alone(
    as_viewer: FlaskClient, house: Congregation, sqlite_engine: Engine
) -> None:
    ahead = utcnow() + timedelta(days=1)
    with Session(sqlite_engine) as session, session.begin():
        other = factories.congregation(session, "other")
        for id_, n in ((house.id, AHEAD_MAX + 1), (other, 1)):
            reminder = factories.reminder(session, id_)
            for _ in range(n):
                job = factories.job(session, reminder, due_at=ahead, run_at=ahead).id
    page = as_viewer.get("/congregations/bonifatius/bookings/b1").text
    found = re.search(r'href="([^"]+)">All that is scheduled', page)
    assert found is not None
    shown = as_viewer.get(html.unescape(found[1])).text
    assert shown.count('<tr id="job-') > 1
    last = as_viewer.get(f"{html.unescape(found[1])}&q=id:{job}").text
    assert f"job-{job}" not in last


def test_a_booking_whose_references_are_unknown_is_still_shown(
    as_viewer: FlaskClient, house: Congregation, sqlite_engine: Engine
) -> None:
    with Session(sqlite_engine) as session, session.begin():
        factories.booking(
            session,
            house.id,
            id="b:2@x.y",
            guest_name="",
            episode_id="nope",
            guest_id="nobody",
            booking_link_id="gone",
            timezone="Mars/Base",
            status=BookingStatus.REQUESTED,
        )
    page = as_viewer.get("/congregations/bonifatius/bookings/b:2@x.y")
    assert page.status_code == 200
    assert "nope" in page.text
    assert "UTC" in page.text
    assert "Nothing happened yet" in page.text


def test_another_congregations_pages_are_not_found(
    log_in: Callable[..., FlaskClient],
    house: Congregation,
    congregation: Congregation,
    sqlite_engine: Engine,
) -> None:
    browser = log_in("admin", sees_all=False, congregations=[congregation.id])
    for path in (
        "/congregations/bonifatius",
        "/congregations/bonifatius/edit",
        "/congregations/bonifatius/podcasts/show",
        "/congregations/bonifatius/bookings/b1",
        "/congregations/st-mary/podcasts/show",
        "/congregations/st-mary/bookings/b1",
    ):
        assert browser.get(path).status_code == 404, path
    assert browser.post("/congregations/bonifatius", data=FORM).status_code == 404
    assert "Bonifatius" not in browser.get("/congregations/").text


def test_the_same_ids_in_two_congregations_are_two_things(
    as_viewer: FlaskClient, house: Congregation, sqlite_engine: Engine
) -> None:
    with Session(sqlite_engine) as session, session.begin():
        twin = factories.congregation(session, "twin", name="Twin")
        factories.booking(session, twin, guest_name="Somebody else")
    mine = as_viewer.get("/congregations/bonifatius/bookings/b1").text
    theirs = as_viewer.get("/congregations/twin/bookings/b1").text
    assert "Somebody else" not in mine
    assert "Somebody else" in theirs
    assert "On bells" not in theirs


def test_what_producers_send_is_shown_as_text(
    as_viewer: FlaskClient, house: Congregation, sqlite_engine: Engine
) -> None:
    evil: Any = "<img src=x onerror=alert(1)>"
    with Session(sqlite_engine) as session, session.begin():
        podcast = session.get_one(Podcast, (house.id, "show"))
        podcast.title = podcast.host_name = evil
        factories.booking(
            session,
            house.id,
            id="b2",
            guest_name=evil,
            meeting_url="javascript:alert(1)",
        )
    for path in ("", "/podcasts/show", "/bookings/b2"):
        page = as_viewer.get(f"/congregations/bonifatius{path}").text
        assert "<img src=x" not in page
        assert 'href="javascript' not in page


def test_more_rows_cost_no_more_statements(
    as_viewer: FlaskClient, house: Congregation, sqlite_engine: Engine
) -> None:
    paths = ("", "/bonifatius", "/bonifatius/podcasts/show", "/bonifatius/bookings/b1")

    def costs() -> list[int]:
        found = []
        for path in paths:
            with statements() as seen:
                assert as_viewer.get(f"/congregations{path or '/'}").status_code == 200
            found.append(len(seen))
        return found

    few = costs()
    with Session(sqlite_engine) as session, session.begin():
        rule = session.scalars(select(Rule)).one()
        for n in range(30):
            session.add(Congregation(slug=f"c{n}", name="C"))
            session.add(Podcast(congregation_id=house.id, id=f"p{n}", title="P"))
            session.flush()
            start = utcnow() + timedelta(days=n + 1)
            factories.booking(session, house.id, id=f"x{n}", start_time=start)
            factories.execution(session, rule)
            factories.job(session, rule)
    assert costs() == few


def test_wall_clocks_show_the_time_there() -> None:
    assert wall_clock(factories.NOW, "Europe/Berlin") == "Tue 10 Mar 2026, 13:00"
    assert wall_clock(factories.NOW, "../x").endswith("UTC")
