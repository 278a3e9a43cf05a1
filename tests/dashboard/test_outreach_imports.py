"""Files of contacts: uploaded, looked at, imported, and taken back."""

from __future__ import annotations

import io
import json
import re
from collections.abc import Callable
from typing import Any

import pytest
from sqlalchemy import Engine, select
from sqlalchemy.orm import Session, sessionmaker
from werkzeug.datastructures import FileStorage
from werkzeug.test import TestResponse, encode_multipart

from dashboard.outreach.imports import page_of
from tasks.db import sessions
from tasks.errors import InvalidInput
from tasks.models import Congregation, Contact, ContactDraft, Engagement
from tasks.operations.audit import SYSTEM
from tasks.outreach.contacts import save_contact
from tasks.outreach.import_rows import How
from tasks.outreach.importing import import_contacts
from tasks.outreach.previewing import Fate, Told
from tests.dashboard.conftest import Browser
from tests.support import factories
from tests.support.outreach import ADDRESS, AGENT

Sessions = sessionmaker[Session]
FILE = (
    "E-mail;Name;Colour\n"
    "zoe@example.org;Zoë;red\n"
    "nobody;Bo;\n"
    "ZOE@example.org;Zo;\n"
    "ida@example.org;Ida;\n"
).encode("cp1252")


@pytest.fixture
def make_db(sqlite_engine: Engine) -> Sessions:
    return sessions(sqlite_engine)


@pytest.fixture
def known(make_db: Sessions, congregation: Congregation) -> None:
    """Let one contact of the file be known under another name."""
    with make_db.begin() as session:
        save_contact(session, congregation.id, ADDRESS, {"display_name": "Z"})


def _upload(
    browser: Browser, congregation: Congregation, data: bytes, name: str = "friends.csv"
) -> TestResponse:
    file = FileStorage(io.BytesIO(data), name)
    # Encoded here: the client would leave large files of its own open.
    form = {"congregation_id": str(congregation.id), "file": file}
    boundary, body = encode_multipart(form)
    return browser.post(
        "/outreach/imports",
        data=body,
        content_type=f"multipart/form-data; boundary={boundary}",
    )


def _names(make_db: Sessions) -> dict[str, str]:
    with make_db() as session:
        rows = session.scalars(select(Contact)).all()
        return {row.address: row.display_name for row in rows}


@pytest.mark.usefixtures("known")
def test_a_file_is_looked_at_imported_and_taken_back(
    as_operator: Browser, congregation: Congregation, make_db: Sessions
) -> None:
    uploaded = _upload(as_operator, congregation, FILE)
    assert uploaded.status_code == 303, uploaded.text
    page = as_operator.get(uploaded.location).text
    assert "Windows-1252, columns separated by semicolons" in page
    assert "Colour (not read)" in page
    assert "Import 2 contacts" in page
    assert "Line 3, column “E-mail”" in page
    assert "The same address as in line 2" in page
    assert "<small>Zoë</small>" in page
    assert _names(make_db) == {ADDRESS: "Z"}
    assert "friends.csv" in as_operator.get("/outreach/imports").text

    done = as_operator.post(uploaded.location, data={"known": "merge"})
    page = as_operator.get(done.location).text
    assert "1 contact made known, 1 changed." in page
    assert _names(make_db) == {ADDRESS: "Zoë", "ida@example.org": "Ida"}
    for row in ("All 4", "New 1", "Changed 1", "Twice 1", "Wrong 1"):
        assert row in page
    again = as_operator.post(uploaded.location, data={"known": "merge"})
    assert again.location == done.location
    assert as_operator.get(uploaded.location).status_code == 404
    only = as_operator.get(f"{done.location}?fate=wrong").text
    assert "nobody" in only
    assert "ida@example.org" not in only

    undone = as_operator.post(f"{done.location}/undo", follow_redirects=True)
    assert "1 contact removed" in undone.text
    assert "It was taken back" in undone.text
    assert _names(make_db) == {ADDRESS: "Zoë"}
    assert as_operator.post(f"{done.location}/undo").status_code == 409
    assert "taken back" in as_operator.get("/outreach/imports").text


@pytest.mark.usefixtures("known")
def test_known_contacts_may_stay_and_an_agent_may_enrol_them_all(
    as_operator: Browser, congregation: Congregation, make_db: Sessions
) -> None:
    data = [
        {"address": ADDRESS, "display_name": "New", "stage": "warm"},
        {"address": "ida@example.org", "metadata": {"town": "Lyon"}},
        "odd",
    ]
    uploaded = _upload(as_operator, congregation, json.dumps(data).encode(), "a.json")
    page = as_operator.get(f"{uploaded.location}?known=keep").text
    assert "say which agent enrols these contacts" in page
    assert "Import 1 contact<" in page
    assert "Entry 3: It must be an object" in page
    page = as_operator.get(f"{uploaded.location}?known=keep&agent={AGENT}").text
    assert "It is enrolled." in page
    assert "Import 2 contacts" in page
    choice = {"known": "keep", "agent": AGENT}
    as_operator.post(uploaded.location, data=choice)
    assert _names(make_db) == {ADDRESS: "Z", "ida@example.org": ""}
    with make_db() as session:
        found = session.scalars(select(Engagement.stage)).all()
    assert sorted(found) == ["", "warm"]


def test_a_wrong_agent_is_told_and_nothing_can_be_imported_until_it_is_right(
    as_operator: Browser, congregation: Congregation, make_db: Sessions
) -> None:
    where = _upload(as_operator, congregation, b"email\na@example.org").location
    for answer in (
        as_operator.get(f"{where}?agent=nobody"),
        as_operator.post(where, data={"agent": "nobody"}),
    ):
        assert "not an e-mail address" in answer.text
        assert 'id="take"' not in answer.text
    assert answer.status_code == 422
    assert _names(make_db) == {}


def test_a_file_without_a_good_row_is_not_imported(
    as_operator: Browser, congregation: Congregation
) -> None:
    where = _upload(as_operator, congregation, b"email\nnobody").location
    assert "There is nothing to import" in as_operator.get(where).text
    answer = as_operator.post(where)
    assert answer.status_code == 422
    assert "No row of this file can be imported." in answer.text


def test_a_file_can_be_thrown_away(
    as_operator: Browser, congregation: Congregation, make_db: Sessions
) -> None:
    where = _upload(as_operator, congregation, b"email\na@example.org").location
    answer = as_operator.post(f"{where}/discard", follow_redirects=True)
    assert "nothing was imported" in answer.text
    assert as_operator.post(where).status_code == 404
    with make_db() as session:
        assert session.scalars(select(ContactDraft)).all() == []


def test_what_is_no_list_is_refused_in_words_at_the_file(
    as_operator: Browser, congregation: Congregation
) -> None:
    for data, sentence in (
        (b"", "The file is empty."),
        (b"\xef\xbb\xbf  \n", "The file is empty."),
        (b"[]", "The file holds no contacts."),
        (b'{"people": []}', "must be a list such as"),
        (b'{"contacts": 1}', "must be a list such as"),
        (b'[{"address": ', "not valid JSON"),
        (b'[{"address": "a", "address": "b"}]', "stands twice"),
        (b'[{"address": "\\u0000"}]', "NUL"),
        (b"email\n" + b"x" * 5_000_001, "larger than 5 MB"),
    ):
        answer = _upload(as_operator, congregation, data)
        assert answer.status_code == 422, data[:40]
        assert sentence in answer.text.replace("&#34;", '"'), data[:40]
    answer = as_operator.post("/outreach/imports", data={"congregation_id": "x"})
    assert "Choose a congregation." in answer.text
    form = {"congregation_id": str(congregation.id)}
    assert "Choose a file." in as_operator.post("/outreach/imports", data=form).text


def test_a_list_over_the_api_has_no_rows_here_and_can_be_taken_back(
    as_operator: Browser, congregation: Congregation, make_db: Sessions
) -> None:
    with make_db.begin() as session:
        rows = [{"address": ADDRESS}, {"address": "nobody"}]
        import_contacts(session, congregation.id, rows, How(agent=AGENT), SYSTEM)
    page = as_operator.get("/outreach/imports").text
    assert "1 created, 1 refused" in page
    found = re.search(r'href="(/outreach/imports/[0-9a-f-]{36})"', page)
    assert found
    assert "The single rows are not kept" in as_operator.get(found[1]).text
    answer = as_operator.post(f"{found[1]}/undo", follow_redirects=True)
    assert "1 contact removed" in answer.text


def test_nobody_imports_into_a_congregation_of_others(
    log_in: Callable[..., Browser], congregation: Congregation, make_db: Sessions
) -> None:
    with make_db.begin() as session:
        ours = factories.congregation(session, "ours")
    stranger = log_in("operator", sees_all=False, congregations=[ours])
    answer = _upload(stranger, congregation, FILE)
    assert answer.status_code in (404, 422)
    assert "St Mary" not in answer.text
    with make_db() as session:
        assert session.scalars(select(ContactDraft)).all() == []


def test_viewers_look_and_do_not_import(
    as_viewer: Browser, congregation: Congregation
) -> None:
    page = as_viewer.get("/outreach/imports").text
    assert "No list was imported yet" in page
    assert "Import contacts</a>" not in page
    assert as_viewer.get("/outreach/imports/new").status_code == 403
    assert _upload(as_viewer, congregation, FILE).status_code == 403


def test_rows_are_paged_by_where_they_stand() -> None:
    rows = [Told(n, "", "", Fate.NEW if n % 2 else Fate.SAME) for n in range(2, 12)]

    def places(*args: Any) -> list[int]:
        return [row.place for row in page_of(rows, *args).rows]

    first = page_of(rows, "", None, 4)
    assert (first.previous_cursor, first.next_cursor) == (None, "after-5")
    assert places("", "after-5", 4) == [6, 7, 8, 9]
    last = page_of(rows, "", "after-9", 4)
    assert (last.previous_cursor, last.next_cursor) == ("before-10", None)
    assert places("", "before-10", 4) == [6, 7, 8, 9]
    assert places("", "before-4", 4) == [2, 3, 4, 5]  # a whole page at the start
    assert places("new", None, 9) == [3, 5, 7, 9, 11]
    for fate, cursor in (("odd", None), ("", "after-x"), ("", "up-3"), ("", "after-²")):
        with pytest.raises(InvalidInput):
            page_of(rows, fate, cursor, 4)
