"""What work has in common that takes minutes and is watched by an operator."""

from __future__ import annotations

from datetime import datetime
from enum import StrEnum
from typing import Final

from sqlalchemy import BigInteger, String
from sqlalchemy.orm import Mapped, mapped_column

from tasks.clock import utcnow
from tasks.models.base import Id, Json, OfCongregation, word
from tasks.saying.kept import told


class LongJobState(StrEnum):
    """Where a long job is in its life."""

    QUEUED = "queued"  # also between two tries
    RUNNING = "running"
    DONE = "done"
    FAILED = "failed"  # nothing was changed
    CANCELLED = "cancelled"  # by an operator; nothing was changed


#: States that it never leaves.
ENDED: Final = (LongJobState.DONE, LongJobState.FAILED, LongJobState.CANCELLED)
#: For partial indexes: what a lane looks at.
IS_OPEN: Final = "state IN ('queued', 'running')"


class LongJob(OfCongregation):
    """Columns of a row that is one long piece of work; ``tasks.long_jobs`` moves it.

    A table of them has a partial unique index on ``congregation_id`` where ``state =
    'running'``, and one on ``(run_at, id)`` where ``IS_OPEN``.
    """

    id: Mapped[Id]
    state: Mapped[LongJobState] = mapped_column(
        word(LongJobState), default=LongJobState.QUEUED
    )
    requested_by: Mapped[str] = mapped_column(String(255))
    requested_at: Mapped[datetime] = mapped_column(default=utcnow)
    run_at: Mapped[datetime] = mapped_column(default=utcnow)  # when a lane takes it
    attempt: Mapped[int] = mapped_column(default=0)  # the fence; only rises
    failures: Mapped[int] = mapped_column(default=0)  # counts against the lane's tries
    lease_until: Mapped[datetime | None]  # None: nobody is at it
    worker: Mapped[str | None] = mapped_column(String(64))
    started_at: Mapped[datetime | None]  # of the latest attempt
    ended_at: Mapped[datetime | None]
    phase: Mapped[str] = mapped_column(String(60), default="")  # for operators
    progress_done: Mapped[int] = mapped_column(BigInteger, default=0)
    progress_total: Mapped[int | None] = mapped_column(BigInteger)  # None: unknown
    cancel_asked_at: Mapped[datetime | None]  # who works on it looks now and then
    error_code: Mapped[str | None] = mapped_column(String(40))
    error: Mapped[str | None] = mapped_column(String(1000))  # a sentence, in English
    # The same as ``tasks.saying.kept`` has it, for pages in other languages.
    error_said: Mapped[Json | None]

    @property
    def is_open(self) -> bool:
        """Whether it still has to be done, or is being done."""
        return self.state not in ENDED

    @property
    def problem(self) -> str:
        """Why it failed, in the present language; empty: it did not."""
        return told(self.error or "", self.error_said)
