"""Which refusals say that there is nobody at the address."""

from __future__ import annotations

import pytest

from tasks.outbound.bouncing import is_nobody_there
from tasks.outbound.smtp import Refused, Reply


def says(command: str, answer: str) -> bool:
    code, _, text = answer.partition(" ")
    return is_nobody_there(Refused(command, Reply.of(int(code), text.encode())))


@pytest.mark.parametrize(
    "answer",
    [
        "550 5.1.1 <zoe@example.org>: Recipient address rejected: User unknown",
        "550 5.1.1",
        "553 5.1.2 The host name is not known",
        "551 5.1.6 Mailbox has moved",
        "556 5.1.10 Recipient address has null MX",
        # As smtplib puts the lines of one answer together.
        "550 5.1.1 The account does not exist.\n5.1.1 Check for typos.",
    ],
)
@pytest.mark.parametrize("command", ["RCPT", "."])
def test_a_server_that_knows_nobody_of_that_name_is_believed(
    command: str, answer: str
) -> None:
    assert says(command, answer)


@pytest.mark.parametrize(
    "answer",
    [
        "550 No such user here",
        "550 5.1.3 Bad syntax",
        "550 5.1.8 Sender's domain has no MX",
        "550 5.2.1 Mailbox disabled",
        "552 5.2.2 Mailbox full",
        "550 5.7.1 5.1.1 is what we would say if we liked you",
        "550 5.1.11 Whatever that is",
        "550 5.1.1.1 No code",
        "550 15.1.1 No code",
        "450 5.1.1 Not for good, whatever it says",
        "450 4.1.1 Mailbox busy",
    ],
)
def test_whatever_else_a_server_says_stops_nobody(answer: str) -> None:
    assert not says("RCPT", answer)


@pytest.mark.parametrize("command", ["MAIL", "DATA", "AUTH", "HELO"])
def test_only_an_answer_to_the_recipient_is_about_the_recipient(command: str) -> None:
    assert not says(command, "550 5.1.1 Nobody")
