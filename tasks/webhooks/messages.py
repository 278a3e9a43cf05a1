"""What endpoints are told of an event: made once, kept, and never made anew."""

from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import datetime
from typing import Any, Final
from uuid import UUID

from sqlalchemy import Table, select
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.orm import Session

from tasks.automation.context import build_contexts
from tasks.bulk import among, is_postgres
from tasks.models.base import Json, new_id
from tasks.models.delivery import WebhookMessage
from tasks.models.event import Event

#: The type of a message that only tries an endpoint out.
TEST_TYPE: Final = "endpoint.test"
_MESSAGES: Final[Table] = WebhookMessage.metadata.tables[WebhookMessage.__tablename__]


def keep_messages(session: Session, events: Sequence[Event], now: datetime) -> None:
    """Make the message of every event that has none yet; caller commits.

    Says what the records say now: a replay after years tells what was told then.
    """
    ids = [event.id for event in events]
    has_one = select(WebhookMessage.id).where(among(session, WebhookMessage.id, ids))
    known = set(session.scalars(has_one))
    # By id: two fan-outs of the same events insert them in one order.
    new = sorted((each for each in events if each.id not in known), key=_id_of)
    if not new:
        return
    contexts = build_contexts(session, new)
    rows = [_row(event, contexts[event.id], now) for event in new]
    insert = postgresql.insert if is_postgres(session) else sqlite.insert
    # Two fan-outs of one event may meet here; the first one's words hold.
    session.execute(
        insert(_MESSAGES).on_conflict_do_nothing(index_elements=["id"]), rows
    )


def trial_message(congregation_id: UUID, now: datetime) -> WebhookMessage:
    """Return a message that tells of nothing."""
    id_ = new_id(now)
    told = {"message": "This is a test. Nothing happened."}
    return WebhookMessage(
        congregation_id=congregation_id,
        id=id_,
        type=TEST_TYPE,
        body=written(id_, TEST_TYPE, now, told),
        created_at=now,
    )


def written(id_: UUID, type_: str, at: datetime, data: Json) -> str:
    """Return a body: ``id``, ``type``, ``timestamp`` and ``data``."""
    letter = {"id": str(id_), "type": type_, "timestamp": at.isoformat(), "data": data}
    return json.dumps(letter, ensure_ascii=False, separators=(",", ":"))


def _id_of(event: Event) -> int:
    return event.id.int


def _row(event: Event, context: Json, now: datetime) -> dict[str, Any]:
    return {
        "id": event.id,
        "congregation_id": event.congregation_id,
        "event_id": event.id,
        "type": event.type,
        "body": written(event.id, event.type, event.occurred_at, context),
        "created_at": now,
    }
