"""The one place that asks what time it is."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from datetime import UTC, datetime, timedelta

from sqlalchemy import Engine, text

#: Returns the current instant, aware and in UTC.
Clock = Callable[[], datetime]
#: An answer, and when it came, monotonic.
_Anchor = tuple[datetime, float]


def utcnow() -> datetime:
    """Return this machine's current instant in UTC."""
    return datetime.now(UTC)


class DatabaseClock:
    """The database's time, asked for now and then and carried on monotonically.

    Several machines share one database, so its clock decides what is due; a jump of
    this machine's wall clock changes nothing.  SQLite has no clock of its own: there
    the wall clock of this machine is read at every anchor.
    """

    #: How long one answer of the database is carried on before it is asked again.
    ANCHOR_FOR = timedelta(seconds=10)

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._lock = threading.Lock()
        self._anchor: _Anchor | None = None

    def __call__(self) -> datetime:
        """Return the database's current instant.

        Raises:
            sqlalchemy.exc.OperationalError: the database does not answer.
        """
        anchor = self._anchor
        if anchor is None or _age(anchor) > self.ANCHOR_FOR.total_seconds():
            anchor = self._asked_again()
        return anchor[0] + timedelta(seconds=_age(anchor))

    def skew(self) -> timedelta:
        """Return how far this machine's wall clock runs ahead of the database's."""
        return utcnow() - self._ask()

    def _asked_again(self) -> _Anchor:
        """Return a new answer, or the last one while somebody else asks.

        Nobody waits for who asks: that may wait for a connection, and all others may
        hold one.
        """
        if self._lock.acquire(blocking=self._anchor is None):
            try:
                self._anchor = (self._ask(), time.monotonic())
            finally:
                self._lock.release()
        assert self._anchor is not None  # noqa: S101  # else it waited, and asked
        return self._anchor

    def _ask(self) -> datetime:
        if self._engine.dialect.name != "postgresql":
            return utcnow()
        with self._engine.connect() as connection:
            answer: datetime = connection.execute(
                text("SELECT clock_timestamp()")
            ).scalar_one()
        return answer.astimezone(UTC)


def _age(anchor: _Anchor) -> float:
    return time.monotonic() - anchor[1]
