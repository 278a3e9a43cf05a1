"""One verb on one row: conditional, so that a second press changes nothing."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from enum import StrEnum
from typing import Any, Final
from uuid import UUID

from sqlalchemy import select
from sqlalchemy.orm import Session

from tasks.errors import NotFound
from tasks.operations.audit import Actor, Subject, record
from tasks.operations.bulk import Verb, change
from tasks.operations.matching import Model
from tasks.saying import mark, say

_UNKNOWN: Final = {
    "execution": mark("There is no such execution."),
    "scheduled_job": mark("There is no such scheduled job."),
}


class Answer(StrEnum):
    """What became of one row."""

    DONE = "done"
    ALREADY = "already"  # it was so before, or somebody was quicker


def change_one(
    session: Session,
    verb: Verb,
    id_: UUID,
    actor: Actor,
    now: datetime,
    after: Mapping[str, Any],
) -> bool:
    """Change a row if its state allows it, and audit that; False: it does not.

    Args:
        after: the columns that the audit entry shows, with their new values.

    Raises:
        NotFound: the session sees no such row.
    """
    before = columns_of(session, verb.model, id_, *after)
    changed = change(session, verb, [id_], now)
    for congregation_id, _ in changed:
        record(
            session,
            actor,
            verb.name,
            Subject(verb.kind, str(id_), congregation_id),
            verb.summary(1),
            before={name: _json(before[name]) for name in after},
            after={name: _json(value) for name, value in after.items()},
        )
    return bool(changed)


def columns_of(
    session: Session, model: Model, id_: UUID, *names: str
) -> dict[str, Any]:
    """Return some columns of a row as the database has them now.

    Raises:
        NotFound: the session sees no such row.
    """
    columns = [model.id, *(getattr(model, name) for name in names)]
    row = session.execute(select(*columns).where(model.id == id_)).one_or_none()
    if row is None:
        noun = model.__tablename__.rstrip("s")
        raise NotFound(f"unknown_{noun}", say(_UNKNOWN[noun]))
    return dict(row._mapping)


def _json(value: object) -> object:
    if isinstance(value, datetime):
        return value.isoformat()
    return value.value if isinstance(value, StrEnum) else value
