"""A table of which PostgreSQL knows nothing yet, and what must not wait until it does.

It looks at a new table within a minute or so.  Until then it takes the smallest index
that would do; a connection that checks its first foreign key then goes on with it, and
reads all jobs of a congregation for each row that points to one.
"""

from __future__ import annotations

from typing import Final

from sqlalchemy import text
from sqlalchemy.orm import Session

from tasks.bulk import is_postgres

#: Fewer jobs are read in no time, whatever the index.
MANY: Final = 200
#: Also what it has only seen empty.
_IS_UNKNOWN: Final = text(
    "SELECT reltuples < 1 FROM pg_class WHERE oid = 'scheduled_jobs'::regclass"
)
_LOOK: Final = text("ANALYZE (SKIP_LOCKED) scheduled_jobs")


def let_know(session: Session, n: int) -> None:
    """Let PostgreSQL look at scheduled jobs once ``n`` were inserted, if it never has.

    To be asked before rows are inserted that point to them.  Nobody waits: where
    another one looks already, or we may not, nothing happens.
    """
    if n >= MANY and is_postgres(session) and session.scalar(_IS_UNKNOWN):
        session.execute(_LOOK)
