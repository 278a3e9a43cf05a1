"""An installation as users start it, ``carillon run``, and as a producer calls it."""

from __future__ import annotations

import json
import re
import signal
import subprocess
import sys
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import Any

from sqlalchemy import make_url, select

from dashboard.operators.setup import new_setup_link
from tasks import migrations
from tasks.db import make_engine, sessions
from tasks.models import Congregation, ScheduledJob
from tests.support.processes import ROOT, environment, until
from tests.support.servers import free_port
from tests.support.smtp_sink import Mail, SmtpSink

PASSWORD = "three bells at noon"


@dataclass(slots=True)
class Carillon:
    """A running installation, as its operator sees it."""

    url: str
    setup_link: str
    mails: SmtpSink
    token: str = ""
    #: The congregation whose token it is; tests that share a console have one each.
    slug: str = "bonifatius"
    database: Path = Path("carillon.db")

    def call(self, method: str, path: str, body: Any = None) -> Any:
        """Call the API as a producer does; a refusal raises ``HTTPError``."""
        request = urllib.request.Request(
            f"{self.url}/api/v1{path}",
            method=method,
            data=json.dumps(body or {}).encode(),
            headers={
                "Authorization": f"Bearer {self.token}",
                "Content-Type": "application/json",
            },
        )
        with urllib.request.urlopen(request, timeout=30) as answer:
            return json.load(answer)

    def let_pass(self, booking_id: str, span: timedelta) -> None:
        """Let the time of a booking's jobs come nearer; nobody can wait for that."""
        engine = make_engine(make_url(f"sqlite:///{self.database}"))
        ours = select(Congregation.id).where(Congregation.slug == self.slug)
        with sessions(engine).begin() as session:
            for job in session.scalars(
                select(ScheduledJob).where(
                    ScheduledJob.congregation_id == ours.scalar_subquery(),
                    ScheduledJob.booking_id == booking_id,
                )
            ):
                job.due_at, job.run_at = job.due_at - span, job.run_at - span
        engine.dispose()

    @property
    def guests_domain(self) -> str:
        """Where the congregation's guests have their addresses."""
        return f"@{self.slug}.example"

    def letters(self, n: int) -> list[Mail]:
        """Return the mails to the congregation's guests, once there are ``n``."""

        def arrived() -> list[Mail]:
            found = [mail for mail in [*self.mails.mails] if self._is_ours(mail)]
            return found if len(found) >= n else []

        return until(arrived, 40) if n else arrived()

    def _is_ours(self, mail: Mail) -> bool:
        return any(to.endswith(self.guests_domain) for to in mail.recipients)


@contextmanager
def running(
    environ: dict[str, str], pattern: str, *options: str, command: str = "run"
) -> Iterator[str]:
    """Run ``carillon run`` until the block ends, and yield what ``pattern`` finds.

    It must end cleanly on Ctrl-C.
    """
    log = Path(environ["VAR_DIR"]) / "run.log"
    with log.open("wb") as output:
        process = subprocess.Popen(
            [sys.executable, "-m", "dashboard.cli", command, *options],
            env=environ,
            cwd=ROOT,
            stdout=output,
            stderr=subprocess.STDOUT,
        )

    def told() -> re.Match[str] | None:
        text = log.read_text(errors="replace")
        assert process.poll() is None, text
        return re.search(pattern, text)

    try:
        found = until(told, 180)
        assert found
        yield found[0]
    finally:
        process.send_signal(signal.SIGINT)
        code = process.wait(40)
    assert code == 0, log.read_text(errors="replace")[-3000:]


@contextmanager
def installed(folder: Path) -> Iterator[Carillon]:
    """Start an installation in an empty folder."""
    port = free_port()
    url = f"http://127.0.0.1:{port}"
    with SmtpSink() as mails:
        environ = environment(folder, PORT=str(port), BASE_URL=url, SMTP_URL=mails.url)
        with running(environ, r"http://\S+/setup\?token=\S+") as link:
            yield Carillon(url, link, mails, database=folder / "carillon.db")


@contextmanager
def console_alone(folder: Path) -> Iterator[tuple[Carillon, dict[str, str]]]:
    """Start a console without a worker; yields with what a worker of it needs."""
    port = free_port()
    url = f"http://127.0.0.1:{port}"
    database = folder / "carillon.db"
    engine = make_engine(make_url(f"sqlite:///{database}"))
    migrations.upgrade(engine)
    with sessions(engine).begin() as session:
        link = new_setup_link(session, url)
    engine.dispose()
    assert link
    with SmtpSink() as mails:
        environ = environment(folder, PORT=str(port), BASE_URL=url, SMTP_URL=mails.url)
        # It tells nothing by itself: it is up once it answers.
        with running(environ, r"\A", command="web"):
            until(lambda: _answers(f"{url}/healthz"), 60)
            yield Carillon(url, link, mails, database=database), environ


def _answers(url: str) -> bool:
    try:
        with urllib.request.urlopen(url, timeout=5) as answer:
            return bool(answer.status == 200)
    except OSError:
        return False
