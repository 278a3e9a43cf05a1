"""Asking a lane to look now: heard after the commit, and lost without harm.

Domain code asks (``ask``); ``tasks.queue`` listens (``on_commit``).  So the engine's
inner parts need not know how bells are carried.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import Final

from sqlalchemy import event
from sqlalchemy.orm import Session

logger = logging.getLogger(__name__)

_KEY: Final = "doorbells"
_listeners: list[Callable[[str], None]] = []


def ask(session: Session, lane: str) -> None:
    """Ring ``lane`` once the session's transaction is committed; not on a rollback."""
    session.info.setdefault(_KEY, set()).add(lane)


def on_commit(ring: Callable[[str], None]) -> None:
    """Carry every bell asked for from now on to ``ring``; twice the same counts once.

    ``ring`` must not raise: the commit has happened and cannot be taken back.
    """
    if ring not in _listeners:
        _listeners.append(ring)


@event.listens_for(Session, "after_commit")
def _ring(session: Session) -> None:
    if session.in_nested_transaction():
        return  # only a savepoint ended; nobody else can see its rows yet
    for lane in session.info.pop(_KEY, ()):
        for ring in _listeners:
            ring(lane)


@event.listens_for(Session, "after_rollback")
def _forget(session: Session) -> None:
    if session.in_nested_transaction():
        return  # what was asked for outside of the savepoint still holds
    session.info.pop(_KEY, None)
