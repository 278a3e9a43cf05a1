"""Reading a list to its end, batch by batch, and telling the audit log of it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Final
from uuid import UUID

from sqlalchemy import Engine
from sqlalchemy.orm import Session

from dashboard.exports.files import Row
from dashboard.exports.source import Source
from dashboard.paging import paginate
from tasks.db import Congregations, CongregationSession, reading, set_scope
from tasks.models.base import Json
from tasks.operations.audit import Actor, Subject, record

#: Rows of one file; the newest ones are written.
EXPORT_MAX: Final = 100_000
_BATCH: Final = 500


@dataclass(slots=True)
class Reading:
    """One export under way.

    It outlives the request's session, so it opens its own: one short transaction for
    each batch, which holds back nobody.
    """

    engine: Engine
    scope: Congregations
    source: Source
    actor: Actor
    asked: Json  # what was asked for, as the audit log shows it
    limit: int = EXPORT_MAX
    n: int = 0
    is_whole: bool = False  # the end of the list was reached
    #: By congregation; None: rows of the installation, or of several of them.
    n_of: Counter[UUID | None] = field(default_factory=Counter)

    def batches(self) -> Iterator[Sequence[Row]]:
        """Yield the rows; afterwards, and when it is broken off, the log is told."""
        cursor: str | None = None
        try:
            while self.n < self.limit:
                rows, cursor = self._next(cursor)
                yield rows
                if cursor is None:
                    self.is_whole = True
                    break
        finally:
            with self._session() as session, session.begin():
                self._tell(session)

    def _next(self, cursor: str | None) -> tuple[Sequence[Row], str | None]:
        size = min(_BATCH, self.limit - self.n)
        source = self.source
        with self._session() as session:
            reading(session)
            page = paginate(session, source.statement, source.keys, cursor, size)
            self.n_of.update(_owner(found[0]) for found in page.rows)
            self.n += len(page.rows)
            return [source.row(found) for found in page.rows], page.next_cursor

    def _session(self) -> Session:
        session = CongregationSession(self.engine)
        set_scope(session, self.scope)
        return session

    def _tell(self, session: Session) -> None:
        """Leave one entry for each congregation: nobody reads about another's rows."""
        many = self.source.search.of.many
        for congregation_id, n in self.n_of.items():
            record(
                session,
                self.actor,
                "export.ended",
                Subject("export", self.source.search.of.word, congregation_id),
                f"Exported {n} {many}{'' if self.is_whole else ', not all'}.",
                after={**self.asked, "rows": n, "whole": self.is_whole},
            )


def _owner(row: Any) -> UUID | None:  # noqa: ANN401  # a row of any table
    """Return whose a row is; None: the installation's, as runs of lanes are."""
    owner: UUID | None = getattr(row, "congregation_id", None)
    return owner
