"""Which holds there are, of whom they are seen, and what they are called."""

from __future__ import annotations

from datetime import datetime
from typing import Final
from uuid import UUID

from sqlalchemy import BindParameter, ColumnElement, and_, or_, select, true
from sqlalchemy.orm import Session

from tasks.db import Scope, scope_of
from tasks.errors import NotFound
from tasks.models import Channel, Hold
from tasks.saying import mark, say

#: What operators call the channels.
CHANNELS: Final = {
    Channel.EMAIL: mark("rules' mails"),
    Channel.WEBHOOK: mark("rules' webhooks"),
    Channel.NOTIFY: mark("rules' chat and push messages"),
    Channel.DELIVERIES: mark("deliveries to webhook endpoints"),
    Channel.NOTIFICATIONS: mark("notification mails"),
}
#: … and where it is plain whose they are.
_OF_RULE: Final = {
    **CHANNELS,
    Channel.EMAIL: mark("mails"),
    Channel.WEBHOOK: mark("webhooks"),
    Channel.NOTIFY: mark("chat and push messages"),
}


def find(session: Session, hold_id: UUID, *, lock: bool = False) -> Hold:
    """Return a hold.

    Raises:
        NotFound: the session sees no such hold.
    """
    wanted = select(Hold).where(Hold.id == hold_id, seen_by(session))
    if lock:
        wanted = wanted.with_for_update()
    row = session.scalars(wanted.execution_options(populate_existing=True)).first()
    if row is None:
        raise NotFound("unknown_hold", say("There is no such hold."))
    return row


def is_active(row: Hold, now: datetime) -> bool:
    """Whether it still holds."""
    return row.lifted_at is None and (row.until is None or row.until > now)


def holds_now(now: datetime | BindParameter[datetime]) -> ColumnElement[bool]:
    """Return what makes a hold one that holds."""
    is_open = or_(Hold.until.is_(None), Hold.until > now)
    return and_(Hold.lifted_at.is_(None), is_open)


def seen_by(session: Session) -> ColumnElement[bool]:
    """Return which holds concern the congregations that a session sees."""
    scope = scope_of(session)
    if scope is Scope.EVERY:
        return true()
    own = Hold.congregation_id.in_(tuple(scope))
    return or_(Hold.congregation_id.is_(None), own)


def in_words(channel: Channel | None, *, is_rule: bool, name: str | None) -> str:
    """Return what a hold holds.

    >>> in_words(Channel.EMAIL, is_rule=True, name="Welcome")
    'mails of the rule “Welcome”'
    >>> in_words(None, is_rule=False, name=None)
    'everything that leaves, of all congregations'
    """
    if is_rule:
        rule = name or say("deleted")
        if channel is None:
            return say("everything of the rule “%(rule)s”", rule=rule)
        text = say(_OF_RULE[channel])
        return say("%(what)s of the rule “%(rule)s”", what=text, rule=rule)
    text = say(CHANNELS[channel]) if channel else say("everything that leaves")
    if name:
        return say("%(what)s of %(congregation)s", what=text, congregation=name)
    return say("%(what)s, of all congregations", what=text)
