"""One verb on all rows that match, as an operator who confirms it at once."""

from __future__ import annotations

from datetime import datetime

from sqlalchemy.orm import Session

from tasks.models import OperationKind, new_id
from tasks.models.base import Json
from tasks.operations.audit import Actor
from tasks.operations.kinds import Asked
from tasks.operations.many import n_meant
from tasks.operations.starting import start


def do_all(
    session: Session, kind: OperationKind, matching: Json, actor: Actor, now: datetime
) -> int:
    """Do it to what is one piece at most; returns how many rows were changed."""
    asked = Asked(kind, matching, now)
    if not n_meant(session, asked):
        return 0
    return start(session, new_id(), asked, actor, now=now).n_changed
