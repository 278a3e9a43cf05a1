"""Admin mails: tell the admins what they ought to look at, by mail.

Fed by whatever writes an ``AdminMail`` row in its own transaction.  Shape: claim · act
· settle.  A claim moves ``run_at`` past the longest attempt: when the worker dies, the
row comes due again by itself, and goes out with the same ``Message-ID``.
"""

from __future__ import annotations

import logging
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import partial
from typing import Final
from uuid import UUID

from sqlalchemy import ColumnElement, literal_column, select, update
from sqlalchemy.orm import Session

from tasks.automation.actions.base import Done, Envelope, GiveUp, Outcome, TryAgain
from tasks.backlogs import waiting
from tasks.backoff import Pauses, wait_after
from tasks.bulk import among
from tasks.executing.recording import patiently
from tasks.holds.looking import closed
from tasks.lane import Backlog, Bench
from tasks.models.admin_mail import AdminMail, AdminMailState
from tasks.models.rollup import Measure
from tasks.rollups.work import Work, note_work
from tasks.window import Window

logger = logging.getLogger(__name__)

NAME: Final = "admin_mails"
#: What becomes of an attempt, as it is counted.
_OUTCOMES: Final = {
    "sent": Measure.SUCCEEDED,
    "retried": Measure.RETRIED,
    "failed": Measure.FAILED,
}
#: Longer than the whole of one attempt, which ends within a minute.
HOLD: Final = timedelta(minutes=3)
#: Mails under way at once in one sweep.
AT_ONCE: Final = 4
PAUSES: Final = Pauses(first=timedelta(minutes=1), longest=timedelta(hours=1))
#: With these pauses a mail is tried for about a day.
ATTEMPTS: Final = 50
_ERROR_MAX: Final = 500
#: Stands for no congregation where the mail names one; it has no link to unsubscribe.
_INSTALLATION: Final = UUID(int=0)
_IS_PENDING: Final[ColumnElement[bool]] = AdminMail.state == literal_column("'pending'")


@dataclass(frozen=True, slots=True)
class AdminMailsSweep:
    """What one sweep did, as mail ids."""

    sent: tuple[UUID, ...] = ()
    retried: tuple[UUID, ...] = ()
    failed: tuple[UUID, ...] = ()
    lost: tuple[UUID, ...] = ()  # somebody else has them now
    is_full: bool = False


def sweep(bench: Bench, limit: int) -> AdminMailsSweep:
    """Send up to ``limit`` due mails, oldest first, at most ``AT_ONCE``."""
    wanted = min(limit, AT_ONCE)
    with bench.begin() as session:
        now = bench.clock()
        is_closed = closed(session, None, now).everything
        held = () if is_closed else _claim(session, now, wanted)
    acted: list[tuple[AdminMail, Outcome]] = []
    with Window[tuple[AdminMail, Outcome]](AT_ONCE) as window:
        for mail in held:
            window.submit(_act, bench, mail)
        while window.n_open:
            acted += window.finished()
    words = patiently(bench, partial(_settled, bench, acted)) if acted else {}
    ended: defaultdict[str, list[UUID]] = defaultdict(list)
    for id_, word in words.items():
        ended[word].append(id_)
    return AdminMailsSweep(
        **{word: tuple(ids) for word, ids in ended.items()},
        is_full=len(held) == wanted,
    )


def backlog(session: Session, now: datetime) -> Backlog:
    """Return how many mails are due, and since when."""
    return waiting(session, AdminMail.run_at, _IS_PENDING, AdminMail.run_at <= now)


def _claim(session: Session, now: datetime, limit: int) -> Sequence[AdminMail]:
    ids = session.scalars(
        select(AdminMail.id)
        .where(_IS_PENDING, AdminMail.run_at <= now)
        .order_by(AdminMail.run_at, AdminMail.id)
        .limit(limit)
        .with_for_update(skip_locked=True)
    ).all()
    if not ids:
        return ()
    session.execute(
        update(AdminMail)
        .where(among(session, AdminMail.id, ids))
        .values(attempt=AdminMail.attempt + 1, run_at=now + HOLD)
        .execution_options(synchronize_session=False)
    )
    found = session.scalars(
        select(AdminMail)
        .where(among(session, AdminMail.id, ids))
        .order_by(AdminMail.id)
        .execution_options(populate_existing=True)
    )
    return found.all()


def _act(bench: Bench, mail: AdminMail) -> tuple[AdminMail, Outcome]:
    """Send one mail; no transaction is open."""
    message = {
        "to": mail.address,
        "subject": mail.subject,
        "text": f"{mail.body}\n\n{bench.console_url}{mail.path}\n",
        "locale": mail.language,
        "look": {"sender": "Carillon"},
    }
    envelope = Envelope(mail.id, mail.congregation_id or _INSTALLATION, None)
    try:
        return mail, bench.effects.mailer.send(message, envelope)
    except Exception:
        # One row's bug must not stop the others' work, nor be hidden.
        logger.exception("admin_mail.act_failed", extra={"id": str(mail.id)})
        sentence = "It ended with an error in the program, see the worker's log."
        return mail, TryAgain(sentence, is_unknown=True)


def _settled(
    bench: Bench, acted: Sequence[tuple[AdminMail, Outcome]]
) -> dict[UUID, str]:
    now = bench.clock()
    with bench.begin() as session:
        words = {mail.id: _settle(session, mail, what, now) for mail, what in acted}
        mails = [mail for mail, _ in acted if words[mail.id] != "lost"]
        work = [_work(mail, words[mail.id], now) for mail in mails]
        note_work(session, NAME, work, now)
        return words


def _work(mail: AdminMail, word: str, now: datetime) -> Work:
    began = mail.run_at - HOLD
    wait = began - mail.created_at if mail.attempt == 1 else None
    return Work(mail.congregation_id, _OUTCOMES[word], wait, now - began)


def _settle(session: Session, mail: AdminMail, outcome: Outcome, now: datetime) -> str:
    """Write down what came of one attempt, while it is still ours; returns a word."""
    word, values = _verdict(mail, outcome, now)
    done = session.execute(
        update(AdminMail)
        .where(AdminMail.id == mail.id, AdminMail.attempt == mail.attempt, _IS_PENDING)
        .values(**values)
        .returning(AdminMail.id)
        .execution_options(synchronize_session=False)
    )
    return word if done.all() else "lost"


def _verdict(
    mail: AdminMail, outcome: Outcome, now: datetime
) -> tuple[str, dict[str, object]]:
    if isinstance(outcome, Done):
        return "sent", {
            "state": AdminMailState.SENT,
            "settled_at": now,
            "error": None,
        }
    error = outcome.error[:_ERROR_MAX]
    if isinstance(outcome, GiveUp) or mail.attempt >= ATTEMPTS:
        return "failed", {
            "state": AdminMailState.FAILED,
            "settled_at": now,
            "error": error,
        }
    wait = wait_after(mail.attempt, pauses=PAUSES, at_least=outcome.after)
    return "retried", {"run_at": now + wait, "error": error}
