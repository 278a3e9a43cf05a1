"""Nobody gets a notification's mail twice, whatever dies, refuses or comes at once."""

from __future__ import annotations

from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from typing import Any

import pytest
from sqlalchemy import select

from tasks.automation.actions.base import Envelope, Mailer, Outcome
from tasks.congregation.notifications import News, notify
from tasks.congregation.notifications.claiming import LEASE, Claimed, claim
from tasks.congregation.notifications.judging import AWAY_MAX
from tasks.lanes import email
from tasks.models import Digest, DigestMail, Event, MailState, NotificationState, Reason
from tests.support import factories, notification_rows
from tests.tasks.congregation.notifications.conftest import Office, addresses, created


class Killed(BaseException):
    """The worker is gone."""


@dataclass(frozen=True, slots=True)
class DyingMailer:
    """Takes the worker down once the mail server has the mail."""

    mailer: Mailer

    def send(self, message: Mapping[str, Any], envelope: Envelope) -> Outcome:
        self.mailer.send(message, envelope)
        raise Killed


def test_a_worker_killed_after_sending_repeats_only_that_mail_with_the_same_id(
    office: Office,
) -> None:
    office.validators(6)
    office.tell(created(*office.documents("Minutes")))
    office.later(minutes=10)
    bench = office.bench
    dying = replace(bench.effects, mailer=DyingMailer(bench.effects.mailer))
    with pytest.raises(Killed):
        email.sweep(replace(bench, effects=dying), 100)
    first = office.mails()
    assert len(first) == email.AT_ONCE
    assert office.sweep().sent != ()  # those that nobody had begun
    early = office.mails()
    assert office.rescue().mails == ()
    office.later(seconds=LEASE.total_seconds() + 1)
    assert len(office.rescue().mails) == email.AT_ONCE
    again = office.sent()
    ids = [mail.message["Message-ID"] for mail in (*first, *early, *again)]
    assert len(set(ids)) == 6
    assert {mail.message["Message-ID"] for mail in first} <= {
        mail.message["Message-ID"] for mail in again
    }
    assert addresses(early + again) == [f"validator{n}@example.org" for n in range(6)]
    assert office.states() == {NotificationState.SENT: 1}


def test_a_late_writer_changes_nothing(office: Office) -> None:
    office.validators()
    office.tell(created(*office.documents("Minutes")))
    office.later(minutes=10)
    bench = office.bench
    with office.begin() as session:
        email.gather(session, office.now)
    with office.begin() as session:
        (held,) = claim(session, bench, limit=4).held
    office.later(seconds=LEASE.total_seconds() + 1)
    office.rescue()
    with office.begin() as session:
        assert claim(session, bench, limit=4) != Claimed((), ())
    outcome = email._act(bench, held)[1]
    assert email._settled(bench, held, outcome) == "lost"
    assert office.mail_states() == {MailState.RUNNING: 1}


def test_a_mail_that_takes_its_worker_down_three_times_is_not_tried_again(
    office: Office,
) -> None:
    office.validators()
    office.tell(created(*office.documents("Minutes")))
    office.later(minutes=10)
    with office.begin() as session:
        email.gather(session, office.now)
    for _ in range(3):
        with office.begin() as session:
            assert claim(session, office.bench, limit=4).held
        office.later(seconds=LEASE.total_seconds() + 1)
        office.rescue()
    assert office.mail_states() == {MailState.FAILED: 1}
    assert office.states() == {NotificationState.FAILED: 1}


def test_a_mail_refused_for_good_fails_and_rules_hear_of_it(office: Office) -> None:
    office.validators(2)
    office.tell(created(*office.documents("Minutes")))
    office.later(minutes=10)
    office.sink.refuse("rcpt", "550 5.1.1 No such user", times=1)
    swept = office.sweep()
    assert (len(swept.sent), len(swept.failed)) == (1, 1)
    assert office.states() == {NotificationState.FAILED: 1}
    with office.make_session() as session:
        mail = session.scalars(select(DigestMail).filter_by(state="failed")).one()
        assert (mail.reason, mail.error) == (
            Reason.REFUSED,
            "The mail server refused the mail for good: 550 5.1.1 No such user",
        )
        event = session.scalars(select(Event)).one()
        assert event.type == "notification.failed"


def test_three_refusals_for_now_are_enough(office: Office) -> None:
    office.validators()
    office.tell(created(*office.documents("Minutes")))
    office.later(minutes=10)
    office.sink.refuse("rcpt", "451 4.3.0 Try later")
    words = []
    for _ in range(4):
        swept = office.sweep()
        words.append((len(swept.retried), len(swept.failed)))
        office.later(minutes=1)
    assert words == [(1, 0), (1, 0), (0, 1), (0, 0)]


def test_a_mail_server_that_is_away_uses_up_no_attempt_for_a_day(
    office: Office,
) -> None:
    office.validators()
    office.tell(created(*office.documents("Minutes")))
    office.later(minutes=10)
    office.sink.stop()
    for _ in range(5):
        assert len(office.sweep().retried) == 1
        office.later(minutes=20)
    office.sink.start()
    (mail,) = office.sent()
    assert mail.recipients == ["validator0@example.org"]
    office.sink.stop()
    office.tell(News("document.deleted", "d9", {"title": "Plan"}))
    assert len(office.sweep().retried) == 1
    office.later(seconds=AWAY_MAX.total_seconds())
    assert len(office.sweep().failed) == 1


def test_the_flood_of_one_congregation_does_not_starve_another(office: Office) -> None:
    office.validators(20)
    office.tell(News("document.deleted", "d1", {"title": "Plan"}))
    with office.begin() as session:
        tenant = factories.congregation(session, "other")
        account = notification_rows.account(session, tenant, "zoe")
        news = News("data_transfer.exported", "t", account_id=account)
        notify(session, tenant, news, office.now)
    office.sweep(4)
    assert "zoe@example.org" in addresses(office.mails())


def test_what_settles_together_is_one_digest_whatever_happens_at_once(
    office: Office,
) -> None:
    office.validators(2)
    office.tell(*(created(id_) for id_ in office.documents("A", "B")))
    office.later(minutes=10)
    for _ in range(2):
        with office.begin() as session:
            email.gather(session, office.now)
    with office.make_session() as session:
        assert len(session.scalars(select(Digest)).all()) == 1


def test_a_stopping_worker_begins_nothing_new(office: Office) -> None:
    office.validators()
    office.tell(News("document.deleted", "d1", {"title": "Plan"}))
    bench = office.bench
    bench.stopping.set()
    assert email.sweep(bench, 100).sent == ()
    assert len(office.sent()) == 1


def test_workers_that_look_at_once_cut_no_digest_and_send_nothing_twice(
    office: Office,
) -> None:
    office.validators(9)
    office.tell(*(created(id_) for id_ in office.documents("A", "B")))
    office.later(minutes=10)

    def work(number: int) -> int:
        office.tell(News("document.updated", f"d{number}", {"title": "C"}))
        return sum(len(office.sweep(4).sent) for _ in range(3))

    with ThreadPoolExecutor(4) as pool:
        n_sent = sum(pool.map(work, range(4)))
    mails = office.mails()
    assert len(addresses(mails)) == len(set(addresses(mails))) == n_sent == 9
    assert office.states() == {NotificationState.SENT: 2, NotificationState.PENDING: 4}
