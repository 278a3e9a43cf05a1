"""What becomes of a mail after an attempt."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from tasks.automation.actions.base import Done, GiveUp, Outcome, TryAgain
from tasks.congregation.notifications.judging import AWAY_MAX, Verdict, judge
from tasks.models import MailState, Reason
from tests.support.factories import NOW

REFUSED = TryAgain("451 later", 451)
AWAY = TryAgain("no route")
SECOND = timedelta(seconds=1)


def verdict(outcome: Outcome, **values: Any) -> Verdict:
    given = {"attempt": 1, "failures": 0, "asked_at": NOW, "now": NOW} | values
    return judge(outcome, **{"chance": lambda: 0.0} | given)


def test_what_arrived_is_sent_and_what_is_refused_for_good_has_failed() -> None:
    assert verdict(Done(250)).state is MailState.SENT
    failed = verdict(GiveUp(Reason.REFUSED, "550 no"))
    assert (failed.state, failed.reason) == (MailState.FAILED, Reason.REFUSED)


def test_refusals_for_now_are_tried_three_times_after_waits_that_double() -> None:
    waits = [verdict(REFUSED, failures=n).run_at for n in range(2)]
    assert waits == [NOW + 5 * SECOND, NOW + 10 * SECOND]
    spread = [verdict(REFUSED, failures=n, chance=lambda: 1.0).run_at for n in range(2)]
    assert spread == [NOW + 6 * SECOND, NOW + 12 * SECOND]
    last = verdict(REFUSED, failures=2)
    assert (last.state, last.reason) == (MailState.FAILED, Reason.ATTEMPTS_USED_UP)


def test_a_server_that_asks_for_time_gets_it() -> None:
    wish = TryAgain("later", 451, after=timedelta(minutes=3))
    assert verdict(wish).run_at == NOW + timedelta(minutes=3)


def test_only_the_servers_word_about_the_mail_counts_as_a_failure() -> None:
    for outcome in (AWAY, TryAgain("login", 535), TryAgain("busy", 421)):
        away = verdict(outcome, failures=2, attempt=40, chance=lambda: 1.0)
        assert (away.state, away.is_failure) == (MailState.PENDING, False)
        assert away.run_at == NOW + timedelta(minutes=15)
        late = verdict(outcome, now=NOW + AWAY_MAX)
        assert late.state is MailState.FAILED


def test_a_lost_answer_counts_for_the_mail_may_have_arrived() -> None:
    lost = TryAgain("cut off", is_unknown=True)
    assert verdict(lost, failures=2).state is MailState.FAILED
