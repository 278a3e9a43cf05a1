"""Domains beyond ASCII: shown in letters, kept and put into addresses as ``xn--…``."""

from __future__ import annotations

import re

import pytest
from flask import Flask
from flask.testing import FlaskClient
from markupsafe import Markup
from sqlalchemy import Engine
from sqlalchemy.orm import Session

from dashboard.filters import letters
from tasks.config import Config
from tasks.models import Congregation, Member, Podcast, SuppressionReason
from tasks.operations.audit import SYSTEM
from tasks.operations.suppressions import suppress
from tasks.outbound.unsubscribing import UnsubscribeLinks
from tests.dashboard.conftest import Browser
from tests.support import factories, notification_rows, territory_rows
from tests.support.outreach import engagement

READ, KEPT = "zoe@bücher.example", "zoe@xn--bcher-kva.example"
#: What is sent back to the console, or leads somewhere, keeps the spelling of tables.
UNREAD = re.compile(r'(href|value|action|hx-\w+)="[^"]*"')
PAGES = (
    "/outreach/",
    "/outreach/contacts",
    "/outreach/agents",
    "/suppressions/",
    "/notifications/recipients",
    "/executions/",
    "/audit/",
    "/congregations/st-mary/bookings/b1",
)


@pytest.fixture
def member(congregation: Congregation, sqlite_engine: Engine) -> Member:
    """Let the address occur everywhere; return a member who has it."""
    of = congregation.id
    with Session(sqlite_engine, expire_on_commit=False) as session, session.begin():
        engagement(session, of, READ, agent=READ)
        suppress(session, of, READ, SuppressionReason.ASKED, SYSTEM)
        notification_rows.account(session, of, email=KEPT)
        session.add(Podcast(congregation_id=of, id="show", title="Show"))
        session.flush()
        factories.booking(session, of, guest_email=KEPT)
        rule = factories.rule(session, of)
        factories.execution(session, rule, recipient=KEPT)
        id_ = territory_rows.member(session, of, email=KEPT)
        return session.get_one(Member, id_)


def test_pages_show_domains_in_letters(as_operator: Browser, member: Member) -> None:
    edit = f"/members/{member.id}/edit"
    for page in (*PAGES, f"/members/{member.id}", edit):
        text = as_operator.get(page).text
        assert READ in text, page
        assert "xn--" not in UNREAD.sub("", text), page
    assert f'value="{READ}"' in as_operator.get(edit).text


@pytest.mark.parametrize("page", ["/outreach/", "/suppressions/", "/outreach/contacts"])
@pytest.mark.parametrize(
    ("typed", "found"),
    [(READ, True), (KEPT, True), ("zoe@bücher", True), ("zoe@bücherei", False)],
)
def test_both_spellings_find_an_address(
    as_operator: Browser, member: Member, page: str, typed: str, found: bool
) -> None:
    text = as_operator.get(page, query_string={"q": typed}).text
    assert (f">{READ}<" in text) is found


def test_who_unsubscribes_reads_their_address_as_they_write_it(
    app: Flask, config: Config, congregation: Congregation
) -> None:
    url = UnsubscribeLinks(config.base_url, config.secret_key).url(
        congregation.id, KEPT
    )
    answer = FlaskClient(app, app.response_class).get(url.removeprefix(config.base_url))
    assert f"no more mails to {READ}." in answer.text


def test_what_is_marked_as_safe_stays_so_and_nothing_else_becomes_it() -> None:
    marked = letters(Markup("<b>{}</b>").format(KEPT))
    assert (marked, type(marked)) == (f"<b>{READ}</b>", Markup)
    assert not isinstance(letters(f"<b>{KEPT}</b>"), Markup)
    assert letters(None) is None
