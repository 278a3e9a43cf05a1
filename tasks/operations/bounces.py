"""Addresses that a mail server says nobody has: from then on they get no mails."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Final, NamedTuple
from uuid import UUID

from sqlalchemy.orm import Session

from tasks.models.suppression import SuppressionReason
from tasks.operations.audit import Actor
from tasks.operations.suppression_rows import NOTE_MAX, entry, listed, tell, told
from tasks.outbound.mailboxes import normal_address
from tasks.saying import mark

#: Who adds an address by its answer.
MAIL_SERVER: Final = Actor(mark("the mail server"))


class Bounce(NamedTuple):
    """One mail that found no mailbox."""

    congregation_id: UUID
    address: str  # as the mail went to it
    answer: str  # the server's


def note_bounces(session: Session, bounces: Sequence[Bounce], now: datetime) -> None:
    """Put addresses on the lists of their congregations, with the server's answer.

    What stands there already stays: who unsubscribed must not get mails again because
    somebody lifts a bounce.  Caller commits.
    """
    found = {(of, normal_address(to)): answer for of, to, answer in bounces}
    # One order for all: two that write the same addresses would wait for each other.
    for (of, address), answer in sorted(found.items()):
        note = _printable(answer)[:NOTE_MAX]
        bounced = SuppressionReason.BOUNCED
        row, is_new = listed(
            session, entry(of, address, bounced, MAIL_SERVER, note=note, now=now)
        )
        if is_new:
            tell(session, MAIL_SERVER, "suppression.added", row, after=told(row))


def _printable(text: str) -> str:
    return "".join(sign if sign.isprintable() else " " for sign in text)
