"""Who gets a notification's mail, and who gets none."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from sqlalchemy import update

from tasks.congregation.notifications import News
from tasks.models import (
    Account,
    MailState,
    NotificationPreference,
    NotificationState,
    Reason,
    SuppressionReason,
)
from tasks.operations.suppressions import suppress, unsubscribe
from tests.support import notification_rows
from tests.tasks.congregation.notifications.conftest import (
    RUTH,
    Office,
    addresses,
    created,
)


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
