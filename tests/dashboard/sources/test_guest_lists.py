"""Lists of guests: looked at, then imported or thrown away."""

from __future__ import annotations

import pytest
from flask.testing import FlaskClient
from sqlalchemy import Engine, select
from sqlalchemy.orm import Session

from tasks.models import Congregation, GuestImport, Podcast
from tests.dashboard.sources.conftest import add_feed, guests_of, upload_list
from tests.support.statements import statements


def test_a_list_of_guests_is_looked_at_and_then_imported(
    as_operator: FlaskClient, podcast: str, sqlite_engine: Engine
) -> None:
    data = "Nom;Courriel\nZoë Lee;zoe@example.org\nBo;nonsense\n".encode("cp1252")
    uploaded = upload_list(as_operator, podcast, data)
    assert uploaded.status_code == 303
    page = as_operator.get(uploaded.location).text
    assert "Zoë Lee" in page
    assert "must be one e-mail address" in page
    assert guests_of(sqlite_engine) == {}
    assert "guests.csv" in as_operator.get("/sources/").text

    done = as_operator.post(uploaded.location, data={"known": "merge"})
    assert "What happened" in done.text
    assert guests_of(sqlite_engine) == {"Zoë Lee": "zoe@example.org"}
    assert as_operator.post(uploaded.location).status_code == 404


def test_a_list_can_be_thrown_away(
    as_operator: FlaskClient, podcast: str, sqlite_engine: Engine
) -> None:
    uploaded = upload_list(as_operator, podcast, b"name\nAda")
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
    answer = upload_list(as_operator, podcast, data)
    assert answer.status_code == 422
    assert words in answer.text


def test_a_list_of_almost_5_mb_is_taken(as_operator: FlaskClient, podcast: str) -> None:
    data = b"name,notes\n" + b"Ada," + b"x" * 100_000 + b"\n"
    wide = data + (b"Bo," + b"x" * 120_000 + b"\n") * 40
    assert 4_800_000 < len(wide) < 5_000_000
    assert upload_list(as_operator, podcast, wide).status_code == 303


def test_a_form_without_a_file_says_so(as_operator: FlaskClient, podcast: str) -> None:
    answer = as_operator.post("/sources/guests", data={"podcast_id": podcast})
    assert answer.status_code == 422
    assert "Choose a file" in answer.text


def test_viewers_look_and_do_not_import(as_viewer: FlaskClient, podcast: str) -> None:
    assert as_viewer.get("/sources/").status_code == 200
    assert upload_list(as_viewer, podcast, b"name\nAda").status_code == 403
    assert add_feed(as_viewer, podcast, "https://one.example/").status_code == 403


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
