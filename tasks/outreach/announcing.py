"""Storing the events of a batch; a row that no event can be made of is set aside."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Final
from uuid import UUID

from sqlalchemy.exc import DataError, DBAPIError, IntegrityError, StatementError
from sqlalchemy.orm import Session

from tasks.automation.events import emit_own_all
from tasks.errors import InvalidInput
from tasks.outreach.claiming import Due
from tasks.outreach.telling import event_of

#: What the values of a row can lead to.  Everything else is the machinery's fault, and
#: then the whole batch has to stay due.
_OF_VALUES: Final = (InvalidInput, TypeError, ValueError, StatementError)
_OF_VALUES_IN_DATABASE: Final = (DataError, IntegrityError)


def announce(session: Session, due: Sequence[Due], now: datetime) -> dict[UUID, str]:
    """Store one event for each; returns the troubles of those that have none.

    All at once, and one by one only when that fails.  What the events set in motion
    (executions of rules, deliveries) is stored with them or not at all.

    Raises:
        SQLAlchemyError: the database does not take events at all.
    """
    if not due or _trouble(session, due, now) is None:
        return {}
    found: dict[UUID, str] = {}
    for each in due:
        trouble = _trouble(session, [each], now)
        if trouble is not None:
            found[each.row.id] = trouble
    return found


def _trouble(session: Session, due: Sequence[Due], now: datetime) -> str | None:
    events = [event_of(each.row, each.contact, each.agent) for each in due]
    try:
        with session.begin_nested():
            emit_own_all(session, events, now)
    except _OF_VALUES as error:
        if isinstance(error, DBAPIError) and not isinstance(
            error, _OF_VALUES_IN_DATABASE
        ):
            raise
        return str(error) or type(error).__name__
    return None
