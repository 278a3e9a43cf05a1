"""Work that takes minutes: claimed one at a time, watched, cancelled, taken back.

A long job stages what it reads in files or short transactions, and changes the
congregation's rows in one transaction at its end.  So after a death it is finished, or
nothing was changed.  The attempt is the fence: ``Progress.finish`` opens the
transaction of the changes, and raises when somebody else owns the job by now.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Final, Generic, TypeVar
from uuid import UUID

from sqlalchemy import ColumnElement, literal_column, select, text, update
from sqlalchemy.orm import Session, aliased

from tasks import doorbell
from tasks.backlogs import waiting
from tasks.backoff import Pauses, wait_after
from tasks.bulk import is_postgres
from tasks.errors import EngineError
from tasks.lane import Backlog, Bench
from tasks.models.congregation import Congregation
from tasks.models.long_job import LongJob, LongJobState
from tasks.rollups.long_jobs import counted
from tasks.rollups.rescued import note_rescued
from tasks.saying import mark
from tasks.saying.kept import said_of

#: How long a job belongs to a worker that does not report.
LEASE: Final = timedelta(minutes=2)
#: Progress is written this often at most, in seconds.
REPORT_SECONDS: Final = 1.0
_RUNNING: Final[ColumnElement[str]] = literal_column("'running'")
#: Who cancels a job waits so long for its row, in milliseconds.
CANCEL_WAIT_MS: Final = 2_000
_VANISHED: Final = mark("The worker vanished; nothing was changed.")
_BROKE: Final = mark(
    "Something broke on our side; nothing was changed. The log says more."
)

J = TypeVar("J", bound=LongJob)
#: Told, in the transaction that settles, of a job that did not end well.
OnEnd = Callable[[Session, J, datetime], None]


class JobLost(EngineError):
    """Somebody else owns the job now; nothing of this attempt may be kept."""


class JobCancelled(EngineError):
    """An operator cancelled the job."""


class WorkerStopping(EngineError):
    """The worker drains; the job is given back."""


class CannotDo(EngineError):
    """The job failed; the sentence, ``kept`` or marked, tells its operator why."""

    def __init__(self, code: str, sentence: str, *, may_pass: bool = False) -> None:
        super().__init__(sentence)
        self.code = code
        self.sentence = sentence
        self.may_pass = may_pass  # whether another try could work


@dataclass(frozen=True, slots=True)
class LongJobs(Generic[J]):
    """One table of long jobs, and how its lane treats them."""

    model: type[J]
    lane: str  # whose bell rings when one is queued again
    tries: int  # failures after which it has failed for good
    pauses: Pauses = Pauses()  # noqa: RUF009  # frozen

    def claim(self, session: Session, *, now: datetime, worker: str) -> J | None:
        """Take the oldest due job whose congregation has none running.

        Returns ``None`` when there is none, or another worker is taking it.
        """
        of, id_ = self._candidate(session, now) or (None, None)
        if of is None:
            return None
        # Two jobs of one congregation are claimed one after the other.
        session.execute(
            select(Congregation.id)
            .where(Congregation.id == of)
            .with_for_update(key_share=True)
        )
        row = session.scalars(
            select(self.model)
            .where(self.model.id == id_, *self._is_due(now))
            .with_for_update(skip_locked=True)
        ).first()
        if row is None:
            return None
        row.state = LongJobState.RUNNING
        row.attempt += 1
        row.worker = worker
        row.lease_until = now + LEASE
        row.started_at = now
        row.phase, row.progress_done, row.progress_total = "", 0, None
        session.flush()
        return row

    def ask_cancel(self, session: Session, row: J, now: datetime) -> bool:
        """Cancel a job: at once when it waits, else when its worker looks next.

        Returns whether it had not ended yet.

        Raises:
            sqlalchemy.exc.OperationalError: its worker is writing what it has made, so
                it is too late; roll back.
        """
        if is_postgres(session):
            session.execute(text(f"SET LOCAL lock_timeout = {CANCEL_WAIT_MS}"))
        locked = self._locked(session, row.id)
        if locked is None or not locked.is_open:
            return False
        locked.cancel_asked_at = locked.cancel_asked_at or now
        if locked.state is LongJobState.QUEUED:
            _end(locked, LongJobState.CANCELLED, now)
        return True

    def settle(self, session: Session, held: Held, error: Exception) -> J | None:
        """Write down why an attempt ended before its time.

        Returns the row as it is now; ``None``: somebody else owns it.
        """
        row = self._locked(session, held.id)
        if row is None or not held.owns(row):
            return None
        with counted(session, self.lane, row, held.clock()) as now:
            if isinstance(error, WorkerStopping):
                _queue(row, now)
                doorbell.ask(session, self.lane)
            elif isinstance(error, JobCancelled):
                _end(row, LongJobState.CANCELLED, now)
            else:
                self._fail(row, error, now)
        session.flush()
        return row

    def take_back(
        self, session: Session, now: datetime, limit: int, on_end: OnEnd[J]
    ) -> list[J]:
        """Let jobs whose worker vanished be tried again, or fail for good."""
        rows = session.scalars(
            select(self.model)
            .where(self.model.state == _RUNNING, self.model.lease_until < now)
            .order_by(self.model.lease_until, self.model.id)
            .limit(limit)
            .with_for_update(skip_locked=True)
        ).all()
        note_rescued(session, rows, now)
        for row in rows:
            with counted(session, self.lane, row, now):
                self._fail(row, CannotDo("vanished", _VANISHED, may_pass=True), now)
            if not row.is_open:
                on_end(session, row, now)
        if rows:
            doorbell.ask(session, self.lane)
        return list(rows)

    def backlog(self, session: Session, now: datetime) -> Backlog:
        """Return how many jobs are due."""
        return waiting(session, self.model.run_at, *self._is_due(now))

    def _is_due(self, now: datetime) -> tuple[ColumnElement[bool], ...]:
        other = aliased(self.model)
        is_busy = select(other.id).where(
            other.congregation_id == self.model.congregation_id,
            other.state == _RUNNING,
        )
        is_queued = self.model.state == literal_column("'queued'")
        return (is_queued, self.model.run_at <= now, ~is_busy.exists())

    def _candidate(self, session: Session, now: datetime) -> tuple[UUID, UUID] | None:
        found = session.execute(
            select(self.model.congregation_id, self.model.id)
            .where(*self._is_due(now))
            .order_by(self.model.run_at, self.model.id)
            .limit(1)
        ).first()
        return (found[0], found[1]) if found else None

    def _locked(self, session: Session, id_: UUID) -> J | None:
        return session.scalars(
            select(self.model)
            .where(self.model.id == id_)
            .with_for_update()
            .execution_options(populate_existing=True)
        ).first()

    def _fail(self, row: J, error: Exception, now: datetime) -> None:
        broke = CannotDo("broke", _BROKE, may_pass=True)
        why = error if isinstance(error, CannotDo) else broke
        row.error_code, row.error = why.code, why.sentence[:1000]
        row.error_said = said_of(why.sentence)
        row.failures += 1
        if row.cancel_asked_at is not None:
            _end(row, LongJobState.CANCELLED, now)
        elif not why.may_pass or row.failures >= self.tries:
            _end(row, LongJobState.FAILED, now)
        else:
            _queue(row, now + wait_after(row.failures, pauses=self.pauses))


@dataclass(frozen=True, slots=True)
class Held:
    """A job under way, and the attempt that fences it."""

    id: UUID
    congregation_id: UUID
    attempt: int
    clock: Callable[[], datetime]

    def owns(self, row: LongJob) -> bool:
        """Whether the row still belongs to this attempt."""
        return row.state is LongJobState.RUNNING and row.attempt == self.attempt


@dataclass(slots=True)
class Progress(Generic[J]):
    """What a long job calls while it works: it reports, and hears that it must end."""

    bench: Bench
    jobs: LongJobs[J]
    held: Held
    _reported: float = field(default=float("-inf"))
    _phase: str = ""

    def report(self, done: int, total: int | None, phase: str) -> None:
        """Show how far the job is, and renew its lease; call it often.

        Opens a short transaction once a second at most, or when the phase changes; so
        never call it while a transaction of yours is open.

        Raises:
            JobLost, JobCancelled, WorkerStopping: end the job now.
        """
        if self.bench.stopping.is_set():
            raise WorkerStopping
        moment = time.monotonic()
        if phase == self._phase and moment - self._reported < REPORT_SECONDS:
            return
        self._reported, self._phase = moment, phase
        model = self.jobs.model
        with self.bench.begin() as session:
            row = session.execute(
                update(model)
                .where(
                    model.id == self.held.id,
                    model.attempt == self.held.attempt,
                    model.state == LongJobState.RUNNING,
                )
                .values(
                    progress_done=done,
                    progress_total=total,
                    phase=phase,
                    lease_until=self.bench.clock() + LEASE,
                )
                .returning(model.cancel_asked_at)
                .execution_options(synchronize_session=False)
            ).first()
        if row is None:
            raise JobLost
        if row[0] is not None:
            raise JobCancelled

    def finish(self, session: Session) -> J:
        """Mark the job as done; the first statement of the transaction of its changes.

        The row stays locked until the commit, so nobody takes it back meanwhile.

        Raises:
            JobLost, JobCancelled: roll back.
        """
        row = self.jobs._locked(session, self.held.id)
        if row is None or not self.held.owns(row):
            raise JobLost
        if row.cancel_asked_at is not None:
            raise JobCancelled
        row.error = row.error_code = row.error_said = None
        row.progress_done = row.progress_total or row.progress_done
        with counted(session, self.jobs.lane, row, self.bench.clock()) as now:
            _end(row, LongJobState.DONE, now)
        session.flush()
        return row


def _end(row: LongJob, state: LongJobState, now: datetime) -> None:
    row.state = state
    row.ended_at = now
    row.lease_until = None


def _queue(row: LongJob, run_at: datetime) -> None:
    row.state, row.run_at = LongJobState.QUEUED, run_at
    row.lease_until = None
