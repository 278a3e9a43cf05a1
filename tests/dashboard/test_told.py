"""Errors of the engine are told in the reader's language, as it really writes them."""

from __future__ import annotations

import smtplib
import socket
import ssl
from collections.abc import Iterator

import pytest

from dashboard.told import told
from tasks.automation.actions.base import Done
from tasks.outbound.answers import Answer, judge
from tasks.outbound.deadline import Deadline
from tasks.outbound.smtp import MailServer
from tasks.outbound.troubles import sentence_for
from tasks.saying import language
from tests.conftest import NOW

NBSP = "\N{NO-BREAK SPACE}"
SERVER = MailServer.of("smtp://mail.example.org:2525")


@pytest.fixture(autouse=True)
def _french() -> Iterator[None]:
    token = language.set("fr")
    yield
    language.reset(token)


@pytest.mark.parametrize(
    ("status", "said"),
    [
        (
            410,
            "L’adresse a répondu 410\N{NO-BREAK SPACE}: elle a définitivement disparu.",
        ),
        (503, "L’adresse a répondu 503."),
        (302, "L’adresse a répondu par une redirection (302)"),
    ],
)
def test_answers_of_addresses_are_told(status: int, said: str) -> None:
    outcome = judge(Answer(status, b"", None), now=NOW)

    assert not isinstance(outcome, Done)
    assert told(outcome.error).startswith(said)


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (ConnectionRefusedError(), "est injoignable (connexion refusée)."),
        (socket.gaierror(), "est injoignable (cet hôte n’existe pas)."),
        (TimeoutError(), "est injoignable (pas de réponse en 30 secondes)."),
        (ssl.SSLError(), "est injoignable (aucun accord sur TLS)."),
        (smtplib.SMTPServerDisconnected(), "(il a fermé la connexion)."),
    ],
)
def test_troubles_with_mail_servers_are_told(error: Exception, said: str) -> None:
    with Deadline(30) as deadline:
        sentence = sentence_for(error, SERVER, deadline, was_handed_over=False)

    assert told(sentence).startswith("Le serveur de messagerie mail.example.org:2525")
    assert told(sentence).endswith(said)


def test_what_a_server_said_itself_stays_as_it_is() -> None:
    kept = "The mail server refused the mail for good: 550 5.1.1 No such mailbox here"

    assert told(kept).endswith(
        "définitivement\N{NO-BREAK SPACE}: 550 5.1.1 No such mailbox here"
    )
    assert told("Something that nobody knows.") == "Something that nobody knows."
    assert told(None) == ""
