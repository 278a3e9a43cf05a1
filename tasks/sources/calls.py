"""The calls that a source got: kept for operators, and never more than a page needs."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Final

from sqlalchemy import delete, select
from sqlalchemy.orm import Session

from tasks.models.source import CallOutcome, Source, SourceCall

#: Refused calls of the same kind within this time are one row, with a count.
TOGETHER: Final = timedelta(minutes=1)
#: Refused calls of one source that are kept: anybody can make them.
REFUSED_MAX: Final = 50
#: Calls on a source's page.
SHOWN: Final = 10


def keep(
    session: Session,
    source: Source,
    outcome: CallOutcome,
    sentence: str,
    *,
    at: datetime,
    event: str = "",
    booking_id: str | None = None,
    body: str | None = None,
) -> None:
    """Remember a signed call; the caller commits."""
    session.add(
        SourceCall(
            congregation_id=source.congregation_id,
            source_id=source.id,
            outcome=outcome,
            event=event[:64],
            sentence=sentence[:500],
            booking_id=booking_id,
            body=body,
            received_at=at,
        )
    )
    session.flush()


def keep_refused(
    session: Session, source: Source, sentence: str, *, at: datetime
) -> None:
    """Remember a call that nobody vouches for: counted, and without its body."""
    last = session.scalar(
        select(SourceCall)
        .where(
            SourceCall.source_id == source.id,
            SourceCall.received_at > at - TOGETHER,
            SourceCall.outcome == CallOutcome.REFUSED,
            SourceCall.sentence == sentence[:500],
        )
        .order_by(SourceCall.received_at.desc())
        .limit(1)
        .with_for_update()
    )
    if last is not None:
        last.n_times += 1
        session.flush()
        return
    keep(session, source, CallOutcome.REFUSED, sentence, at=at)
    _forget_refused(session, source)


def recent(session: Session, source: Source) -> Sequence[SourceCall]:
    """Return the newest calls, newest first."""
    return session.scalars(
        select(SourceCall)
        .where(SourceCall.source_id == source.id)
        .order_by(SourceCall.received_at.desc(), SourceCall.id.desc())
        .limit(SHOWN)
    ).all()


def _forget_refused(session: Session, source: Source) -> None:
    """Remove refused calls beyond the newest ones."""
    past = (
        select(SourceCall.id)
        .where(
            SourceCall.source_id == source.id,
            SourceCall.outcome == CallOutcome.REFUSED,
        )
        .order_by(SourceCall.received_at.desc(), SourceCall.id.desc())
        .limit(1_000)
        .offset(REFUSED_MAX)
    )
    ids = session.scalars(past).all()
    if ids:
        session.execute(
            delete(SourceCall)
            .where(SourceCall.id.in_(ids))
            .execution_options(synchronize_session=False)
        )
