"""Executions that a worker holds."""

from __future__ import annotations

from sqlalchemy.orm import Session

from tasks.executing.claiming import Running, lease, take
from tasks.lane import Bench


def claim(session: Session, bench: Bench, *, limit: int) -> list[Running]:
    """Take up to ``limit`` due executions and begin their attempts."""
    taken = take(session, bench, limit=limit)
    lease(session, bench, taken)
    return taken
