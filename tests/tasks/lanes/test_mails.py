"""Mails from event to mailbox: the calendar that follows, and who gets none."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from typing import Any
from uuid import UUID

import pytest
from icalendar import Calendar
from sqlalchemy import Engine, event, select
from sqlalchemy.orm import Session, sessionmaker

from tasks.automation import AutomationEvent, bookings, emit_automation_event
from tasks.automation.actions.base import Effects
from tasks.automation.guard import why_not
from tasks.lane import Bench
from tasks.lanes.executions import sweep
from tasks.models import (
    AuditEntry,
    Execution,
    ExecutionState,
    Reason,
    Suppression,
    SuppressionReason,
)
from tasks.operations.audit import Actor
from tasks.operations.suppressions import lift, suppress, unsubscribe
from tasks.outbound.mail import SmtpMailer
from tasks.outbound.smtp import MailServer
from tasks.outbound.unsubscribing import UnsubscribeLinks
from tests.support import factories
from tests.support.factories import EMAIL_SETTINGS, NOW
from tests.support.fakes import FakePost
from tests.support.smtp_sink import Mail, SmtpSink

LINKS = UnsubscribeLinks("https://carillon.example", "k" * 40)
ANNA = Actor("anna@example.org")
GUEST = "joerg@example.org"


@dataclass(slots=True)
class House:
    """A congregation with a real mail server."""

    make_session: sessionmaker[Session]
    sink: SmtpSink
    id: UUID

    def rule(self, trigger: str, **settings: Any) -> None:
        with self.make_session.begin() as session:
            factories.rule(
                session,
                self.id,
                name=trigger,
                trigger_type=trigger,
                settings={**EMAIL_SETTINGS, **settings},
            )

    def sweep(self) -> list[Mail]:
        """Send what is due and return the mails that came of it."""
        before = len(self.sink.mails)
        mailer = SmtpMailer(
            MailServer.of(self.sink.url), "Studio <studio@carillon.example>", LINKS
        )
        bench = Bench(self.make_session.begin, lambda: NOW, Effects(mailer, FakePost()))
        sweep(bench, 50)
        return self.sink.mails[before:]

    def ends(self) -> list[tuple[ExecutionState, Reason | None]]:
        with self.make_session() as session:
            rows = session.scalars(select(Execution).order_by(Execution.created_at))
            return [(row.state, row.reason) for row in rows]


@pytest.fixture
def house(make_session: sessionmaker[Session], smtp_sink: SmtpSink) -> House:
    with make_session.begin() as session:
        tenant = factories.congregation(session, locale="fr")
        factories.booking(session, tenant, status="requested", confirmed_at=None)
    return House(make_session, smtp_sink, tenant)


def confirmed(house: House) -> None:
    with house.make_session.begin() as session:
        bookings.confirm(session, house.id, "b1", now=NOW)


def calendar_of(mail: Mail) -> tuple[str, Any]:
    """Return the method and the one event of a mail's calendar, told twice alike."""
    shown = [
        part
        for part in mail.message.walk()
        if part.get_content_type() == "text/calendar"
    ]
    (attached,) = mail.message.iter_attachments()
    assert attached.get_filename() == "invite.ics"
    assert len(shown) == 1
    calendar: Any = Calendar.from_ical(attached.get_content())
    assert Calendar.from_ical(shown[0].get_content()) == calendar
    assert shown[0].get_param("method") == calendar["METHOD"]
    (found,) = calendar.walk("VEVENT")
    return str(calendar["METHOD"]), found


def test_a_calendar_follows_a_booking_through_its_life(house: House) -> None:
    for trigger in ("booking.confirmed", "booking.rescheduled", "booking.canceled"):
        house.rule(trigger, calendar=True, look=True)
    confirmed(house)
    (first,) = house.sweep()
    moved_to = NOW + timedelta(days=5)
    with house.make_session.begin() as session:
        bookings.reschedule(session, house.id, "b1", moved_to, now=NOW)
    (moved,) = house.sweep()
    with house.make_session.begin() as session:
        bookings.cancel(session, house.id, "b1", now=NOW)
    (gone,) = house.sweep()

    told = [calendar_of(mail) for mail in (first, moved, gone)]
    assert [method for method, _ in told] == ["REQUEST", "REQUEST", "CANCEL"]
    assert len({each["UID"] for _, each in told}) == 1
    sequences = [each["SEQUENCE"] for _, each in told]
    assert sequences == sorted(set(sequences))
    assert told[1][1]["DTSTART"].dt == told[2][1]["DTSTART"].dt == moved_to
    assert "St. Bonifatius" in first.html
    assert 'lang="fr"' in first.html


def test_a_mail_brings_its_one_click_link_in_one_piece(house: House) -> None:
    house.rule("booking.confirmed")
    confirmed(house)
    (mail,) = house.sweep()

    link = LINKS.url(house.id, GUEST)
    assert f"\r\nList-Unsubscribe: <{link}>\r\n".encode() in mail.raw
    assert mail.message["List-Unsubscribe-Post"] == "List-Unsubscribe=One-Click"
    assert f"Se désabonner: {link}" in mail.text


def test_a_mail_about_what_they_arranged_has_no_such_link(house: House) -> None:
    house.rule("booking.confirmed", transactional=True)
    confirmed(house)
    (mail,) = house.sweep()

    assert "List-Unsubscribe" not in mail.message
    assert "désabonner" not in mail.text


def test_who_unsubscribed_gets_only_what_they_arranged(house: House) -> None:
    house.rule("booking.confirmed", subject="News")
    house.rule("booking.confirmed", subject="Your booking", transactional=True)
    confirmed(house)
    with house.make_session.begin() as session:
        unsubscribe(session, *LINKS.read(LINKS.url(house.id, GUEST).rpartition("/")[2]))

    assert [mail.subject for mail in house.sweep()] == ["Your booking"]
    assert (ExecutionState.SKIPPED, Reason.SUPPRESSED) in house.ends()


def test_a_stopped_address_gets_nothing_and_lifting_sends_nothing_old(
    house: House,
) -> None:
    house.rule("booking.confirmed", transactional=True)
    confirmed(house)
    with house.make_session.begin() as session:
        row = suppress(session, house.id, GUEST, SuppressionReason.ASKED, ANNA)
    assert house.sweep() == []
    with house.make_session.begin() as session:
        lift(session, row.id, ANNA)

    assert house.sweep() == []
    assert house.ends() == [(ExecutionState.SKIPPED, Reason.SUPPRESSED)]


def test_the_address_counts_that_it_goes_to_now(house: House) -> None:
    house.rule("booking.confirmed")
    confirmed(house)
    with house.make_session.begin() as session:
        bookings.save_booking(session, house.id, "b1", guest_email="NEW@example.org")
        unsubscribe(session, house.id, "new@example.org")

    assert house.sweep() == []


def test_another_congregations_list_does_not_count(house: House) -> None:
    house.rule("booking.confirmed")
    confirmed(house)
    with house.make_session.begin() as session:
        other = factories.congregation(session, "other")
        unsubscribe(session, other, GUEST)

    assert len(house.sweep()) == 1


def _announced(house: House, number: int) -> None:
    with house.make_session.begin() as session:
        emit_automation_event(
            session,
            AutomationEvent(
                "booking.confirmed",
                "show",
                booking_id="b1",
                congregation_id=house.id,
                event_id=f"e{number}",
            ),
            now=NOW,
        )


def _list(house: House) -> list[tuple[str, SuppressionReason, str, str]]:
    with house.make_session() as session:
        rows = session.scalars(select(Suppression)).all()
        assert all(row.congregation_id == house.id for row in rows)
        return [(r.address, r.reason, r.note, r.created_by) for r in rows]


def test_an_address_where_nobody_is_gets_no_more_until_somebody_allows_it(
    house: House,
) -> None:
    house.rule("booking.confirmed", transactional=True)
    house.sink.refuse("rcpt", "550 5.1.1 No such user here", times=1)
    confirmed(house)
    house.sweep()
    assert house.ends() == [(ExecutionState.FAILED, Reason.REFUSED)]
    bounced = SuppressionReason.BOUNCED
    by = "the mail server"
    assert _list(house) == [(GUEST, bounced, "5.1.1 No such user here", by)]

    _announced(house, 2)
    assert house.sweep() == []
    assert house.ends()[1:] == [(ExecutionState.SKIPPED, Reason.SUPPRESSED)]
    with house.make_session.begin() as session:
        (row,) = session.scalars(select(Suppression))
        lift(session, row.id, ANNA)
    _announced(house, 3)
    assert [mail.recipients for mail in house.sweep()] == [[GUEST]]
    with house.make_session() as session:
        audited = session.execute(select(AuditEntry.actor, AuditEntry.action)).all()
    assert sorted(map(tuple, audited)) == [
        (ANNA.name, "suppression.lifted"),
        (by, "suppression.added"),
    ]


@pytest.mark.parametrize(
    "reply",
    ["550 5.7.1 We do not like you", "552 5.2.2 Full", "550 No", "450 5.1.1 Later"],
)
def test_a_refusal_that_is_not_about_the_recipient_stops_nobody(
    house: House, reply: str
) -> None:
    house.rule("booking.confirmed")
    house.sink.refuse("rcpt", reply)
    confirmed(house)
    house.sweep()
    assert _list(house) == []


def test_two_mails_to_nobody_are_one_entry(house: House) -> None:
    house.rule("booking.confirmed", subject="News")
    house.rule("booking.confirmed", subject="More")
    house.sink.refuse("rcpt", "550 5.1.1 No such user")
    confirmed(house)
    house.sweep()
    assert [state for state, _ in house.ends()] == [ExecutionState.FAILED] * 2
    assert len(_list(house)) == 1


def test_who_unsubscribed_stays_so_when_nobody_is_there(house: House) -> None:
    house.rule("booking.confirmed", transactional=True)
    house.sink.refuse("rcpt", "550 5.1.1 No such user")
    confirmed(house)
    with house.make_session.begin() as session:
        unsubscribe(session, house.id, GUEST)
    house.sweep()
    assert house.ends() == [(ExecutionState.FAILED, Reason.REFUSED)]
    assert [reason for _, reason, *_ in _list(house)] == ["unsubscribed"]


def test_asking_for_many_takes_one_query(house: House, engine: Engine) -> None:
    house.rule("booking.confirmed")
    with house.make_session.begin() as session:
        for n in range(20):
            factories.booking(
                session,
                house.id,
                id=f"n{n}",
                status="requested",
                confirmed_at=None,
                guest_email=f"n{n}@example.org",
            )
            bookings.confirm(session, house.id, f"n{n}", now=NOW)
    seen: list[str] = []
    with house.make_session() as session:
        rows = session.scalars(select(Execution)).all()
        event.listen(engine, "before_cursor_execute", lambda *a: seen.append(a[2]))
        assert why_not(session, rows, now=NOW) == {}

    assert len(rows) == 20
    assert len([each for each in seen if "FROM suppressions" in each]) == 1


HEADERS = [
    "Hi\r\nBcc: evil@x.y",
    "Hi\nBcc: evil@x.y",
    "Hi\rBcc: evil@x.y",
    "Hi\u2028Bcc: evil@x.y",
    "Hi\x85Bcc: evil@x.y",
    "Hi\x0bBcc: evil@x.y",
    "Hi\x00",
    "=?utf-8?q?Hi=0d=0aReply-To:_evil@x.y?=",
    "=?utf-8?b?SGkNClJlcGx5LVRvOiBldmlsQHgueQ==?=",
]


@pytest.mark.parametrize("name", HEADERS)
def test_no_guests_name_becomes_a_header(house: House, name: str) -> None:
    house.rule("booking.confirmed", subject="For {{ guest.name }}", calendar=True)
    with house.make_session.begin() as session:
        emit_automation_event(
            session,
            AutomationEvent(
                "booking.confirmed",
                "show",
                booking_id="b1",
                congregation_id=house.id,
                context={"guest": {"name": name, "email": GUEST}},
            ),
            now=NOW,
        )
    mails = house.sweep()

    assert mails == []
    assert house.ends() in (
        [(ExecutionState.FAILED, Reason.BAD_MESSAGE)],
        [],  # what no database stores was refused when it came
    )
