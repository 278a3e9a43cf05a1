"""The pages of sources: services that call, feeds, lists of guests."""

from __future__ import annotations

import io
import re
from uuid import UUID

import pytest
from flask.testing import FlaskClient
from sqlalchemy import Engine, select
from sqlalchemy.orm import Session
from werkzeug.datastructures import FileStorage
from werkzeug.test import TestResponse, encode_multipart

from tasks.clock import utcnow
from tasks.config import Config
from tasks.models import (
    AuditEntry,
    Booking,
    BookingLink,
    CallOutcome,
    Congregation,
    EpisodeGuest,
    Feed,
    GuestImport,
    Podcast,
    Source,
)
from tasks.secrets import SecretBox
from tests.support.booking_services import cal_message, signed_by_cal
from tests.support.statements import statements


@pytest.fixture
def podcast(congregation: Congregation, sqlite_engine: Engine) -> str:
    """Return the form's value of a podcast with one booking link."""
    of = congregation.id
    with Session(sqlite_engine) as session, session.begin():
        session.add(Podcast(congregation_id=of, id="show", title="Kirchplatz"))
        session.flush()
        session.add(
            BookingLink(congregation_id=of, id="l1", podcast_id="show", name="45 min")
        )
    return f"{of}/show"


def _add(browser: FlaskClient, podcast: str, **changes: str) -> TestResponse:
    values = {"kind": "calcom", "name": "Interviews", "podcast_id": podcast}
    return browser.post("/sources/", data=values | changes)


def _source(engine: Engine) -> Source:
    with Session(engine) as session:
        return session.scalars(select(Source)).one()


def _shown_secret(page: TestResponse) -> str:
    found = re.search(r'id="secret">([^<]+)<', page.text)
    assert found, page.text
    return found[1]


def _call(
    client: FlaskClient, source: Source, secret: str, **changes: object
) -> TestResponse:
    body, headers = signed_by_cal(cal_message(**changes), secret)  # type: ignore[arg-type]
    return client.post(f"/hooks/{source.token}", data=body, headers=headers)


def test_a_new_source_shows_its_secret_once_and_takes_calls_with_it(
    as_admin: FlaskClient, client: FlaskClient, podcast: str, sqlite_engine: Engine
) -> None:
    made = _add(as_admin, podcast)
    assert made.status_code == 201
    secret, source = _shown_secret(made), _source(sqlite_engine)
    assert f"http://localhost/hooks/{source.token}" in made.text
    assert secret not in source.secret

    answer = _call(client, source, secret)
    assert answer.status_code == 200, answer.text
    assert answer.get_json()["outcome"] == "applied"
    page = as_admin.get(f"/sources/{source.id}").text
    assert secret not in page
    assert "The booking is confirmed." in page
    assert "BOOKING_CREATED" in page
    assert source.token in page
    assert "BOOKING" not in as_admin.get("/sources/").text
    assert "Applied" in as_admin.get("/sources/").text


def test_a_secret_that_the_service_made_is_kept(
    as_admin: FlaskClient,
    podcast: str,
    sqlite_engine: Engine,
    config: Config,
) -> None:
    _add(as_admin, podcast, kind="calendly", secret="theirs-and-long")
    box = SecretBox(config.secret_key)
    assert box.unseal(_source(sqlite_engine).secret) == "theirs-and-long"


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"name": ""}, "Give it a name"),
        ({"name": "x" * 121}, "Give it a name"),
        ({"podcast_id": ""}, "Choose one of the podcasts"),
        ({"podcast_id": "nonsense/show"}, "Choose one of the podcasts"),
        ({"podcast_id": f"{UUID(int=1)}/show"}, "There is no such podcast"),
        ({"kind": "doodle"}, "Choose a service"),
        ({"secret": "short"}, "A secret has 8 to 200"),
        ({"secret": "ünprintäble-secret"}, "A secret has 8 to 200"),
    ],
)
def test_a_source_that_cannot_be_is_refused_in_words(
    as_admin: FlaskClient, podcast: str, changes: dict[str, str], words: str
) -> None:
    answer = _add(as_admin, podcast, **changes)
    assert answer.status_code == 422
    assert words in answer.text


def test_operators_look_at_sources_and_only_admins_change_them(
    as_admin: FlaskClient,
    as_operator: FlaskClient,
    podcast: str,
    sqlite_engine: Engine,
) -> None:
    _add(as_admin, podcast)
    path = f"/sources/{_source(sqlite_engine).id}"
    assert as_operator.get(path).status_code == 200
    assert as_operator.get(f"{path}/edit").status_code == 403
    for verb in ("", "/secret", "/delete"):
        assert as_operator.post(path + verb).status_code == 403
    assert _add(as_operator, podcast).status_code == 403


def test_event_types_are_given_to_booking_links(
    as_admin: FlaskClient, podcast: str, sqlite_engine: Engine
) -> None:
    _add(as_admin, podcast)
    path = f"/sources/{_source(sqlite_engine).id}"
    values = {"name": "Talks", "only_listed": "y"}
    for types, words in [
        ("interview", "Line 1 must say"),
        ("\ninterview = ", "Line 2 must say"),
        ("interview = l2", "no booking link “l2”"),
        ("\n".join(f"e{n} = l1" for n in range(51)), "At most 50"),
    ]:
        answer = as_admin.post(path, data=values | {"event_types": types})
        assert answer.status_code == 422
        assert words in answer.text
    as_admin.post(path, data=values | {"event_types": "interview = l1\nA = B = l1"})
    source = _source(sqlite_engine)
    assert source.event_types == {"interview": "l1", "A = B": "l1"}
    assert (source.name, source.only_listed) == ("Talks", True)
    assert "interview = l1" in as_admin.get(f"{path}/edit").text


def test_a_replaced_secret_shuts_out_the_former_one(
    as_admin: FlaskClient, client: FlaskClient, podcast: str, sqlite_engine: Engine
) -> None:
    former = _shown_secret(_add(as_admin, podcast))
    source = _source(sqlite_engine)
    again = _shown_secret(as_admin.post(f"/sources/{source.id}/secret"))
    assert _call(client, source, former).status_code == 401
    assert _call(client, source, again).status_code == 200
    refused = as_admin.post(f"/sources/{source.id}/secret", data={"secret": "short"})
    assert "A secret has" in as_admin.get(refused.location).text


def test_a_removed_source_is_gone_and_its_bookings_stay(
    as_admin: FlaskClient, client: FlaskClient, podcast: str, sqlite_engine: Engine
) -> None:
    secret = _shown_secret(_add(as_admin, podcast))
    source = _source(sqlite_engine)
    _call(client, source, secret)
    as_admin.post(f"/sources/{source.id}/delete")
    assert as_admin.get(f"/sources/{source.id}").status_code == 404
    assert _call(client, source, secret).status_code == 404
    with Session(sqlite_engine) as session:
        assert len(session.scalars(select(Booking)).all()) == 1
        actions = set(session.scalars(select(AuditEntry.action)))
    assert {"source.added", "source.removed"} <= actions
    assert as_admin.get("/audit/").status_code == 200


def test_a_bad_signature_is_answered_in_json_and_seen_on_the_page(
    as_admin: FlaskClient, client: FlaskClient, podcast: str, sqlite_engine: Engine
) -> None:
    _add(as_admin, podcast)
    source = _source(sqlite_engine)
    answer = _call(client, source, "somebody else's")
    assert answer.status_code == 401
    assert answer.get_json()["error"]["code"] == "signature_wrong"
    page = as_admin.get(f"/sources/{source.id}").text
    assert "The signature does not fit" in page
    assert "Refused" in page


def test_an_unknown_event_is_taken_and_shown_as_ignored(
    as_admin: FlaskClient, client: FlaskClient, podcast: str, sqlite_engine: Engine
) -> None:
    secret = _shown_secret(_add(as_admin, podcast))
    source = _source(sqlite_engine)
    answer = _call(client, source, secret, event="MEETING_ENDED")
    assert (answer.status_code, answer.get_json()["outcome"]) == (200, "ignored")
    assert "does not concern bookings" in as_admin.get(f"/sources/{source.id}").text


def test_a_message_that_cannot_be_kept_is_422(
    as_admin: FlaskClient, client: FlaskClient, podcast: str, sqlite_engine: Engine
) -> None:
    secret = _shown_secret(_add(as_admin, podcast))
    source = _source(sqlite_engine)
    answer = _call(client, source, secret, startTime="soon")
    assert answer.status_code == 422
    assert "startTime" in answer.get_json()["error"]["message"]


def test_an_unknown_address_is_404_and_a_get_is_405(client: FlaskClient) -> None:
    answer = client.post("/hooks/nobody", data=b"{}")
    assert (answer.status_code, answer.is_json) == (404, True)
    look = client.get("/hooks/nobody")
    assert (look.status_code, look.headers["Allow"]) == (405, "POST")
    assert client.post("/hooks/" + "x" * 5000, data=b"{}").status_code == 404


def test_more_than_a_megabyte_is_refused_before_it_is_looked_at(
    client: FlaskClient,
) -> None:
    answer = client.post("/hooks/nobody", data=b"x" * 1_048_577)
    assert answer.status_code == 413
    assert "1,048,576 bytes" in answer.get_json()["error"]["message"]
    assert client.post("/hooks/nobody", data=b"x" * 1_048_576).status_code == 404


def test_a_flood_of_bad_calls_is_slowed_down_and_good_ones_are_not(
    as_admin: FlaskClient, client: FlaskClient, podcast: str, sqlite_engine: Engine
) -> None:
    secret = _shown_secret(_add(as_admin, podcast))
    source = _source(sqlite_engine)
    for _ in range(40):
        assert _call(client, source, secret).status_code == 200
    answers = [_call(client, source, "not it").status_code for _ in range(40)]
    assert answers[:30] == [401] * 30
    assert set(answers[30:]) == {429}
    last = _call(client, source, "not it")
    assert "Too many calls" in last.get_json()["error"]["message"]


def _add_feed(browser: FlaskClient, podcast: str, url: str) -> TestResponse:
    return browser.post("/sources/feeds", data={"podcast_id": podcast, "url": url})


def _feed(engine: Engine) -> Feed:
    with Session(engine) as session:
        return session.scalars(select(Feed)).one()


def test_a_feed_is_added_changed_asked_and_removed(
    as_operator: FlaskClient, podcast: str, sqlite_engine: Engine
) -> None:
    assert as_operator.get("/sources/feeds/new").status_code == 200
    _add_feed(as_operator, podcast, " https://kirchplatz.example/rss ")
    feed = _feed(sqlite_engine)
    assert feed.url == "https://kirchplatz.example/rss"
    path = f"/sources/feeds/{feed.id}"
    assert "Waiting" in as_operator.get(path).text
    as_operator.post(path, data={"url": "https://other.example/feed?x=1"})
    assert _feed(sqlite_engine).url == "https://other.example/feed?x=1"
    assert as_operator.post(f"{path}/look").status_code == 303
    assert _feed(sqlite_engine).due_at <= utcnow()
    assert "Kirchplatz" in as_operator.get("/sources/").text
    as_operator.post(f"{path}/delete")
    assert as_operator.get(path).status_code == 404


@pytest.mark.parametrize(
    ("url", "words"),
    [
        ("", "Give the feed"),
        ("kirchplatz", "must begin with https://"),
        ("http://kirchplatz.example/rss", "Only https:// addresses"),
        ("https://127.0.0.1/rss", "private or local"),
        ("https://user:pw@kirchplatz.example/", "User names are not allowed"),
        ("file:///etc/passwd", "Only https:// addresses"),
        ("https://x.example/" + "x" * 3000, "at most 2048"),
    ],
)
def test_an_address_that_may_not_be_fetched_is_refused_in_words(
    as_operator: FlaskClient, podcast: str, url: str, words: str
) -> None:
    answer = _add_feed(as_operator, podcast, url)
    assert answer.status_code == 422
    assert words in answer.text


def test_a_podcast_has_one_feed(as_operator: FlaskClient, podcast: str) -> None:
    _add_feed(as_operator, podcast, "https://one.example/")
    assert (
        "has a feed already"
        in _add_feed(as_operator, podcast, "https://two.example/").text
    )


def test_a_feed_that_fails_says_so_on_its_page(
    as_viewer: FlaskClient,
    as_operator: FlaskClient,
    podcast: str,
    sqlite_engine: Engine,
) -> None:
    _add_feed(as_operator, podcast, "https://one.example/")
    with Session(sqlite_engine) as session, session.begin():
        row = session.scalars(select(Feed)).one()
        row.error, row.failures = "one.example answered 500.", 3
    page = as_viewer.get(f"/sources/feeds/{_feed(sqlite_engine).id}").text
    assert "one.example answered 500." in page
    assert "3 times in a row" in page
    assert "Failing" in as_viewer.get("/sources/").text


def _upload(browser: FlaskClient, podcast: str, data: bytes) -> TestResponse:
    file = FileStorage(io.BytesIO(data), "guests.csv")
    # Encoded here: the client would leave large files of its own open.
    boundary, body = encode_multipart({"podcast_id": podcast, "file": file})
    return browser.post(
        "/sources/guests",
        data=body,
        content_type=f"multipart/form-data; boundary={boundary}",
    )


def _guests(engine: Engine) -> dict[str, str | None]:
    with Session(engine) as session:
        rows = session.scalars(select(EpisodeGuest)).all()
        return {row.name: row.email for row in rows}


def test_a_list_of_guests_is_looked_at_and_then_imported(
    as_operator: FlaskClient, podcast: str, sqlite_engine: Engine
) -> None:
    data = "Nom;Courriel\nZoë Lee;zoe@example.org\nBo;nonsense\n".encode("cp1252")
    uploaded = _upload(as_operator, podcast, data)
    assert uploaded.status_code == 303
    page = as_operator.get(uploaded.location).text
    assert "Zoë Lee" in page
    assert "must be one e-mail address" in page
    assert _guests(sqlite_engine) == {}
    assert "guests.csv" in as_operator.get("/sources/").text

    done = as_operator.post(uploaded.location, data={"known": "merge"})
    assert "What happened" in done.text
    assert _guests(sqlite_engine) == {"Zoë Lee": "zoe@example.org"}
    assert as_operator.post(uploaded.location).status_code == 404


def test_a_list_can_be_thrown_away(
    as_operator: FlaskClient, podcast: str, sqlite_engine: Engine
) -> None:
    uploaded = _upload(as_operator, podcast, b"name\nAda")
    as_operator.post(f"{uploaded.location}/discard")
    assert as_operator.get(uploaded.location).status_code == 404
    with Session(sqlite_engine) as session:
        assert session.scalars(select(GuestImport)).all() == []


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (b"", "The file is empty"),
        (b"x\n1", "No column holds the names"),
        (b"x" * 5_000_001, "larger than 5 MB"),
    ],
)
def test_a_file_that_is_no_list_is_refused_in_words(
    as_operator: FlaskClient, podcast: str, data: bytes, words: str
) -> None:
    answer = _upload(as_operator, podcast, data)
    assert answer.status_code == 422
    assert words in answer.text


def test_a_list_of_almost_5_mb_is_taken(as_operator: FlaskClient, podcast: str) -> None:
    data = b"name,notes\n" + b"Ada," + b"x" * 100_000 + b"\n"
    wide = data + (b"Bo," + b"x" * 120_000 + b"\n") * 40
    assert 4_800_000 < len(wide) < 5_000_000
    assert _upload(as_operator, podcast, wide).status_code == 303


def test_a_form_without_a_file_says_so(as_operator: FlaskClient, podcast: str) -> None:
    answer = as_operator.post("/sources/guests", data={"podcast_id": podcast})
    assert answer.status_code == 422
    assert "Choose a file" in answer.text


def test_viewers_look_and_do_not_import(as_viewer: FlaskClient, podcast: str) -> None:
    assert as_viewer.get("/sources/").status_code == 200
    assert _upload(as_viewer, podcast, b"name\nAda").status_code == 403
    assert _add_feed(as_viewer, podcast, "https://one.example/").status_code == 403


def test_without_a_podcast_the_forms_say_what_is_missing(
    as_admin: FlaskClient, congregation: Congregation
) -> None:
    for path in ("new", "feeds/new", "guests/new"):
        assert "There is no podcast yet" in as_admin.get(f"/sources/{path}").text


def test_every_outcome_has_a_look() -> None:
    from dashboard import states
    from tasks.sources.guests import LineOutcome

    words = {word.value for kind in (CallOutcome, LineOutcome) for word in kind}
    assert words | {"waiting", "following", "failing"} <= set(states.LOOKS)


def test_all_lists_that_wait_are_listed_without_reading_their_rows(
    as_operator: FlaskClient, sqlite_engine: Engine, congregation: Congregation
) -> None:
    with Session(sqlite_engine) as session, session.begin():
        podcast = Podcast(congregation_id=congregation.id, id="many", title="Many")
        session.add(podcast)
        session.flush()
        session.add_all(
            GuestImport(
                congregation_id=congregation.id,
                podcast_id="many",
                filename=f"list{number:02d}.csv",
                content={"columns": [], "rows": []},
                created_by="ada@example.org",
            )
            for number in range(12)
        )
    with statements() as seen:
        page = as_operator.get("/sources/").text
    assert page.count('id="guest-list-') == 12
    assert not [one for one in seen if "guest_imports.content" in one]
