"""From news to mailboxes: one mail for each recipient, and nobody gets it twice."""

from __future__ import annotations

from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from datetime import date, timedelta
from typing import Any

import pytest
from sqlalchemy import select, update

from tasks.automation.actions.base import Envelope, Mailer, Outcome
from tasks.congregation.notifications import News, notify
from tasks.congregation.notifications.claiming import LEASE, Claimed, claim
from tasks.congregation.notifications.judging import AWAY_MAX
from tasks.holds.setting import What, hold, lift
from tasks.lanes import email
from tasks.models import (
    Account,
    Attribution,
    Channel,
    Digest,
    DigestMail,
    Document,
    Event,
    MailState,
    Member,
    NotificationPreference,
    NotificationState,
    Reason,
    SuppressionReason,
)
from tasks.operations.audit import Actor
from tasks.operations.suppressions import suppress, unsubscribe
from tests.support import factories, notification_rows
from tests.support.smtp_sink import Mail
from tests.tasks.congregation.notifications.conftest import LINKS, Office

RUTH = Actor("ruth@example.org")


def created(id_: object, title: str = "Letter", **values: Any) -> News:
    return News("document.created", str(id_), {"title": title}, **values)


def text_of(mail: Mail) -> str:
    return mail.text.replace("\r\n", "\n")


def addresses(mails: list[Mail]) -> list[str]:
    return sorted(address for mail in mails for address in mail.recipients)


def test_forty_events_for_twelve_people_of_whom_three_have_to_wait(
    office: Office,
) -> None:
    office.validators(12)
    ids = office.documents(*(f"Letter {number}" for number in range(40)))
    office.tell(*(created(id_) for id_ in ids))
    assert office.sent() == []  # it still settles
    office.later(minutes=10)
    office.sink.refuse("rcpt", "451 4.3.0 Try later", times=3)

    swept = office.sweep()
    first = office.mails()

    assert (len(swept.gathered), len(swept.sent), len(swept.retried)) == (12, 9, 3)
    assert len(first) == 9
    assert office.states() == {NotificationState.QUEUED: 40}
    office.later(seconds=6)
    second = office.sent()
    assert len(second) == 3
    everybody = [f"validator{number}@example.org" for number in range(12)]
    assert addresses(first + second) == sorted(everybody)
    assert {mail.subject for mail in first + second} == {"Documents: 40 messages"}
    for mail in first + second:
        assert mail.text.count("was added to the board") == 40
        assert mail.html.count("<li>") == 40
    assert office.states() == {NotificationState.SENT: 40}
    office.later(hours=1)
    assert office.sent() == []


def test_mails_wait_while_they_are_held(office: Office) -> None:
    office.validators()
    office.tell(created(office.documents("Letter")[0]))
    office.later(minutes=10)
    for what in (What(), What(office.id), What(channel=Channel.NOTIFICATIONS)):
        with office.begin() as session:
            held = hold(session, what, "x", RUTH, now=office.now)
        assert office.sent() == []
        with office.begin() as session:
            lift(session, held.id, RUTH, how="sent", now=office.now)
    assert len(office.sent()) == 1


def test_one_mail_has_all_of_a_category_and_a_section_for_each_type(
    office: Office,
) -> None:
    anna = office.validators()[0]
    first, second = office.documents("Minutes", "<b>Roster</b>")
    office.tell(
        created(first),
        News("document.updated", second, {"title": "old"}),
        News("document.expiring", first, {"title": "", "until": date(2026, 3, 31)}),
        News("document.deleted", "gone", {"title": "Plan"}, account_id=anna),
    )
    office.later(minutes=10)
    (mail,) = office.sent()
    assert mail.subject == "Documents: 4 messages"
    assert text_of(mail).startswith(
        "Hello Validator0,\n\nNew documents\n- “Minutes” was"
    )
    ends = "Documents that end soon\n- “Minutes” leaves the board on March 31, 2026."
    assert ends in text_of(mail)
    assert "“&lt;b&gt;Roster&lt;/b&gt;” was changed." in mail.html
    assert "“Plan” was removed" in mail.text


def test_what_is_in_the_window_leaves_once_and_what_is_undone_never(
    office: Office,
) -> None:
    office.validators()
    (id_,) = office.documents("Minutes")
    for _ in range(3):
        office.tell(created(id_))
        office.later(minutes=5)
    office.later(minutes=10)
    (mail,) = office.sent()
    assert mail.subject == "New document: Minutes"
    office.tell(created("d2"))
    office.tell(News("document.deleted", "d2", {"title": "Plan"}))
    office.later(hours=2)
    assert office.sent() == []


def test_who_did_it_is_left_out_and_who_asked_for_it_is_not(office: Office) -> None:
    anna, bert = office.validators(2)
    (id_,) = office.documents("Minutes")
    office.tell(
        created(id_, actor_id=anna),
        News("data_transfer.exported", "t1", account_id=bert, actor_id=bert),
    )
    office.later(minutes=10)
    mails = office.sent()
    assert addresses(mails) == ["validator1@example.org"] * 2
    assert {mail.subject for mail in mails} == {
        "New document: Minutes",
        "Your export is ready",
    }


def test_with_nobody_to_tell_a_notification_is_skipped(office: Office) -> None:
    office.tell(created("d1"))
    office.later(minutes=10)
    assert office.sweep().gathered == ()
    assert office.states() == {NotificationState.SKIPPED: 1}


def _prefer(office: Office, account_id: Any, **patterns: bool) -> None:
    with office.begin() as session:
        for pattern, enabled in patterns.items():
            session.add(
                NotificationPreference(
                    congregation_id=office.id,
                    account_id=account_id,
                    pattern=pattern,
                    enabled=enabled,
                )
            )


def test_who_opts_out_between_event_and_mail_gets_none_and_the_nearest_wish_counts(
    office: Office,
) -> None:
    anna, bert, cleo = office.validators(3)
    (id_,) = office.documents("Minutes")
    office.tell(created(id_), News("document.updated", id_, {"title": ""}))
    office.later(minutes=10)
    _prefer(office, anna, **{"document.*": False})
    _prefer(office, bert, **{"document.*": False, "document.updated": True})
    _prefer(office, cleo, **{"document.created": False})
    mails = {mail.recipients[0]: mail.subject for mail in office.sent()}
    assert mails == {
        "validator1@example.org": "Changed document: Minutes",
        "validator2@example.org": "Changed document: Minutes",
    }
    assert office.mail_states() == {MailState.SENT: 2, MailState.SKIPPED: 1}
    assert office.reasons() == {None, Reason.OPTED_OUT}
    assert office.states() == {NotificationState.SENT: 1, NotificationState.SKIPPED: 1}


def test_closed_accounts_and_withdrawn_consents_get_nothing(office: Office) -> None:
    anna, bert, cleo = (
        office.add(notification_rows.member, name) for name in ("Anna", "Bert", "Cleo")
    )
    week = timedelta(days=7)
    gone = {"given_at": office.now - week, "withdrawn_at": office.now}
    office.add(notification_rows.consent, anna, **gone)
    office.add(notification_rows.consent, bert, **gone)
    office.add(notification_rows.consent, bert, given_at=office.now)
    accounts = [
        office.add(notification_rows.account, name, member_id=id_)
        for name, id_ in (("anna", anna), ("bert", bert), ("cleo", cleo))
    ]
    for id_ in accounts:
        office.tell(News("data_transfer.exported", "t1", account_id=id_))
    with office.begin() as session:
        session.execute(
            update(Account).where(Account.id == accounts[2]).values(is_active=False)
        )
    assert addresses(office.sent()) == ["bert@example.org"]
    assert office.reasons() == {None, Reason.ACCOUNT_CLOSED, Reason.NO_CONSENT}


def test_who_unsubscribes_gets_only_what_they_asked_for_and_who_bounced_nothing(
    office: Office,
) -> None:
    anna, bert = office.validators(2)
    (id_,) = office.documents("Minutes")
    office.tell(created(id_), News("data_transfer.exported", "t1", account_id=anna))
    office.tell(News("data_transfer.exported", "t1", account_id=bert))
    office.later(minutes=10)
    with office.begin() as session:
        unsubscribe(session, office.id, "validator0@example.org")
        bounced = SuppressionReason.BOUNCED
        suppress(session, office.id, "validator1@example.org", bounced, RUTH)
    (mail,) = office.sent()
    assert (mail.recipients, mail.subject) == (
        ["validator0@example.org"],
        "Your export is ready",
    )
    assert "List-Unsubscribe" not in mail.message


def test_a_mail_can_be_unsubscribed_from_with_one_click(office: Office) -> None:
    office.validators()
    office.tell(created(*office.documents("Minutes")))
    office.later(minutes=10)
    (mail,) = office.sent()
    url = str(mail.message["List-Unsubscribe"]).strip("<>")
    assert mail.message["List-Unsubscribe-Post"] == "List-Unsubscribe=One-Click"
    token = url.rpartition("/")[2]
    assert LINKS.read(token) == (office.id, "validator0@example.org")
    assert url in mail.text


def test_a_mail_tells_how_things_are_when_it_leaves(office: Office) -> None:
    office.validators()
    renamed, removed = office.documents("Old name", "Removed")
    office.tell(created(renamed, "Old name"), created(removed))
    office.later(minutes=10)
    with office.begin() as session:
        session.get_one(Document, renamed).title = "New\nname"
        session.delete(session.get_one(Document, removed))
    (mail,) = office.sent()
    assert mail.subject == "New document: New name"
    assert office.reasons() == {None, Reason.ENTITY_GONE}


def test_what_is_no_longer_so_is_not_told(office: Office) -> None:
    anna = office.add(notification_rows.member, left_on=date(2025, 9, 1))
    account = office.add(notification_rows.account, member_id=anna)
    office.add(notification_rows.duty, "administrator", account)
    id_ = office.add(notification_rows.attribution, anna, due_on=date(2026, 7, 14))
    said = {"on": date(2026, 4, 1)}
    office.tell(
        News("territory.given", id_, member_id=anna),
        News("retention.notice", anna, said),
    )
    office.later(minutes=29)
    (notice,) = office.sent()
    assert notice.subject == "Anna Baumann will be anonymised"
    assert "will be anonymised on April 1, 2026." in notice.text
    with office.begin() as session:
        session.get_one(Attribution, id_).ended_on = date(2026, 3, 10)
        session.get_one(Member, anna).left_on = None
    office.tell(News("retention.notice", anna, said))
    office.later(minutes=1)
    assert office.sent() == []
    assert office.reasons() == {None, Reason.ENTITY_GONE}


def test_language_and_timezone_are_the_accounts_else_the_congregations(
    office: Office,
) -> None:
    anna = office.add(notification_rows.member)
    for name, locale in (("fr", "fr"), ("en", None), ("de", "de")):
        office.add(notification_rows.account, name, member_id=anna, locale=locale)
    id_ = office.add(notification_rows.attribution, anna, due_on=date(2026, 7, 14))
    office.tell(News("territory.given", id_, member_id=anna))
    office.later(minutes=30)
    texts = {mail.recipients[0]: text_of(mail) for mail in office.sent()}
    assert texts["fr@example.org"].startswith(
        "Bonjour Fr,\n\nLe territoire 12 vous est confié jusqu’au 14 juillet 2026."
    )
    for name in ("en", "de"):
        assert "territory 12, until July 14, 2026." in texts[f"{name}@example.org"]


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
