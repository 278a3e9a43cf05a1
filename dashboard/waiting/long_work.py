"""Why a long job waits though it is due: its lane is at others."""

from __future__ import annotations

from typing import Final

from sqlalchemy import literal_column, select
from sqlalchemy.orm import Session

from tasks.models import Sync, Transfer
from tasks.saying import say, say_many

#: Jobs under way that are looked at.
_RUNNING_MAX: Final = 200


def busy(session: Session, row: Sync | Transfer, n_workers: int) -> str | None:
    """Return why no worker begins a due job, in a sentence; None: nothing keeps one.

    Args:
        n_workers: How many jobs the lane does at once.
    """
    # The table itself, past the scope of who looks: also a job of a congregation that
    # they do not see keeps a worker busy.  Nothing else of it is told.
    of = type(row).__table__.c
    is_running = of.state == literal_column("'running'")
    running = session.scalars(
        select(of.congregation_id).where(is_running).limit(_RUNNING_MAX)
    ).all()
    if row.congregation_id in running:
        return say(
            "Another one of this congregation is under way; they go one after the "
            "other."
        )
    if running and len(running) >= n_workers > 0:
        return say_many(
            n_workers,
            "Its lane does one at a time, and is at another one.",
            "Its lane does %(n)s at a time, and is at others.",
            n=n_workers,
        )
    return None
