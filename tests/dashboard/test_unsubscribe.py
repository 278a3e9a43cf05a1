"""Unsubscribing without a login, by a person or by a mail program."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from flask import Flask
from flask.testing import FlaskClient
from sqlalchemy import Engine, select
from sqlalchemy.orm import Session

from tasks.config import Config
from tasks.models import AuditEntry, Congregation, Suppression
from tasks.outbound.unsubscribing import UnsubscribeLinks

ADDRESS = "zoe@example.org"


@pytest.fixture
def path(config: Config, congregation: Congregation) -> str:
    """Return the path of a guest's link."""
    links = UnsubscribeLinks(config.base_url, config.secret_key)
    url = links.url(congregation.id, ADDRESS)
    return url.removeprefix(config.base_url)


@pytest.fixture
def stranger(app: Flask) -> FlaskClient:
    """Return a client as a mail program is: it knows no token and no cookie."""
    return FlaskClient(app, app.response_class, use_cookies=False)


@pytest.fixture
def listed(sqlite_engine: Engine) -> Callable[[], list[str]]:
    """Return a function that reads the list."""

    def read() -> list[str]:
        with Session(sqlite_engine) as session:
            return list(session.scalars(select(Suppression.address)))

    return read


def test_looking_changes_nothing(
    stranger: FlaskClient, path: str, listed: Callable[[], list[str]]
) -> None:
    answer = stranger.get(path)

    assert answer.status_code == 200
    page = answer.get_data(as_text=True)
    assert "St Mary will send no more mails to zoe@example.org." in page
    assert '<html lang="en">' in page
    assert "csrf" not in page
    assert listed() == []


@pytest.mark.parametrize(
    "headers",
    [
        {},
        {"Origin": "null"},
        {"Origin": "https://mail.example.net", "Sec-Fetch-Site": "cross-site"},
    ],
)
def test_one_post_without_cookies_ends_the_mails(
    stranger: FlaskClient,
    path: str,
    listed: Callable[[], list[str]],
    headers: dict[str, str],
) -> None:
    body = {"List-Unsubscribe": "One-Click"}
    answers = [stranger.post(path, data=body, headers=headers) for _ in range(2)]

    assert [each.status_code for each in answers] == [200, 200]
    assert "You are unsubscribed" in answers[0].get_data(as_text=True)
    assert listed() == [ADDRESS]


def test_a_body_of_any_form_will_do(
    stranger: FlaskClient, path: str, listed: Callable[[], list[str]]
) -> None:
    answer = stranger.post(
        path,
        data={"List-Unsubscribe": "One-Click"},
        content_type="multipart/form-data",
    )
    assert answer.status_code == 200
    assert stranger.post(path, data=b"\xff\x00").status_code == 200
    assert listed() == [ADDRESS]


def test_it_is_audited_as_the_recipients_deed(
    stranger: FlaskClient, path: str, sqlite_engine: Engine
) -> None:
    stranger.post(path)

    with Session(sqlite_engine) as session:
        (entry,) = session.scalars(select(AuditEntry))
        assert (entry.actor, entry.action) == ("the recipient", "suppression.added")


def test_the_page_speaks_the_congregations_language(
    stranger: FlaskClient, path: str, sqlite_engine: Engine
) -> None:
    with Session(sqlite_engine) as session, session.begin():
        session.scalars(select(Congregation)).one().locale = "fr"

    page = stranger.get(path).get_data(as_text=True)
    assert '<html lang="fr">' in page
    assert "Se désabonner" in page


@pytest.mark.parametrize("change", ["x", "%00", "/more"])
@pytest.mark.parametrize("method", ["GET", "POST"])
def test_a_link_that_is_not_whole_is_not_found(
    stranger: FlaskClient,
    path: str,
    listed: Callable[[], list[str]],
    change: str,
    method: str,
) -> None:
    answer = stranger.open(path + change, method=method)

    assert answer.status_code in {403, 404} or (
        change == "/more" and answer.status_code == 302
    )
    assert listed() == []


def test_a_broken_link_leads_no_guest_to_the_console(
    stranger: FlaskClient, path: str
) -> None:
    page = stranger.get(f"{path}x").get_data(as_text=True)
    assert "Error 40" in page
    assert "To the overview" not in page


def test_a_congregation_that_is_gone_is_said(
    stranger: FlaskClient, path: str, sqlite_engine: Engine
) -> None:
    with Session(sqlite_engine) as session, session.begin():
        session.delete(session.scalars(select(Congregation)).one())

    answer = stranger.post(path)
    assert answer.status_code == 404
    assert "does not exist any more" in answer.get_data(as_text=True)
