"""Trying many notification mails again that failed."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Final
from uuid import UUID

from sqlalchemy import literal_column, select
from sqlalchemy.orm import Session

from tasks.congregation.notifications.steering import queue_again
from tasks.congregation.notifications.telling import LANE
from tasks.models import DigestMail, MailState, Operation
from tasks.operations.acted import Acted
from tasks.operations.kind import Kind, Refusal
from tasks.operations.replaying_executions import MOVED
from tasks.saying import mark
from tasks.search.mails import MAILS
from tasks.search.plain import asked_conditions

_S = MailState
#: Written into the statement, so that the partial index serves.
_IS_FAILED: Final = DigestMail.state == literal_column("'failed'")


def retry_mails(
    session: Session, _operation: Operation, ids: Sequence[UUID], now: datetime
) -> Acted:
    """Let mails that failed be tried again, as often as new ones."""
    mails = session.scalars(
        select(DigestMail)
        .where(DigestMail.id.in_(ids), _IS_FAILED)
        .order_by(DigestMail.id)
        .with_for_update()
    ).all()
    queue_again(session, mails, now)
    acted = Acted(changed=[(mail.congregation_id, mail.id) for mail in mails])
    acted.skip(sorted(set(ids) - {mail.id for mail in mails}), MOVED)
    return acted


RETRY_MAILS: Final = Kind(
    DigestMail,
    lambda until, _: (_IS_FAILED, DigestMail.settled_at <= until),
    retry_mails,
    lane=LANE,
    narrow=lambda _, rest: asked_conditions(MAILS, rest),
    refusals=(
        Refusal(
            mark("they wait for another try, or are being sent."),
            DigestMail.state.in_((_S.PENDING, _S.RUNNING)),
        ),
        Refusal(mark("they arrived."), DigestMail.state == _S.SENT),
        Refusal(
            mark("nothing of them was left to be sent."), DigestMail.state == _S.SKIPPED
        ),
    ),
)
