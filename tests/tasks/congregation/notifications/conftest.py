"""A congregation whose accounts are told things, a real mail server, and a clock."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

import pytest
from sqlalchemy import select
from sqlalchemy.orm import Session, sessionmaker

from tasks.automation.actions.base import Effects
from tasks.congregation.notifications import News, Told, notify_all
from tasks.lane import Bench
from tasks.lanes import email, rescue
from tasks.models import (
    DigestItem,
    DigestMail,
    MailState,
    Notification,
    NotificationState,
)
from tasks.operations.audit import Actor
from tasks.outbound.mail import SmtpMailer
from tasks.outbound.smtp import MailServer
from tasks.outbound.unsubscribing import UnsubscribeLinks
from tests.support import factories, notification_rows
from tests.support.factories import NOW
from tests.support.fakes import FakePost
from tests.support.smtp_sink import Mail, SmtpSink

LINKS = UnsubscribeLinks("https://carillon.example", "k" * 40)
RUTH = Actor("ruth@example.org")


@dataclass
class Office:
    """What happens in one congregation, and what its accounts hear of it."""

    make_session: sessionmaker[Session]
    sink: SmtpSink
    id: UUID
    now: datetime = NOW
    seen: int = field(default=0)

    @property
    def begin(self) -> Any:
        return self.make_session.begin

    @property
    def bench(self) -> Bench:
        mailer = SmtpMailer(
            MailServer.of(self.sink.url), "Office <office@carillon.example>", LINKS
        )
        return Bench(self.begin, lambda: self.now, Effects(mailer, FakePost()))

    def add(self, make: Callable[..., Any], *args: Any, **values: Any) -> Any:
        """Add rows by a function of ``notification_rows``."""
        with self.begin() as session:
            return make(session, self.id, *args, **values)

    def validators(self, n: int = 1) -> list[UUID]:
        made: list[UUID] = self.add(notification_rows.validators, n)
        return made

    def documents(self, *titles: str) -> list[UUID]:
        made: list[UUID] = self.add(notification_rows.documents, *titles)
        return made

    def tell(self, *news: News) -> Told:
        with self.begin() as session:
            return notify_all(session, self.id, news, self.now)

    def later(self, **delta: float) -> None:
        self.now += timedelta(**delta)

    def sweep(self, limit: int = 100) -> email.EmailSweep:
        return email.sweep(self.bench, limit)

    def mails(self) -> list[Mail]:
        """Return what has arrived since the last look."""
        new = self.sink.mails[self.seen :]
        self.seen = len(self.sink.mails)
        return new

    def sent(self) -> list[Mail]:
        """Sweep, and return what has arrived."""
        self.sweep()
        return self.mails()

    def rescue(self) -> rescue.RescueSweep:
        return rescue.sweep(self.bench, 100)

    def states(self) -> Counter[NotificationState]:
        with self.make_session() as session:
            return Counter(session.scalars(select(Notification.state)))

    def mail_states(self) -> Counter[MailState]:
        with self.make_session() as session:
            return Counter(session.scalars(select(DigestMail.state)))

    def reasons(self) -> set[str | None]:
        """Return why notifications were left out of mails."""
        with self.make_session() as session:
            return set(session.scalars(select(DigestItem.reason)))


@pytest.fixture
def office(make_session: sessionmaker[Session], smtp_sink: SmtpSink) -> Office:
    with make_session.begin() as session:
        tenant = factories.congregation(session, timezone="Europe/Paris")
    return Office(make_session, smtp_sink, tenant)


def created(id_: object, title: str = "Letter", **values: Any) -> News:
    return News("document.created", str(id_), {"title": title}, **values)


def text_of(mail: Mail) -> str:
    return mail.text.replace("\r\n", "\n")


def addresses(mails: list[Mail]) -> list[str]:
    return sorted(address for mail in mails for address in mail.recipients)
