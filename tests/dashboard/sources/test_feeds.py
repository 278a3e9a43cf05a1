"""The pages of feeds: added, changed, asked and removed."""

from __future__ import annotations

import pytest
from flask.testing import FlaskClient
from sqlalchemy import Engine, select
from sqlalchemy.orm import Session

from tasks.clock import utcnow
from tasks.models import Feed
from tests.dashboard.sources.conftest import add_feed, feed_page


def test_a_feed_is_added_changed_asked_and_removed(
    as_operator: FlaskClient, podcast: str, sqlite_engine: Engine
) -> None:
    assert as_operator.get("/sources/feeds/new").status_code == 200
    add_feed(as_operator, podcast, " https://kirchplatz.example/rss ")
    feed = feed_page(sqlite_engine)
    assert feed.url == "https://kirchplatz.example/rss"
    path = f"/sources/feeds/{feed.id}"
    assert "Waiting" in as_operator.get(path).text
    as_operator.post(path, data={"url": "https://other.example/feed?x=1"})
    assert feed_page(sqlite_engine).url == "https://other.example/feed?x=1"
    assert as_operator.post(f"{path}/look").status_code == 303
    assert feed_page(sqlite_engine).due_at <= utcnow()
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
    answer = add_feed(as_operator, podcast, url)
    assert answer.status_code == 422
    assert words in answer.text


def test_a_podcast_has_one_feed(as_operator: FlaskClient, podcast: str) -> None:
    add_feed(as_operator, podcast, "https://one.example/")
    assert (
        "has a feed already"
        in add_feed(as_operator, podcast, "https://two.example/").text
    )


def test_a_feed_that_fails_says_so_on_its_page(
    as_viewer: FlaskClient,
    as_operator: FlaskClient,
    podcast: str,
    sqlite_engine: Engine,
) -> None:
    add_feed(as_operator, podcast, "https://one.example/")
    with Session(sqlite_engine) as session, session.begin():
        row = session.scalars(select(Feed)).one()
        row.error, row.failures = "one.example answered 500.", 3
    page = as_viewer.get(f"/sources/feeds/{feed_page(sqlite_engine).id}").text
    assert "one.example answered 500." in page
    assert "3 times in a row" in page
    assert "Failing" in as_viewer.get("/sources/").text
