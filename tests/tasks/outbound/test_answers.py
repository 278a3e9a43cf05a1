from __future__ import annotations

from datetime import datetime, timedelta

import pytest

from tasks.automation.actions.base import Done, GiveUp, TryAgain
from tasks.models.reason import Reason
from tasks.outbound.answers import Answer, judge
from tests.conftest import NOW


@pytest.mark.parametrize("status", [200, 201, 202, 204, 299])
def test_every_2xx_is_taken(status: int) -> None:
    assert judge(Answer(status, b"", None), now=NOW) == Done(status, "")


def test_410_ends_it() -> None:
    outcome = judge(Answer(410, b"moved out", None), now=NOW)

    assert isinstance(outcome, GiveUp)
    assert (outcome.reason, outcome.status_code) == (Reason.REFUSED, 410)


@pytest.mark.parametrize("status", [400, 401, 404, 408, 500, 501])
def test_other_refusals_are_tried_again_after_our_own_wait(status: int) -> None:
    outcome = judge(Answer(status, b"", "3600"), now=NOW)

    assert outcome == TryAgain(f"The address answered {status}.", status, "")


@pytest.mark.parametrize("status", [429, 502, 503, 504])
@pytest.mark.parametrize(
    ("header", "after"),
    [
        ("120", timedelta(minutes=2)),
        ("Tue, 10 Mar 2026 13:00:00 GMT", timedelta(hours=1)),
        ("9999999", timedelta(hours=24)),
        ("9" * 400, timedelta(hours=24)),
        ("Sun, 10 Mar 2126 13:00:00 GMT", timedelta(hours=24)),
        ("-5", None),
        ("0", None),
        ("abc", None),
        ("", None),
        ("１２", None),
        ("Mon, 01 Jan 1990 00:00:00 GMT", None),
        ("Mon, 99 Jan 99999 00:00:00 GMT", None),
        (None, None),
    ],
)
def test_retry_after_counts_where_it_makes_sense(
    status: int, header: str | None, after: timedelta | None, now: datetime
) -> None:
    outcome = judge(Answer(status, b"", header), now=now)

    assert isinstance(outcome, TryAgain)
    assert outcome.after == after


def test_only_the_start_of_an_answer_is_kept_as_text() -> None:
    outcome = judge(Answer(200, b"\xff\x00" + b"y" * 5_000, None), now=NOW)

    assert isinstance(outcome, Done)
    assert outcome.response == "��" + "y" * 1_998
