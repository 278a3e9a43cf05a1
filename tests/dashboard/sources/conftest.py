"""A podcast, and the forms of its sources as they are sent."""

from __future__ import annotations

import io
import re

import pytest
from flask.testing import FlaskClient
from sqlalchemy import Engine, select
from sqlalchemy.orm import Session
from werkzeug.datastructures import FileStorage
from werkzeug.test import TestResponse, encode_multipart

from tasks.models import BookingLink, Congregation, EpisodeGuest, Feed, Podcast, Source
from tests.support.booking_services import cal_message, signed_by_cal


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


def add_source(browser: FlaskClient, podcast: str, **changes: str) -> TestResponse:
    values = {"kind": "calcom", "name": "Interviews", "podcast_id": podcast}
    return browser.post("/sources/", data=values | changes)


def source_page(engine: Engine) -> Source:
    with Session(engine) as session:
        return session.scalars(select(Source)).one()


def shown_secret(page: TestResponse) -> str:
    found = re.search(r'id="secret">([^<]+)<', page.text)
    assert found, page.text
    return found[1]


def call_hook(
    client: FlaskClient, source: Source, secret: str, **changes: object
) -> TestResponse:
    body, headers = signed_by_cal(cal_message(**changes), secret)  # type: ignore[arg-type]
    return client.post(f"/hooks/{source.token}", data=body, headers=headers)


def add_feed(browser: FlaskClient, podcast: str, url: str) -> TestResponse:
    return browser.post("/sources/feeds", data={"podcast_id": podcast, "url": url})


def feed_page(engine: Engine) -> Feed:
    with Session(engine) as session:
        return session.scalars(select(Feed)).one()


def upload_list(browser: FlaskClient, podcast: str, data: bytes) -> TestResponse:
    file = FileStorage(io.BytesIO(data), "guests.csv")
    # Encoded here: the client would leave large files of its own open.
    boundary, body = encode_multipart({"podcast_id": podcast, "file": file})
    return browser.post(
        "/sources/guests",
        data=body,
        content_type=f"multipart/form-data; boundary={boundary}",
    )


def guests_of(engine: Engine) -> dict[str, str | None]:
    with Session(engine) as session:
        rows = session.scalars(select(EpisodeGuest)).all()
        return {row.name: row.email for row in rows}
