"""Telling administrators who will be anonymised soon, and who cannot be."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final
from uuid import UUID

from sqlalchemy import select, update
from sqlalchemy.orm import Session

from tasks.congregation.notifications.telling import News, notify_all
from tasks.congregation.retention import blocks
from tasks.congregation.retention.candidates import Today, due_on, is_to_be_noticed
from tasks.models import Member

#: Notices of one transaction; more wait for the next.
NOTICES_MAX: Final = 500


def announce(session: Session, today: Today) -> Sequence[UUID]:
    """Announce what comes within two weeks, once for each member; returns whom.

    Whom the list of blocks has had for a week is told of again.
    """
    soon = session.execute(
        select(Member.id, Member.left_on, Member.hold_until)
        .where(is_to_be_noticed(today))
        .order_by(Member.left_on, Member.id)
        .limit(NOTICES_MAX)
    ).all()
    ids = [member_id for member_id, _, _ in soon]
    session.execute(
        update(Member)
        .where(Member.id.in_(ids))
        .values(noticed_at=today.now)
        .execution_options(synchronize_session=False)
    )
    news = [
        News("retention.notice", member_id, {"on": due_on(left_on, held, today.months)})
        for member_id, left_on, held in soon
        if left_on is not None  # all of them have left
    ]
    news += [
        News("retention.blocked", member_id)
        for member_id in blocks.to_be_told(session, today)
    ]
    notify_all(session, today.congregation_id, news, today.now)
    return ids
