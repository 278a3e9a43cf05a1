"""The one place that asks what time it is."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from datetime import UTC, datetime, timedelta

from sqlalchemy import Engine, text

#: Returns the current instant, aware and in UTC.
Clock = Callable[[], datetime]


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
        self._anchor: tuple[datetime, float] | None = None

    def __call__(self) -> datetime:
        """Return the database's current instant.

        Raises:
            sqlalchemy.exc.OperationalError: the database does not answer.
        """
        with self._lock:
            if self._anchor is None or self._age() > self.ANCHOR_FOR.total_seconds():
                self._anchor = (self._ask(), time.monotonic())
            instant, _ = self._anchor
            return instant + timedelta(seconds=self._age())

    def skew(self) -> timedelta:
        """Return how far this machine's wall clock runs ahead of the database's."""
        return utcnow() - self._ask()

    def _age(self) -> float:
        return 0.0 if self._anchor is None else time.monotonic() - self._anchor[1]

    def _ask(self) -> datetime:
        if self._engine.dialect.name != "postgresql":
            return utcnow()
        with self._engine.connect() as connection:
            answer: datetime = connection.execute(
                text("SELECT clock_timestamp()")
            ).scalar_one()
        return answer.astimezone(UTC)
