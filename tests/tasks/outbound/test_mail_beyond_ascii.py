"""Addresses with letters beyond ASCII before the @ (RFC 6531)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from uuid import UUID

import pytest

from tasks.automation.actions.base import Done, Envelope, GiveUp, Outcome, TryAgain
from tasks.failures.cause import cause_of
from tasks.models.reason import Reason
from tasks.outbound.mail import SmtpMailer
from tasks.outbound.smtp import MailServer
from tasks.outbound.unsubscribing import UnsubscribeLinks
from tasks.saying import language
from tasks.told import told
from tests.conftest import NOW
from tests.support.smtp_sink import SmtpSink

ENVELOPE = Envelope(UUID(int=7), UUID(int=1), None)
JOERG = "jörg@xn--bcher-kva.example"
MESSAGE: Mapping[str, Any] = {
    "to": JOERG,
    "subject": "Grüße 🎙 bis Donnerstag",
    "text": "Hallo Jörg\n",
    "html": "<p>Hallo Jörg</p>",
}
CALENDAR = {
    "id": "b-1",
    "revision": 1,
    "start": "2026-03-12T14:00:00Z",
    "end": None,
    "status": "confirmed",
    "summary": "Recording",
    "location": "",
    "host": "Zoë",
    "guest": "Jörg",
}


def send(sink: SmtpSink, **changes: Any) -> Outcome:
    links = UnsubscribeLinks("https://carillon.example", "k" * 40)
    mailer = SmtpMailer(
        MailServer.of(sink.url),
        "Studio Zoë <studio@carillon.example>",
        links=links,
        clock=lambda: NOW,
        total_seconds=2.0,
    )
    return mailer.send({**MESSAGE, **changes}, ENVELOPE)


def test_a_server_that_takes_such_addresses_gets_the_mail(smtp_sink: SmtpSink) -> None:
    outcome = send(smtp_sink)

    assert isinstance(outcome, Done)
    (mail,) = smtp_sink.mails
    assert mail.recipients == [JOERG]
    assert mail.options == ["SMTPUTF8", "BODY=8BITMIME"]
    assert f"To: {JOERG}\r\n".encode() in mail.raw
    assert mail.subject == MESSAGE["subject"]
    assert mail.message["From"] == "Studio Zoë <studio@carillon.example>"
    assert mail.text.strip() == "Hallo Jörg"


def test_its_calendar_file_and_its_link_know_the_address(smtp_sink: SmtpSink) -> None:
    assert isinstance(send(smtp_sink, calendar=CALENDAR, optional=True), Done)

    (mail,) = smtp_sink.mails
    (calendar,) = (
        part.get_content()
        for part in mail.message.walk()
        if part.get_content_type() == "text/calendar"
    )
    unfolded = calendar.replace("\r\n ", "")
    assert "mailto:j%C3%B6rg@xn--bcher-kva.example" in unfolded
    link = str(mail.message["List-Unsubscribe"]).strip("<>")
    links = UnsubscribeLinks("https://carillon.example", "k" * 40)
    assert links.read(link.rpartition("/")[2]) == (ENVELOPE.congregation_id, JOERG)


def test_a_domain_alone_is_written_in_ascii() -> None:
    with SmtpSink(utf8=False) as sink:
        assert isinstance(send(sink, to="guest@bücher.example"), Done)

        (mail,) = sink.mails
    assert mail.recipients == ["guest@xn--bcher-kva.example"]
    assert mail.message["To"] == "guest@xn--bcher-kva.example"


def test_what_is_no_address_is_given_up(smtp_sink: SmtpSink) -> None:
    outcome = send(smtp_sink, to="jörg")

    assert isinstance(outcome, GiveUp)
    assert outcome.reason is Reason.NO_RECIPIENT
    assert smtp_sink.mails == []


def test_plain_addresses_ask_nothing_more_of_a_server() -> None:
    with SmtpSink(utf8=False) as sink:
        assert isinstance(send(sink, to="guest@xn--bcher-kva.example"), Done)

        (mail,) = sink.mails
    assert mail.options == []
    assert mail.raw.isascii()


@pytest.fixture
def refused() -> GiveUp:
    """Return what a server without SMTPUTF8 makes of it."""
    with SmtpSink(utf8=False) as sink:
        outcome = send(sink)

    assert sink.mails == []
    assert isinstance(outcome, GiveUp)
    return outcome


def test_a_server_that_takes_none_is_not_asked_again(refused: GiveUp) -> None:
    assert refused.reason is Reason.REFUSED
    assert refused.nobody_at is None  # another server may reach it
    assert "offers no internationalized mail" in refused.error
    assert "Use another address" in refused.error


def test_that_is_told_in_french(refused: GiveUp) -> None:
    token = language.set("fr")
    try:
        said = told(refused.error)
        of_all = told(cause_of(refused.error, refused.reason))
    finally:
        language.reset(token)

    assert said.startswith("Le serveur de messagerie 127.0.0.1:")
    assert "une autre adresse" in said
    assert of_all.startswith("Le serveur de messagerie <ip>")
    assert "une autre adresse" in of_all


def test_a_server_that_is_away_is_asked_again() -> None:
    with SmtpSink() as sink:
        sink.drop("mail")
        assert isinstance(send(sink), TryAgain)
