"""kill -9 of the worker in the middle of its work: nothing is lost."""

from __future__ import annotations

import os
import random
import signal
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from uuid import UUID

import pytest
from sqlalchemy import Engine, func, select
from sqlalchemy.engine import URL

from tasks import migrations
from tasks.db import make_engine, sessions
from tasks.models import Attempt, Execution, ExecutionState
from tasks.models.execution import SETTLED
from tests.support import factories
from tests.support.processes import environment, readiness, start_worker, until
from tests.support.smtp_sink import Mail, SmtpSink

N_EXECUTIONS = int(os.environ.get("EXECUTIONS", "300"))
N_KILLS = int(os.environ.get("KILLS", "3"))
SEED = int(os.environ.get("SEED", str(random.SystemRandom().randrange(10**6))))


@pytest.fixture(params=["sqlite", "postgresql"])
def stack(request: pytest.FixtureRequest) -> tuple[URL, str]:
    """Return database and broker: SQLite + SQLite, then PostgreSQL + Redis."""
    if request.param == "sqlite":
        return request.getfixturevalue("sqlite_url"), ""
    return (
        request.getfixturevalue("postgres_url"),
        request.getfixturevalue("redis_url"),
    )


@pytest.fixture
def slow_mails() -> Iterator[SmtpSink]:
    """A mail server that needs a moment for each mail, so that kills find work."""

    def pause(_mail: Mail) -> None:
        time.sleep(0.01)

    with SmtpSink(on_mail=pause) as sink:
        yield sink


def _fill(engine: Engine) -> set[UUID]:
    with sessions(engine).begin() as session:
        tenant = factories.congregation(session)
        factories.booking(session, tenant)
        rule = factories.rule(session, tenant)
        return {factories.execution(session, rule).id for _ in range(N_EXECUTIONS)}


def _n_open(engine: Engine) -> int:
    with sessions(engine)() as session:
        return session.scalar(
            select(func.count())
            .select_from(Execution)
            .where(Execution.state.not_in(SETTLED))
        )


@pytest.mark.timeout(300)
def test_killed_workers_lose_nothing(
    stack: tuple[URL, str], tmp_path: Path, slow_mails: SmtpSink
) -> None:
    print(f"SEED={SEED} KILLS={N_KILLS}")  # noqa: T201  # to replay a failure
    chance = random.Random(SEED)
    url, redis_url = stack
    environ = environment(
        tmp_path,
        DATABASE_URL=url.render_as_string(hide_password=False),
        REDIS_URL=redis_url,
        SMTP_URL=slow_mails.url,
        LEASE_SECONDS="2",
        RESCUE_SECONDS="1",
    )
    engine = make_engine(url)
    migrations.upgrade(engine)
    ids = _fill(engine)

    for _ in range(N_KILLS):
        process = start_worker(environ)
        n_before = len(slow_mails.mails)
        until(lambda n=n_before: len(slow_mails.mails) > n or not _n_open(engine), 60)
        time.sleep(chance.uniform(0.0, 0.3))
        process.kill()
        process.wait()
        assert process.returncode == -signal.SIGKILL
    last = start_worker(environ)
    try:
        until(lambda: _n_open(engine) == 0, 120, every=0.2)
        until(lambda: readiness(int(environ["HEALTH_PORT"]))[0] == 200, 10)
    finally:
        last.terminate()
        assert last.wait(40) == 0

    _check(engine, ids, slow_mails.mails)
    engine.dispose()


def _check(engine: Engine, ids: set[UUID], mails: list[Mail]) -> None:
    sent = Counter(UUID(str(mail.message["X-Carillon-Execution"])) for mail in mails)
    with sessions(engine)() as session:
        states = dict(session.execute(select(Execution.id, Execution.state)).all())
        attempts: Counter[UUID] = Counter(session.scalars(select(Attempt.execution_id)))
        open_attempts = session.scalars(
            select(Attempt.execution_id).where(Attempt.outcome.is_(None))
        ).all()
    lost = {
        id_
        for id_ in ids
        if states[id_] is ExecutionState.SUCCEEDED and id_ not in sent
    }
    assert not lost
    assert set(states.values()) <= {
        ExecutionState.SUCCEEDED,
        ExecutionState.QUARANTINED,
    }
    # Whatever came twice came under the same id, and its attempts tell of it.
    assert all(n <= attempts[id_] for id_, n in sent.items())
    assert not open_attempts
