"""Long jobs: one at a time for each congregation, fenced, cancelled, taken back."""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from uuid import UUID

import pytest
from sqlalchemy import select, update
from sqlalchemy.orm import Session, sessionmaker

from tasks.congregation.addresses.jobs import SYNCS
from tasks.lane import Bench
from tasks.long_jobs import (
    LEASE,
    CannotDo,
    Held,
    JobCancelled,
    JobLost,
    Progress,
    WorkerStopping,
)
from tasks.long_runs import run_next
from tasks.models import Sync, new_id
from tasks.models.long_job import LongJobState
from tasks.saying import language
from tasks.saying.kept import kept
from tests.support import factories
from tests.support.fakes import FakePost, bench

#: The pauses are those of the lane itself: 10 seconds, then 20.
JOBS = SYNCS
S = LongJobState


@dataclass
class Hall:
    """Jobs of a congregation, and workers whose clock can be moved."""

    make_session: sessionmaker[Session]
    now: datetime = factories.NOW
    ended: list[tuple[UUID, str]] = field(default_factory=list)

    def __post_init__(self) -> None:
        with self.make_session.begin() as session:
            self.of = factories.congregation(session)

    def bench(self, worker: str = "test") -> Bench:
        return bench(self.make_session, lambda: self.now, FakePost(), worker=worker)

    def add(self, of: UUID | None = None, **values: object) -> UUID:
        row = Sync(
            id=new_id(),
            congregation_id=of or self.of,
            requested_by="ada@example.org",
            run_at=self.now,
            **values,
        )
        with self.make_session.begin() as session:
            session.add(row)
        return row.id

    def job(self, id_: UUID) -> Sync:
        with self.make_session() as session:
            return session.scalars(select(Sync).where(Sync.id == id_)).one()

    def on_end(self, _session: Session, row: Sync, _now: datetime) -> None:
        self.ended.append((row.id, row.state.value))

    def run(self, work: Callable[[Sync, Progress[Sync]], None]) -> str | None:
        ran = run_next(self.bench(), JOBS, work, self.on_end)
        return ran[1] if ran else None

    def cancel(self, id_: UUID) -> bool:
        with self.make_session.begin() as session:
            row = session.get_one(Sync, id_)
            return JOBS.ask_cancel(session, row, self.now)

    def take_back(self) -> list[UUID]:
        with self.make_session.begin() as session:
            return [r.id for r in JOBS.take_back(session, self.now, 10, self.on_end)]


@pytest.fixture
def hall(make_session: sessionmaker[Session]) -> Hall:
    return Hall(make_session)


def finish(_row: Sync, progress: Progress[Sync]) -> None:
    with progress.bench.begin() as session:
        progress.finish(session)


def fails(_row: Sync, _progress: Progress[Sync]) -> None:
    raise ValueError("a mistake of ours")


def test_two_workers_never_have_two_jobs_of_one_congregation(hall: Hall) -> None:
    with hall.make_session.begin() as session:
        other = factories.congregation(session, "other")
    mine = {hall.add() for _ in range(3)}
    theirs = hall.add(other)
    ready = threading.Barrier(4)

    def claim(number: int) -> UUID | None:
        ready.wait(10)
        with hall.make_session.begin() as session:
            row = JOBS.claim(session, now=hall.now, worker=f"w{number}")
            return row.id if row else None

    taken: list[UUID] = []
    for _ in range(2):  # who looked at the same job at once looks again
        with ThreadPoolExecutor(4) as pool:
            taken += [id_ for id_ in pool.map(claim, range(4)) if id_]
    assert len(taken) == 2
    assert theirs in taken
    assert len(mine & set(taken)) == 1


def test_a_job_that_is_done_lets_the_next_one_begin(hall: Hall) -> None:
    first, second = hall.add(), hall.add()
    assert [hall.run(finish), hall.run(finish), hall.run(finish)] == [
        "done",
        "done",
        None,
    ]
    assert {hall.job(id_).state for id_ in (first, second)} == {S.DONE}


def test_progress_is_shown_and_renews_the_lease(hall: Hall) -> None:
    id_ = hall.add()

    def work(row: Sync, progress: Progress[Sync]) -> None:
        hall.now += LEASE - timedelta(seconds=1)
        progress.report(40, 100, "Reading")
        progress.report(41, 100, "Reading")  # too soon after the last to be written
        seen = hall.job(id_)
        assert (seen.progress_done, seen.progress_total) == (40, 100)
        assert (seen.phase, seen.lease_until) == ("Reading", hall.now + LEASE)
        finish(row, progress)

    assert hall.run(work) == "done"
    assert hall.job(id_).progress_done == 100


def test_who_was_given_up_can_neither_report_nor_finish(hall: Hall) -> None:
    id_ = hall.add()

    def work(row: Sync, progress: Progress[Sync]) -> None:
        hall.now += LEASE + timedelta(seconds=1)
        assert hall.take_back() == [id_]
        with pytest.raises(JobLost):
            progress.report(1, None, "Reading")
        finish(row, progress)

    assert hall.run(work) == "lost"
    job = hall.job(id_)
    assert (job.state, job.failures, job.error_code) == (S.QUEUED, 1, "vanished")
    assert hall.ended == []


def test_a_stale_worker_does_not_settle_the_next_attempt(hall: Hall) -> None:
    id_ = hall.add()
    with hall.make_session.begin() as session:
        JOBS.claim(session, now=hall.now, worker="old")
    hall.now += LEASE + timedelta(minutes=1)
    hall.take_back()
    hall.now += timedelta(hours=1)
    with hall.make_session.begin() as session:
        row = JOBS.claim(session, now=hall.now, worker="new")
        assert row is not None
        assert row.attempt == 2
    stale = Held(id_, hall.of, 1, lambda: hall.now)
    with hall.make_session.begin() as session:
        assert JOBS.settle(session, stale, WorkerStopping()) is None
    assert hall.job(id_).worker == "new"


def test_three_vanished_workers_fail_a_job_for_good(hall: Hall) -> None:
    id_ = hall.add()
    for _ in range(3):
        with hall.make_session.begin() as session:
            assert JOBS.claim(session, now=hall.now, worker="w")
        hall.now += timedelta(hours=1)
        hall.take_back()
        hall.now += timedelta(hours=1)
    assert hall.job(id_).state is S.FAILED
    assert hall.ended == [(id_, "failed")]
    assert hall.take_back() == []


def test_a_mistake_is_tried_again_later_and_then_told(hall: Hall) -> None:
    id_ = hall.add()
    for seconds in (10, 20):
        assert hall.run(fails) == "queued"
        pause = (hall.job(id_).run_at - hall.now).total_seconds()
        assert seconds <= pause <= 1.2 * seconds
        hall.now += timedelta(seconds=pause)
    last = hall.run(fails)
    job = hall.job(id_)
    assert (last, job.error_code) == ("failed", "broke")
    assert "nothing was changed" in (job.error or "")
    assert hall.ended == [(id_, "failed")]


def test_what_cannot_be_done_is_tried_again_only_if_it_may_pass(hall: Hall) -> None:
    hall.add()

    def cannot(*, may_pass: bool) -> Callable[[Sync, Progress[Sync]], None]:
        def work(_row: Sync, _progress: Progress[Sync]) -> None:
            raise CannotDo("far_away", "The host is away.", may_pass=may_pass)

        return work

    assert hall.run(cannot(may_pass=True)) == "queued"
    hall.now += timedelta(days=1)
    assert hall.run(cannot(may_pass=False)) == "failed"


def test_why_a_job_failed_is_kept_in_english_and_said_in_any_language(
    hall: Hall,
) -> None:
    id_ = hall.add()

    def work(_row: Sync, _progress: Progress[Sync]) -> None:
        raise CannotDo("silent", kept("%(host)s fell silent.", host="example.org"))

    hall.run(work)
    job = hall.job(id_)
    token = language.set("fr")
    try:
        in_french = job.problem
    finally:
        language.reset(token)
    assert job.error == job.problem == "example.org fell silent."
    assert in_french == "example.org ne répond plus."


def test_a_waiting_job_is_cancelled_at_once_and_a_running_one_soon(hall: Hall) -> None:
    id_ = hall.add()
    assert hall.cancel(id_)
    assert hall.job(id_).state is S.CANCELLED
    assert not hall.cancel(id_)
    running = hall.add()

    def work(_row: Sync, progress: Progress[Sync]) -> None:
        assert hall.cancel(running)
        progress.report(1, None, "Reading")

    assert hall.run(work) == "cancelled"
    assert hall.ended == [(running, "cancelled")]


def test_a_job_that_is_cancelled_before_its_last_deed_changes_nothing(
    hall: Hall,
) -> None:
    id_ = hall.add()

    def work(_row: Sync, progress: Progress[Sync]) -> None:
        hall.cancel(id_)
        with progress.bench.begin() as session, pytest.raises(JobCancelled):
            progress.finish(session)
        raise JobCancelled

    assert hall.run(work) == "cancelled"


def test_a_cancelled_job_whose_worker_vanished_is_cancelled(hall: Hall) -> None:
    id_ = hall.add()
    with hall.make_session.begin() as session:
        JOBS.claim(session, now=hall.now, worker="w")
    hall.cancel(id_)
    hall.now += LEASE + timedelta(seconds=1)
    hall.take_back()
    assert hall.job(id_).state is S.CANCELLED


def test_a_stopping_worker_gives_its_job_back_unharmed(hall: Hall) -> None:
    id_ = hall.add()

    def work(_row: Sync, progress: Progress[Sync]) -> None:
        progress.bench.stopping.set()
        progress.report(1, None, "Reading")

    assert hall.run(work) == "queued"
    job = hall.job(id_)
    assert (job.failures, job.run_at, job.lease_until) == (0, hall.now, None)


def test_an_error_in_the_last_transaction_leaves_the_job_to_be_tried_again(
    hall: Hall,
) -> None:
    id_ = hall.add()

    def work(_row: Sync, progress: Progress[Sync]) -> None:
        with progress.bench.begin() as session:
            progress.finish(session)
            session.execute(update(Sync).values(data_from=hall.now.date()))
            raise ValueError("a mistake of ours")

    assert hall.run(work) == "queued"
    job = hall.job(id_)
    assert (job.state, job.data_from, job.ended_at) == (S.QUEUED, None, None)


def test_the_backlog_counts_what_could_begin_now(hall: Hall) -> None:
    hall.add()
    with hall.make_session() as session:
        assert JOBS.backlog(session, hall.now).n_due == 1
    with hall.make_session.begin() as session:
        JOBS.claim(session, now=hall.now, worker="w")
    hall.add()
    with hall.make_session() as session:
        found = JOBS.backlog(session, hall.now)
    assert (found.n_due, found.oldest_due_at) == (0, None)
