"""A whole installation to ill-treat: workers, a producer, receivers, and the check."""

from __future__ import annotations

import random
import signal
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path
from typing import Any, Final
from uuid import UUID

from sqlalchemy import Engine, func, select
from sqlalchemy.engine import URL
from sqlalchemy.orm import Session

from tasks import migrations, queue
from tasks.clock import utcnow
from tasks.config import Config
from tasks.db import make_engine, sessions
from tasks.lanes.executions import AT_ONCE
from tasks.models import Execution, Rule, ScheduledJob
from tasks.models.execution import SETTLED
from tasks.models.scheduled_job import JobState
from tasks.registry import lane
from tasks.secrets import SecretBox, new_webhook_secret
from tests.chaos.checker import History, check
from tests.chaos.evidence import collect
from tests.chaos.producer import Producer
from tests.support import factories
from tests.support.hook_sink import HookSink, Reply
from tests.support.processes import environment, readiness, start_worker, until
from tests.support.servers import free_port
from tests.support.sinks import JsonLog
from tests.support.smtp_sink import Mail, SmtpSink
from tests.support.warm import WarmProcess

#: Rules that listen to the producer's events: a mail and a webhook.
N_RULES: Final = 2
#: Effects that one worker may have under way when it dies.
IN_FLIGHT: Final = lane("executions").workers * AT_ONCE
LEASE_SECONDS: Final = 2
#: For tests without kills: a lease that a busy machine does not let lapse.
CALM: Final = {"LEASE_SECONDS": "60"}
_PAUSE: Final = 0.01  # seconds a receiver takes, so that faults find work under way


@dataclass
class Installation:
    """What a chaos test needs to reach."""

    folder: Path
    environ: dict[str, str]
    engine: Engine
    tenant: UUID
    producer: Producer
    mails: SmtpSink
    hooks: HookSink
    workers: list[WarmProcess] = field(default_factory=list)
    ports: dict[int, int] = field(default_factory=dict)  # pid: health port
    n_ambiguous: int = 0  # repeats that the faults so far explain
    cancelled: dict[str, float] = field(default_factory=dict)

    @property
    def begin(self) -> Any:
        """Open one transaction of the test's own."""
        return sessions(self.engine).begin

    def leases_take(self, seconds: int) -> None:
        """Let workers that start from now on have longer leases than usual."""
        self.environ["LEASE_SECONDS"] = str(seconds)

    def start(self, n: int = 1, **settings: str) -> list[WarmProcess]:
        """Start workers and return at once."""
        started = []
        for _ in range(n):
            port = free_port()
            process = start_worker(self.environ | settings | {"HEALTH_PORT": str(port)})
            self.ports[process.pid] = port
            started.append(process)
        self.workers += started
        return started

    def ready(self, process: WarmProcess, timeout: float = 60) -> None:
        """Wait until a worker says that it is ready."""
        until(lambda: readiness(self.ports[process.pid])[0] == 200, timeout, 0.1)

    def someone(self, chance: random.Random) -> WarmProcess:
        """Choose a worker; one that holds leases, if any does."""
        with self.begin() as session:
            holders = session.scalars(
                select(Execution.worker).where(Execution.worker.is_not(None)).distinct()
            )
            pids = {int(each.split(":")[1]) for each in holders}
        busy = [each for each in self.workers if each.pid in pids]
        return chance.choice(busy or self.workers)

    def kill(self, process: WarmProcess) -> None:
        """kill -9, as the kernel does when memory is short."""
        process.kill()
        self.died(process)

    def died(self, process: WarmProcess, in_flight: int = IN_FLIGHT) -> None:
        """Wait for a worker that is killed, and count what its death explains."""
        assert process.wait(60) == -signal.SIGKILL
        self.workers.remove(process)
        self.n_ambiguous += in_flight

    def stop(self, process: WarmProcess, timeout: float = 40) -> None:
        """Ask a worker to end, and see that it ends well."""
        process.terminate()
        assert process.wait(timeout) == 0, self.log[-4000:]
        self.workers.remove(process)

    def drain(self, timeout: float = 120) -> None:
        """Wait until everything is settled, then stop the workers."""
        until(lambda: self.n_open() == 0, timeout, 0.1)
        for process in list(self.workers):
            self.ready(process)  # before that, SIGTERM just ends it
            self.stop(process)

    def n_open(self) -> int:
        """Return how many executions and jobs have not ended."""
        with self.begin() as session:
            executions = _count(session, Execution.state.not_in(SETTLED))
            return executions + _count(session, ScheduledJob.state == JobState.PENDING)

    def n_arrived(self) -> int:
        """Return how much the receivers got."""
        return len(self.mails.mails) + len(self.hooks.requests)

    def flows(self, n: int = 1, timeout: float = 60) -> None:
        """Wait until ``n`` more arrive, or until there is nothing to wait for."""
        goal = self.n_arrived() + n
        until(lambda: self.n_arrived() >= goal or not self.n_open(), timeout)

    def plan(self, n: int) -> frozenset[str]:
        """Add scheduled jobs that are due, and return their ids once committed."""
        now = utcnow()
        with self.begin() as session:
            reminder = session.scalars(
                select(Rule).where(Rule.trigger_type == "time.before_recording")
            ).one()
            jobs = [
                factories.job(
                    session,
                    reminder,
                    due_at=now,
                    run_at=now,
                    created_at=now,
                    reference_at=now + timedelta(hours=24),
                ).id
                for _ in range(n)
            ]
        return frozenset(map(str, jobs))

    def history(self, **values: Any) -> History:
        """Put together what is known now."""
        return collect(
            self.engine,
            self.folder / "producer.jsonl",
            self.folder / "arrivals.jsonl",
            lease=float(self.environ["LEASE_SECONDS"]),
            n_ambiguous=self.n_ambiguous,
            cancelled=self.cancelled,
            **values,
        )

    def check(self, **values: Any) -> History:
        """Fail on any violation; returns the history to look at further."""
        history = self.history(**values)
        violations = check(history)
        assert not violations, violations[:10]
        return history

    @property
    def log(self) -> str:
        """What the workers wrote."""
        path = self.folder / "worker.log"
        return path.read_text(errors="replace") if path.exists() else ""


def _count(session: Session, condition: Any) -> int:
    return session.scalar(select(func.count()).where(condition)) or 0


@contextmanager
def installation(
    url: URL, redis_url: str, folder: Path, **settings: str
) -> Iterator[Installation]:
    """Migrate an empty database, add rules, and clean up whatever the test leaves."""
    log = JsonLog(folder / "arrivals.jsonl")

    def on_mail(mail: Mail) -> None:
        log.mail(mail)
        time.sleep(_PAUSE)

    with SmtpSink(on_mail=on_mail) as mails, HookSink(on_hook=log.hook) as hooks:
        hooks.answer("/hook", Reply(delay=_PAUSE))
        environ = _environment(url, redis_url, folder, mails, hooks) | settings
        config = Config.from_environ(environ)
        queue.configure(config)
        engine = make_engine(url, loop_rate=config.loop_rate)
        migrations.upgrade(engine)
        with sessions(engine).begin() as session:
            tenant = _fill(session, config, hooks.url("/hook"))
        producer = Producer(engine, tenant, folder / "producer.jsonl", N_RULES)
        made = Installation(folder, environ, engine, tenant, producer, mails, hooks)
        try:
            yield made
        finally:
            for process in made.workers:
                process.kill()
                process.wait()
            producer.close()
            engine.dispose()
    log.close()


def _environment(
    url: URL, redis_url: str, folder: Path, mails: SmtpSink, hooks: HookSink
) -> dict[str, str]:
    return environment(
        folder,
        DATABASE_URL=url.render_as_string(hide_password=False),
        REDIS_URL=redis_url,
        SMTP_URL=mails.url,
        WEBHOOK_HTTP="1",
        WEBHOOK_ALLOW="127.0.0.0/8",
        WEBHOOK_PORTS=str(hooks.port),
        LEASE_SECONDS=str(LEASE_SECONDS),
        RESCUE_SECONDS="1",
        LOOP_RATE="100000",  # the producer means it: one booking, again and again
    )


def _fill(session: Session, config: Config, hook_url: str) -> UUID:
    tenant = factories.congregation(session)
    now = utcnow()
    factories.booking(
        session, tenant, start_time=now + timedelta(days=2), confirmed_at=now
    )
    factories.rule(session, tenant, max_attempts=10)
    factories.rule(
        session,
        tenant,
        name="Tell the site",
        action="webhook",
        settings={"url": hook_url},
        secret=SecretBox(config.secret_key).seal(new_webhook_secret()),
        max_attempts=10,
    )
    factories.reminder(session, tenant)
    return tenant
