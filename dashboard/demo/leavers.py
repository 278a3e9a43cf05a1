"""The demo's members who left: one is gone already, one leads a group, one is held."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Final
from uuid import UUID

from dashboard.demo.parish import SACRISTAN
from dashboard.demo.timelapse import Timelapse
from tasks.congregation.people.groups import GroupDraft, create_group
from tasks.congregation.people.leaving import leave
from tasks.congregation.people.members import MemberDraft, create_member
from tasks.congregation.retention.holding import hold
from tasks.db import Begin
from tasks.lanes import retention

#: First name, last name, how many days ago they left.
_LEFT: Final = (
    ("Anna", "Zurbriggen", 205),  # anonymised by now
    ("Walter", "Imhof", 200),  # leads a group
    ("Esther", "Lüthi", 190),  # held
    ("Jonas", "Bühler", 176),  # announced
    ("Mireille", "Favre", 40),
)


def make_leavers(begin: Begin, lapse: Timelapse, parish: UUID, now: datetime) -> None:
    """Add members who left, and let the lane run as it did last night."""
    with begin() as session:
        ids = [
            create_member(
                session,
                parish,
                MemberDraft(first, last, is_publisher=False),
                SACRISTAN,
                now,
            ).id
            for first, last, _ in _LEFT
        ]
        _anna, walter, esther, *_ = ids
        create_group(session, parish, GroupDraft("Choir", walter), SACRISTAN)
        for member_id, (_, _, days) in zip(ids, _LEFT, strict=True):
            gone = now.date() - timedelta(days=days)
            leave(session, member_id, gone, SACRISTAN, now)
        until = now.date() + timedelta(days=60)
        why = "Asked for a certificate"
        hold(session, esther, until, why, SACRISTAN, now=now)
    retention.sweep(lapse.bench, 100)
