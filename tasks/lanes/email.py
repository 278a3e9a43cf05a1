"""E-mail: gather what has settled into digests, and send each recipient one mail.

Fed by ``tasks.congregation.notifications.notify``.  Shape: gathering is one
transaction; a mail is claim · act · settle.  When the worker dies, the lease lapses and
``rescue`` takes the mail back; it goes out with the same ``Message-ID``, and only to
those who have not got it.
"""

from __future__ import annotations

import logging
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from typing import Final
from uuid import UUID

from sqlalchemy import or_, select
from sqlalchemy.orm import Session

from tasks.automation.actions.base import Envelope, Outcome, TryAgain
from tasks.backlogs import waiting
from tasks.congregation.notifications.claiming import Claimed, Held, claim, is_due
from tasks.congregation.notifications.gathering import gather
from tasks.congregation.notifications.settling import settle
from tasks.congregation.notifications.telling import IS_PENDING
from tasks.db import reading
from tasks.executing.recording import patiently
from tasks.lane import COUNT_CAP, Backlog, Bench
from tasks.models.notification import DigestMail, Notification
from tasks.window import Window

logger = logging.getLogger(__name__)

#: Mails under way at once in one sweep.
AT_ONCE: Final = 4
_Ended = defaultdict[str, list[UUID]]


@dataclass(frozen=True, slots=True)
class EmailSweep:
    """What one sweep did, as ids of mails."""

    gathered: tuple[UUID, ...] = ()  # came into being
    sent: tuple[UUID, ...] = ()
    retried: tuple[UUID, ...] = ()
    failed: tuple[UUID, ...] = ()
    skipped: tuple[UUID, ...] = ()  # nothing was left to tell
    lost: tuple[UUID, ...] = ()  # somebody else has them now
    is_full: bool = False


def sweep(bench: Bench, limit: int) -> EmailSweep:
    """Gather what has settled, then send up to ``limit`` due mails, oldest first."""
    ended: _Ended = defaultdict(list)
    if not _has_work(bench):
        return EmailSweep()
    with bench.begin() as session:
        ended["gathered"] += gather(session, bench.clock())
    n_taken = 0
    while n_taken < limit:
        claimed = _claimed(bench, min(AT_ONCE, limit - n_taken))
        ended["skipped"] += claimed.skipped
        n_taken += len(claimed.held) + len(claimed.skipped)
        if not claimed.held and not claimed.skipped:
            break
        _send(bench, claimed.held, ended)
    moved = {word: tuple(ids) for word, ids in ended.items()}
    return EmailSweep(**moved, is_full=n_taken >= limit)


def backlog(session: Session, now: datetime) -> Backlog:
    """Return how many notifications have settled and mails are due, and since when."""
    settled = waiting(
        session, Notification.settles_at, IS_PENDING, Notification.settles_at <= now
    )
    due = waiting(session, DigestMail.run_at, *is_due(now))
    oldest = [at for at in (settled.oldest_due_at, due.oldest_due_at) if at]
    return Backlog(min(settled.n_due + due.n_due, COUNT_CAP), min(oldest, default=None))


def _has_work(bench: Bench) -> bool:
    """Look before taking SQLite's only write lock: mostly there is nothing to do."""
    with bench.begin() as session:
        reading(session)
        now = bench.clock()
        settled = select(Notification.id).where(
            IS_PENDING, Notification.settles_at <= now
        )
        due = select(DigestMail.id).where(*is_due(now))
        found = session.scalar(select(or_(settled.exists(), due.exists())))
    return bool(found)


def _claimed(bench: Bench, limit: int) -> Claimed:
    if bench.stopping.is_set():
        return Claimed((), ())
    with bench.begin() as session:
        return claim(session, bench, limit=limit)


def _send(bench: Bench, held: Sequence[Held], ended: _Ended) -> None:
    """Send a few mails at once, and write each down as soon as it has ended."""
    with Window[tuple[Held, Outcome]](AT_ONCE) as window:
        for each in held:
            window.submit(_act, bench, each)
        while window.n_open:
            for one, outcome in window.finished():
                word = patiently(bench, partial(_settled, bench, one, outcome))
                ended[word].append(one.mail_id)


def _act(bench: Bench, held: Held) -> tuple[Held, Outcome]:
    """Send one mail; no transaction is open."""
    envelope = Envelope(held.mail_id, held.congregation_id, None)
    try:
        return held, bench.effects.mailer.send(held.message, envelope)
    except Exception:
        # One mail's bug must not stop the others, nor be hidden.
        logger.exception("email.act_failed", extra={"id": str(held.mail_id)})
        sentence = "It ended with an error in the program, see the worker's log."
        return held, TryAgain(sentence, is_unknown=True)


def _settled(bench: Bench, held: Held, outcome: Outcome) -> str:
    with bench.begin() as session:
        return settle(session, held, outcome, bench.clock())
