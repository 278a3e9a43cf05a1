from __future__ import annotations

import smtplib
import socket
import threading
import time
from collections.abc import Iterator, Mapping
from dataclasses import replace
from email.message import EmailMessage
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest

from tasks.automation.actions.base import Done, Envelope, GiveUp, Outcome, TryAgain
from tasks.models.reason import Reason
from tasks.outbound.letters import make_letter, on_the_wire, read_sender
from tasks.outbound.mail import SmtpMailer
from tasks.outbound.smtp import MailServer
from tasks.outbound.unsubscribing import UnsubscribeLinks
from tests.conftest import NOW
from tests.support.certificates import Authority
from tests.support.servers import free_port
from tests.support.smtp_sink import SmtpSink, Stage

ENVELOPE = Envelope(UUID(int=7), UUID(int=1), None)
SENDER = "Studio Zoë <studio@carillon.example>"
MESSAGE: Mapping[str, Any] = {
    "to": "guest@example.org",
    "subject": "Grüße 🎙 bis Donnerstag",
    "text": "Hallo Zoë,\n.\n..zwei Punkte\nbis bald 🎙\n",
    "html": "<p>Hallo Zoë 🎙</p>",
}


def mailer(url: str | None, **changes: Any) -> SmtpMailer:
    server = MailServer.of(url) if url else None
    return replace(
        SmtpMailer(server, SENDER, clock=lambda: NOW, total_seconds=2.0), **changes
    )


def send(sink: SmtpSink, **changes: str) -> Outcome:
    return mailer(sink.url).send({**MESSAGE, **changes}, ENVELOPE)


def test_umlauts_emoji_and_dots_arrive_as_they_were_written(
    smtp_sink: SmtpSink,
) -> None:
    outcome = send(smtp_sink)

    assert isinstance(outcome, Done)
    (mail,) = smtp_sink.mails
    assert mail.sender == "studio@carillon.example"
    assert mail.recipients == ["guest@example.org"]
    assert mail.subject == MESSAGE["subject"]
    assert mail.text.replace("\r\n", "\n") == MESSAGE["text"]
    assert mail.html.strip() == MESSAGE["html"]
    assert mail.raw.isascii()


def test_a_mail_tells_which_execution_it_is_on_every_attempt(
    smtp_sink: SmtpSink,
) -> None:
    send(smtp_sink)
    send(smtp_sink)

    first, second = (mail.message for mail in smtp_sink.mails)
    assert first["Message-ID"] == f"<{ENVELOPE.execution_id}@carillon.example>"
    assert first["Message-ID"] == second["Message-ID"]
    assert first["X-Carillon-Execution"] == str(ENVELOPE.execution_id)
    assert first["From"] == SENDER
    assert first["Date"] == "Tue, 10 Mar 2026 12:00:00 +0000"


def test_without_html_there_is_only_text(smtp_sink: SmtpSink) -> None:
    send(smtp_sink, html="")

    (mail,) = smtp_sink.mails
    assert mail.message.get_content_type() == "text/plain"


@pytest.mark.parametrize("stage", ["mail", "rcpt", "end"])
def test_a_temporary_refusal_is_tried_again(smtp_sink: SmtpSink, stage: Stage) -> None:
    smtp_sink.refuse(stage, "451 4.3.0 Try later")

    outcome = send(smtp_sink)

    assert isinstance(outcome, TryAgain)
    assert (outcome.status_code, outcome.is_unknown) == (451, False)
    assert "451 4.3.0 Try later" in outcome.error
    assert smtp_sink.mails == []


@pytest.mark.parametrize("stage", ["mail", "rcpt", "end"])
def test_a_final_refusal_is_final(smtp_sink: SmtpSink, stage: Stage) -> None:
    smtp_sink.refuse(stage, "550 5.1.1 No such mailbox")

    outcome = send(smtp_sink)

    assert isinstance(outcome, GiveUp)
    assert (outcome.reason, outcome.status_code) == (Reason.REFUSED, 550)
    assert "550 5.1.1 No such mailbox" in outcome.error


@pytest.mark.parametrize("reply", ["421 Closing down", "530 5.7.0 Authenticate first"])
def test_a_refusal_of_us_altogether_is_not_held_against_the_mail(
    smtp_sink: SmtpSink, reply: str
) -> None:
    smtp_sink.refuse("mail", reply)

    outcome = send(smtp_sink)

    assert isinstance(outcome, TryAgain)
    assert "refused to serve us" in outcome.error


def test_a_line_cut_after_the_final_dot_is_unknown(smtp_sink: SmtpSink) -> None:
    smtp_sink.drop("end")

    outcome = send(smtp_sink)

    assert isinstance(outcome, TryAgain)
    assert outcome.is_unknown
    assert "may have been delivered" in outcome.error
    assert len(smtp_sink.mails) == 1


def test_a_line_cut_earlier_is_not_unknown(smtp_sink: SmtpSink) -> None:
    smtp_sink.drop("rcpt")

    outcome = send(smtp_sink)

    assert isinstance(outcome, TryAgain)
    assert not outcome.is_unknown


@pytest.mark.parametrize(("stage", "unknown"), [("rcpt", False), ("end", True)])
def test_a_server_that_hangs_is_left_at_the_deadline(
    smtp_sink: SmtpSink, stage: Stage, unknown: bool
) -> None:
    smtp_sink.hang(stage)

    began = time.monotonic()
    outcome = send(smtp_sink)

    assert time.monotonic() - began < 4.0
    assert isinstance(outcome, TryAgain)
    assert outcome.is_unknown is unknown


@pytest.fixture
def dripping() -> Iterator[int]:
    """Run a mail server whose greeting comes one byte at a time; yields its port."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        stop = threading.Event()

        def drip() -> None:
            client, _ = server.accept()
            with client:
                try:
                    client.sendall(b"220-")
                    while not stop.wait(0.05):
                        client.sendall(b"x")
                except OSError:
                    return

        thread = threading.Thread(target=drip)
        thread.start()
        yield server.getsockname()[1]
        stop.set()
        thread.join(5)


def test_a_dripping_greeting_cannot_outlive_the_deadline(dripping: int) -> None:
    began = time.monotonic()
    outcome = mailer(f"smtp://127.0.0.1:{dripping}", total_seconds=0.5).send(
        MESSAGE, ENVELOPE
    )

    assert time.monotonic() - began < 2.0
    assert isinstance(outcome, TryAgain)
    assert "no answer within 0.5 seconds" in outcome.error


def test_nobody_listens() -> None:
    port = free_port()

    outcome = mailer(f"smtp://127.0.0.1:{port}").send(MESSAGE, ENVELOPE)

    assert outcome == TryAgain(
        f"The mail server at 127.0.0.1:{port} cannot be reached (connection refused)."
    )


def test_no_server_is_set() -> None:
    outcome = mailer(None).send(MESSAGE, ENVELOPE)

    assert isinstance(outcome, TryAgain)
    assert "SMTP_URL" in outcome.error


class TestLoginAndTls:
    def test_the_login_of_the_address_is_used(self) -> None:
        with SmtpSink(login=("studio", "pa:ss@word")) as sink:
            url = f"smtp://studio:pa%3Ass%40word@127.0.0.1:{sink.port}"
            assert isinstance(mailer(url).send(MESSAGE, ENVELOPE), Done)

    def test_a_refused_login_is_told_without_the_password(self) -> None:
        with SmtpSink(login=("studio", "right")) as sink:
            url = f"smtp://studio:wr0ng-passw0rd@127.0.0.1:{sink.port}"
            outcome = mailer(url).send(MESSAGE, ENVELOPE)

        assert isinstance(outcome, TryAgain)
        assert "refused the login in SMTP_URL: 535" in outcome.error
        assert "wr0ng" not in repr(outcome)

    @pytest.mark.parametrize("implicit", [False, True])
    def test_tls_is_verified_against_the_host(
        self, tmp_path: Path, implicit: bool
    ) -> None:
        authority = Authority(tmp_path)
        tls = authority.serve("localhost")
        scheme = "smtps" if implicit else "smtp+starttls"
        with SmtpSink(tls=tls, implicit_tls=implicit) as sink:
            good = f"{scheme}://localhost:{sink.port}"
            other = f"{scheme}://127.0.0.1:{sink.port}"
            trusting = authority.trust()
            assert isinstance(mailer(good, tls=trusting).send(MESSAGE, ENVELOPE), Done)
            for url, trust in ((other, trusting), (good, None)):
                changes = {} if trust is None else {"tls": trust}
                outcome = mailer(url, **changes).send(MESSAGE, ENVELOPE)
                assert isinstance(outcome, TryAgain)
                assert "certificate that is not trusted" in outcome.error
            assert len(sink.mails) == 1

    def test_no_mail_goes_in_clear_when_tls_is_asked_for(
        self, smtp_sink: SmtpSink
    ) -> None:
        url = f"smtp+starttls://127.0.0.1:{smtp_sink.port}"

        outcome = mailer(url).send(MESSAGE, ENVELOPE)

        assert isinstance(outcome, TryAgain)
        assert "does not offer what SMTP_URL asks for" in outcome.error
        assert smtp_sink.mails == []

    def test_the_password_is_in_no_representation(self) -> None:
        assert "hunter2" not in repr(mailer("smtp://me:hunter2@mail.test"))


class TestHeaderInjection:
    @pytest.mark.parametrize(
        "subject",
        [
            "Hi\r\nBcc: evil@x.y",
            "Hi\nBcc: evil@x.y",
            "=?utf-8?q?Hi=0d=0aReply-To:_evil@x.y?=",
            "=?utf-8?q?Hi=0d=0a=0d=0abody?=",
            "=?utf-8?b?SGkNClJlcGx5LVRvOiBldmlsQHgueQ==?=",
        ],
    )
    def test_nothing_in_a_subject_becomes_a_header(
        self, smtp_sink: SmtpSink, subject: str
    ) -> None:
        outcome = send(smtp_sink, subject=subject)

        if isinstance(outcome, GiveUp):
            assert outcome.reason is Reason.BAD_MESSAGE
            assert smtp_sink.mails == []
        else:  # a Python that escapes it: it arrives as mere text
            (mail,) = smtp_sink.mails
            assert mail.message["Reply-To"] is None
            assert mail.message["Bcc"] is None

    def test_a_letter_with_a_header_more_is_not_sent(self) -> None:
        class Tricked(EmailMessage):
            def as_bytes(self, *_: object, **__: object) -> bytes:  # type: ignore[override]
                return b"Bcc: evil@x.y\r\n" + super().as_bytes()

        letter = make_letter(MESSAGE, ENVELOPE, sender=read_sender(SENDER), at=NOW)
        assert on_the_wire(letter)
        letter.__class__ = Tricked

        with pytest.raises(Exception, match="changed its headers"):
            on_the_wire(letter)


@pytest.mark.parametrize(
    "subject",
    [
        "Lange Betreffzeilen mit vielen Umlauten äöü äöü äöü äöü äöü äöü äöü äöü äöü",
        "🎙" * 80,
        "plain " * 40,
        "a  b   c  🎙  d " * 12,
        "x" * 255,
        "comma, quote \" and <angle> 'too' (brackets)",
    ],
)
def test_long_and_odd_subjects_pass_the_second_look(
    smtp_sink: SmtpSink, subject: str
) -> None:
    assert isinstance(send(smtp_sink, subject=subject.strip()), Done)
    (mail,) = smtp_sink.mails
    assert "".join(mail.subject.split()) == "".join(subject.split())


@pytest.mark.parametrize(
    ("domain", "written"),
    [
        ("bücher.example", "xn--bcher-kva.example"),
        ("xn--bcher-kva.example", "xn--bcher-kva.example"),
        ("straße.example", "xn--strae-oqa.example"),  # strasse.example is another one
    ],
)
def test_a_sender_with_a_domain_of_umlauts_is_written_in_ascii(
    smtp_sink: SmtpSink, domain: str, written: str
) -> None:
    outcome = mailer(smtp_sink.url, sender=f"Zoë <studio@{domain}>").send(
        MESSAGE, ENVELOPE
    )

    assert isinstance(outcome, Done)
    (mail,) = smtp_sink.mails
    assert mail.sender == f"studio@{written}"


@pytest.mark.parametrize("sender", ["zoë@example.org", "nobody", "@", ""])
def test_a_sender_that_cannot_be_written_is_told(
    smtp_sink: SmtpSink, sender: str
) -> None:
    outcome = mailer(smtp_sink.url, sender=sender).send(MESSAGE, ENVELOPE)

    assert isinstance(outcome, TryAgain)
    assert "MAIL_FROM" in outcome.error


def test_a_server_that_refuses_the_connection_is_told() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:

        def refuse() -> None:
            client, _ = server.accept()
            with client:
                client.sendall(b"554 5.7.1 Go away\r\n")

        thread = threading.Thread(target=refuse)
        thread.start()
        outcome = mailer(f"smtp://127.0.0.1:{server.getsockname()[1]}").send(
            MESSAGE, ENVELOPE
        )
        thread.join(5)

    assert isinstance(outcome, TryAgain)
    assert "refused to serve us: 554 5.7.1 Go away" in outcome.error


def test_smtplib_calls_the_hook_that_we_watch_connections_with() -> None:
    assert hasattr(smtplib.SMTP, "_get_socket")


@pytest.mark.parametrize(
    ("base", "has_one_click"),
    [("https://carillon.example", True), ("http://127.0.0.1:8000", False)],
)
def test_one_click_is_offered_over_https_only(
    smtp_sink: SmtpSink, base: str, has_one_click: bool
) -> None:
    links = UnsubscribeLinks(base, "k" * 40)
    mailer(smtp_sink.url, links=links).send({**MESSAGE, "optional": True}, ENVELOPE)

    (mail,) = smtp_sink.mails
    assert str(mail.message["List-Unsubscribe"]).startswith(f"<{base}/unsubscribe/")
    assert ("List-Unsubscribe-Post" in mail.message) is has_one_click


def test_without_a_wish_to_be_ended_a_mail_has_no_link(smtp_sink: SmtpSink) -> None:
    links = UnsubscribeLinks("https://carillon.example", "k" * 40)
    mailer(smtp_sink.url, links=links).send(MESSAGE, ENVELOPE)

    (mail,) = smtp_sink.mails
    assert "List-Unsubscribe" not in mail.message
