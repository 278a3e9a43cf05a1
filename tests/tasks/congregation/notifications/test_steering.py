"""What operators do: sending early, trying again, and wishes of an account."""

from __future__ import annotations

import pytest
from sqlalchemy import select

from tasks.congregation.notifications import News, steering
from tasks.congregation.notifications.preferences import (
    preferences_of,
    set_preferences,
)
from tasks.errors import Conflict, InvalidInput, NotFound
from tasks.models import (
    AuditEntry,
    MailState,
    NotificationState,
    OperationKind,
    new_id,
)
from tasks.operations.audit import Actor
from tests.support.many import do_all
from tests.tasks.congregation.notifications.conftest import Office

RUTH = Actor("ruth@example.org")
RETRY = OperationKind.RETRY_MAILS


def test_sending_early_lets_one_category_leave_and_says_who_did_it(
    office: Office,
) -> None:
    office.validators()
    (id_,) = office.documents("Minutes")
    office.tell(News("document.created", id_, {"title": "Minutes"}))
    assert steering.flush(office.bench).n_mails == 0
    with office.begin() as session:
        n = steering.send_now(session, office.id, "document", RUTH, office.now)
        assert n == 1
    assert steering.flush(office.bench).n_mails == 1
    assert len(office.sent()) == 1
    with office.begin() as session:
        entry = session.scalars(select(AuditEntry)).one()
        assert (entry.actor, entry.action) == (RUTH.name, "notification.sent_early")
        with pytest.raises(Conflict, match="Nothing of this waits"):
            steering.send_now(session, office.id, "document", RUTH, office.now)
        with pytest.raises(InvalidInput):
            steering.send_now(session, office.id, "burnt", RUTH, office.now)
        with pytest.raises(NotFound):
            steering.send_now(session, new_id(), "document", RUTH, office.now)


def test_a_second_press_sends_only_to_those_who_have_not_got_it(
    office: Office,
) -> None:
    office.validators(3)
    office.tell(News("document.deleted", "d1", {"title": "Plan"}))
    office.sink.refuse("rcpt", "550 5.1.1 No such user", times=1)
    assert len(office.sent()) == 2
    assert office.states() == {NotificationState.FAILED: 1}
    with office.begin() as session:
        assert do_all(session, RETRY, {}, RUTH, office.now) == 1
    assert office.states() == {NotificationState.QUEUED: 1}
    assert len(office.sent()) == 1
    assert office.mail_states() == {MailState.SENT: 3}
    assert office.states() == {NotificationState.SENT: 1}
    with office.begin() as session:
        assert do_all(session, RETRY, {}, RUTH, office.now) == 0


def test_wishes_are_set_changed_and_taken_back(office: Office) -> None:
    (anna,) = office.validators()
    for wanted, kept in (
        ({"document.*": False, "document.deleted": True},) * 2,
        ({"document.*": True}, {"document.*": True, "document.deleted": True}),
        ({"document.*": None, "sync.*": None}, {"document.deleted": True}),
    ):
        with office.begin() as session:
            set_preferences(session, anna, wanted, RUTH, office.now)
            assert preferences_of(session, anna) == kept
    with office.begin() as session:
        assert len(session.scalars(select(AuditEntry)).all()) == 3
        with pytest.raises(InvalidInput):
            set_preferences(session, anna, {"burnt.*": True}, RUTH, office.now)
        with pytest.raises(NotFound):
            set_preferences(session, new_id(), {}, RUTH, office.now)
