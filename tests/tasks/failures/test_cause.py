"""What differs from one failure to the next is no part of its cause."""

from __future__ import annotations

import time
from uuid import UUID

import pytest

from tasks.failures.cause import cause_of, group_id
from tasks.models.failure import CAUSE_MAX
from tasks.models.reason import SENTENCES, Reason

CAUSES = [
    # What servers answer stays, what they add about one case does not.
    ("The address answered 503.", "The address answered 503."),
    ("The address answered 404.", "The address answered 404."),
    (
        "The address answered with a redirect (302); set the final address.",
        "The address answered with a redirect (302); set the final address.",
    ),
    (
        "The mail server refused the mail for good: 550 5.1.1 <a.b+c@example.org> "
        "unknown, queue 4BxQ93kz2L",
        "The mail server refused the mail for good: 550 5.1.1 <address> unknown, "
        "queue <id>",
    ),
    ("did not answer within 10 seconds", "did not answer within # seconds"),
    ("did not answer within 2.5 seconds", "did not answer within # seconds"),
    # Addresses.
    ("No route to 10.0.0.7:2525", "No route to <ip>"),
    ("No route to [2001:db8::1:2]", "No route to <ip>"),
    (
        "hooks.example.org cannot be reached (refused).",
        "hooks.example.org cannot be reached (refused).",
    ),
    (
        "Posting to https://u:p@hooks.example.org/x/4711?token=abc failed.",
        "Posting to hooks.example.org failed.",
    ),
    (
        "The mail server at mx.example.org:587 cannot be reached.",
        "The mail server at mx.example.org:587 cannot be reached.",
    ),
    # Ids, times, quoted parts.
    ("Booking 0197a3c2-5f1e-7abc-8def-0123456789ab is gone", "Booking <id> is gone"),
    ("Since 2026-03-10T12:00:01+00:00 it is away", "Since <time> it is away"),
    ("There is no lane “sunday”.", "There is no lane “…”."),
    ("It isn't the guest's 'Anna'", "It isn't the guest's '…'"),
    ("The value “guest.phone” is missing.", "The value “guest.phone” is missing."),
    ("Order 12345 of 99", "Order # of #"),
    ("  spread\n over   lines ", "spread over lines"),
]


@pytest.mark.parametrize(("error", "cause"), CAUSES)
def test_a_cause_is_the_error_without_what_differs(error: str, cause: str) -> None:
    assert cause_of(error, None) == cause
    assert cause_of(cause, None) == cause, "it is its own cause"


def test_without_an_error_the_reason_is_the_cause() -> None:
    assert cause_of(None, Reason.WORKER_CRASHES) == SENTENCES[Reason.WORKER_CRASHES]
    assert cause_of(" ", None) == "It failed without saying why."


def test_a_hostile_error_takes_no_time_and_no_room() -> None:
    began = time.process_time()
    for error in (
        "a" * 100_000,
        "'" * 9_999,
        "1:" * 9_999,
        "a@" * 9_999,
        "https://" * 999,
    ):
        assert len(cause_of(error, None)) <= CAUSE_MAX
    assert time.process_time() - began < 5


def test_a_group_is_what_has_everything_in_common() -> None:
    a, b = UUID(int=1), UUID(int=2)
    one = group_id(a, a, "email", "refused", "x")
    assert one == group_id(a, a, "email", "refused", "x")
    others = {
        group_id(b, a, "email", "refused", "x"),
        group_id(a, b, "email", "refused", "x"),
        group_id(a, a, "webhook", "refused", "x"),
        group_id(a, a, "email", None, "x"),
        group_id(a, a, "email", "refused", "y"),
    }
    assert len(others - {one}) == 5
