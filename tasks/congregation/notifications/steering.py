"""What operators may do to notifications and their mails."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from sqlalchemy import select, update
from sqlalchemy.orm import Session

from tasks import doorbell
from tasks.congregation.notifications.gathering import gather
from tasks.congregation.notifications.kinds import CATEGORIES
from tasks.congregation.notifications.telling import IS_PENDING, LANE
from tasks.errors import Conflict, InvalidInput, NotFound
from tasks.lane import Bench
from tasks.models.congregation import Congregation
from tasks.models.notification import (
    DigestItem,
    DigestMail,
    MailState,
    Notification,
    NotificationState,
)
from tasks.operations.audit import Actor, Subject, record
from tasks.saying import say


def send_now(
    session: Session, congregation_id: UUID, category: str, actor: Actor, now: datetime
) -> int:
    """Let what settles of a category leave at once; returns how much it is.

    Caller commits.

    Raises:
        NotFound: the session sees no such congregation.
        InvalidInput: there is no such category.
        Conflict: nothing of it settles.
    """
    if session.get(Congregation, congregation_id) is None:
        raise NotFound("unknown_congregation", say("There is no such congregation."))
    if category not in CATEGORIES:
        raise InvalidInput("unknown_category", say("There is no such category."))
    ids = session.scalars(
        update(Notification)
        .where(
            Notification.congregation_id == congregation_id,
            Notification.category == category,
            IS_PENDING,
        )
        .values(settles_at=now)
        .returning(Notification.id)
        .execution_options(synchronize_session=False)
    ).all()
    if not ids:
        raise Conflict("nothing_settles", say("Nothing of this waits any more."))
    summary = f"Sent {len(ids)} of {CATEGORIES[category]} before their time"
    subject = Subject("notification", category, congregation_id)
    record(session, actor, "notification.sent_early", subject, summary)
    doorbell.ask(session, LANE)
    return len(ids)


def retry(session: Session, mail_id: UUID, actor: Actor, now: datetime) -> DigestMail:
    """Let a mail that failed be tried again, as often as a new one.  Caller commits.

    Raises:
        NotFound: the session sees no such mail.
        Conflict: it did not fail.
    """
    mail = session.scalars(
        select(DigestMail).where(DigestMail.id == mail_id).with_for_update()
    ).one_or_none()
    if mail is None:
        raise NotFound("unknown_mail", say("There is no such mail."))
    if mail.state is not MailState.FAILED:
        raise Conflict("not_failed", say("Only a mail that failed can be tried again."))
    queue_again(session, [mail], now)
    subject = Subject("digest_mail", str(mail.id), mail.congregation_id)
    record(session, actor, "digest_mail.retried", subject, "Tried a mail again")
    return mail


def queue_again(session: Session, mails: Sequence[DigestMail], now: datetime) -> None:
    """Let failed mails be tried again; they are locked, and the caller commits."""
    for mail in mails:
        mail.failures = mail.crashes = 0
        mail.run_at = mail.asked_at = now
        mail.move_to(MailState.PENDING, at=now)
    session.flush()
    of_mails = select(DigestItem.notification_id).where(
        DigestItem.mail_id.in_([mail.id for mail in mails])
    )
    session.execute(
        update(Notification)
        .where(
            Notification.id.in_(of_mails),
            Notification.state == NotificationState.FAILED,
        )
        .values(state=NotificationState.QUEUED, ended_at=None)
        .execution_options(synchronize_session=False)
    )
    if mails:
        doorbell.ask(session, LANE)


@dataclass(frozen=True, slots=True)
class Flushed:
    """What a flush did."""

    n_mails: int  # came into being; the lane sends them


def flush(bench: Bench) -> Flushed:
    """Make mails of all that has settled, and ask the lane to send them.

    For schedulers outside: it never waits for a mail server.
    """
    with bench.begin() as session:
        return Flushed(len(gather(session, bench.clock())))
