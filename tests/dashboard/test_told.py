"""Errors of the engine are told in the reader's language, as it really writes them."""

from __future__ import annotations

import inspect
import re
import smtplib
import socket
import ssl
from collections.abc import Iterator
from types import ModuleType

import pytest

from dashboard.told import told
from tasks import daily
from tasks.automation.actions.base import Done
from tasks.holds.looking import Active
from tasks.lanes import operations, rescue
from tasks.models import new_id
from tasks.outbound import fetch
from tasks.outbound.answers import Answer, judge
from tasks.outbound.deadline import Deadline
from tasks.outbound.smtp import MailServer
from tasks.outbound.troubles import sentence_for
from tasks.saying import language
from tasks.sources import applying, calcom, calendly, feed_xml, reading
from tasks.webhooks import rescuing
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


def test_what_the_engine_says_of_waiting_is_told() -> None:
    hold = Active(new_id(), None, None, None, "Timeout", "anna@b.example", NOW, None)
    assert told(hold.sentence) == f"Retenue par anna@b.example{NBSP}: Timeout"
    assert told("Waits for a.example, which does not answer.").startswith("Attend a.")
    turn = "Waits for its turn: the rule acts at most 3 times in 5 minutes."
    assert told(turn).endswith("au plus 3 fois en 5 minutes.")


@pytest.mark.parametrize("module", [rescue, rescuing, operations])
def test_what_became_of_a_worker_is_told(module: ModuleType) -> None:
    """Looks for the sentences where they are written, so that none is reworded."""
    text = re.sub(r'"\s+f?"', "", inspect.getsource(module))
    text = text.replace("{TRIES_MAX}", "5")
    found = re.findall(r'"(The (?:worker (?:did|vanished)|same piece) [^"]+\.)"', text)
    assert found
    for sentence in found:
        assert told(sentence) != sentence


def test_what_a_lane_says_of_congregations_that_failed_is_told() -> None:
    failed = [(new_id(), "StorageFailed: bucket cannot be reached."), (new_id(), "x")]
    first = failed[0][0]
    why = "StorageFailed: bucket est injoignable."
    one = f"L’assemblée {first} a échoué{NBSP}: {why}"
    assert told(daily.trouble(failed[:1])) == one
    two = f"L’assemblée {first} et 1 de plus ont échoué{NBSP}: {why}"
    assert told(daily.trouble(failed)) == two


@pytest.mark.parametrize(
    "module", [calcom, calendly, applying, reading, fetch, feed_xml]
)
def test_what_calls_and_looks_at_feeds_came_to_is_told(module: ModuleType) -> None:
    """Looks for the sentences with values where they are written."""
    text = re.sub(r'"\s+f?"', "", inspect.getsource(module))
    found = re.findall(r'f"([^"]*{[^"]+ [^"]+\.)"', text)
    assert found
    for sentence in found:
        assert told(sentence) != sentence, sentence


def test_what_a_server_said_itself_stays_as_it_is() -> None:
    kept = "The mail server refused the mail for good: 550 5.1.1 No such mailbox here"

    assert told(kept).endswith(
        "définitivement\N{NO-BREAK SPACE}: 550 5.1.1 No such mailbox here"
    )
    assert told("Something that nobody knows.") == "Something that nobody knows."
    assert told(None) == ""
