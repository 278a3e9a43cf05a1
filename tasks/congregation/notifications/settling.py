"""Writing down what came of an attempt, and only for a mail that is still ours."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Final
from uuid import UUID

from sqlalchemy import literal_column, select
from sqlalchemy.orm import Session

from tasks import doorbell
from tasks.automation.actions.base import Outcome
from tasks.automation.own import Happening, report
from tasks.congregation.notifications.claiming import LEASE, Held
from tasks.congregation.notifications.concluding import conclude
from tasks.congregation.notifications.judging import judge
from tasks.congregation.notifications.telling import LANE
from tasks.models.notification import (
    DigestItem,
    DigestMail,
    MailState,
    Notification,
)
from tasks.models.reason import SENTENCES, Reason
from tasks.models.rollup import Measure
from tasks.rollups.rescued import note_rescued
from tasks.rollups.work import Work, note_work

#: A mail that was under way in so many workers when they died is not tried again.
CRASHES_MAX: Final = 3
_ERROR_MAX: Final = 500
_Took = tuple[timedelta | None, timedelta | None]  # wait, run
#: What an attempt has come to, as it is counted.
_OUTCOMES: Final = {
    MailState.SENT: Measure.SUCCEEDED,
    MailState.FAILED: Measure.FAILED,
    MailState.SKIPPED: Measure.SKIPPED,
    MailState.PENDING: Measure.RETRIED,
}
_VANISHED: Final = "The worker vanished while it was sending; it may have arrived."
_IS_RUNNING: Final = DigestMail.state == literal_column("'running'")


def settle(session: Session, held: Held, outcome: Outcome, now: datetime) -> str:
    """Write down what came of one attempt; returns a word.  Caller commits.

    The fence: a late writer, whose lease lapsed, changes nothing and gets "lost".
    """
    mail = session.scalars(
        select(DigestMail)
        .where(
            DigestMail.id == held.mail_id,
            DigestMail.attempt == held.attempt,
            _IS_RUNNING,
        )
        .with_for_update()
        .execution_options(populate_existing=True)
    ).one_or_none()
    if mail is None:
        return "lost"
    verdict = judge(
        outcome,
        attempt=mail.attempt,
        failures=mail.failures,
        asked_at=mail.asked_at,
        now=now,
    )
    took = _took(mail, now)
    mail.failures += verdict.is_failure
    # PostgreSQL refuses NUL in text; a mail server may well send it.
    mail.error = (verdict.error or "").replace("\x00", " ")[:_ERROR_MAX] or None
    if verdict.run_at is not None:
        mail.run_at = verdict.run_at
    mail.move_to(verdict.state, at=now, reason=verdict.reason)
    if verdict.is_failure or mail.state is not MailState.PENDING:  # else: it waits on
        _note(session, mail, took, now)
    _ended(session, [mail], now)
    return "retried" if mail.state is MailState.PENDING else mail.state.value


def take_back(session: Session, now: datetime, limit: int) -> list[UUID]:
    """Let up to ``limit`` mails whose worker vanished be sent again; caller commits.

    The recipient may get one twice, with the same ``Message-ID``.
    """
    overdue = session.scalars(
        select(DigestMail)
        .where(_IS_RUNNING, DigestMail.lease_until < now)
        .order_by(DigestMail.lease_until, DigestMail.id)
        .limit(limit)
        .with_for_update(skip_locked=True)
    ).all()
    note_rescued(session, overdue, now)
    for mail in overdue:
        took = _took(mail, now)
        mail.crashes += 1
        if mail.crashes >= CRASHES_MAX:
            mail.error = SENTENCES[Reason.WORKER_CRASHES]
            mail.move_to(MailState.FAILED, at=now, reason=Reason.WORKER_CRASHES)
        else:
            mail.error, mail.run_at = _VANISHED, now
            mail.move_to(MailState.PENDING, at=now)
        _note(session, mail, took, now)
    if overdue:
        doorbell.ask(session, LANE)
        _ended(session, overdue, now)
    return [mail.id for mail in overdue]


def _took(mail: DigestMail, now: datetime) -> _Took:
    """Return how long it waited for its first attempt, and how long this one ran."""
    if mail.lease_until is None:
        return None, None
    began = mail.lease_until - LEASE
    return began - mail.asked_at if mail.attempt == 1 else None, now - began


def _note(
    session: Session,
    mail: DigestMail,
    took: _Took,
    now: datetime,
) -> None:
    """Count what an attempt has come to."""
    work = Work(mail.congregation_id, _OUTCOMES[mail.state], *took)
    note_work(session, LANE, [work], now)


def _ended(session: Session, mails: Sequence[DigestMail], now: datetime) -> None:
    """Let notifications and rules know of mails that have ended."""
    ended = [mail for mail in mails if mail.state is not MailState.PENDING]
    conclude(session, [mail.digest_id for mail in ended], now)
    failed = [mail for mail in ended if mail.state is MailState.FAILED]
    report(session, [_happening(session, mail) for mail in failed], now)


def _happening(session: Session, mail: DigestMail) -> Happening:
    """Return the event of a mail that failed: a reason, and no server's own words."""
    types = session.scalars(
        select(Notification.type)
        .join(DigestItem, DigestItem.notification_id == Notification.id)
        .where(DigestItem.mail_id == mail.id, DigestItem.reason.is_(None))
        .distinct()
    ).all()
    first = types[0] if types else ""
    told = first if len(types) == 1 else first.partition(".")[0] + ".*"
    why = SENTENCES[mail.reason or Reason.ATTEMPTS_USED_UP]
    said = {"notification": {"id": str(mail.id), "type": told, "error": why}}
    return Happening(
        "notification.failed",
        mail.congregation_id,
        mail.id,
        said,
        occurrence=str(mail.attempt),
    )
