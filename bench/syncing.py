"""A whole department of addresses, against a bare COPY of the same rows.

Each sync runs in a process of its own, so that its memory is its own as well.
"""

from __future__ import annotations

import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import Final
from uuid import UUID

from sqlalchemy import Engine, func, select, text
from sqlalchemy.engine import URL, make_url

from bench.report import table
from bench.servers import empty
from bench.settings import N_ADDRESSES, ROUNDS, say
from bench.world import make_bench
from tasks import migrations
from tasks.congregation.addresses.applying import copy_in
from tasks.congregation.addresses.staging import COLUMNS, SEPARATOR
from tasks.congregation.addresses.starting import start_sync
from tasks.congregation.addresses.uploads import keep_upload
from tasks.db import make_engine, sessions
from tasks.lanes.sync import sweep
from tasks.models import Address, AddressArea, Congregation, Sync
from tasks.models.long_job import LongJobState
from tasks.operations.audit import SYSTEM
from tasks.storage.local import LocalStorage

_HEADER: Final = (
    "id;id_fantoir;numero;rep;nom_voie;code_postal;code_insee;nom_commune;"
    "code_insee_ancienne_commune;nom_ancienne_commune;x;y;lon;lat;type_position;alias;"
    "nom_ld;libelle_acheminement;nom_afnor;source_position;source_nom_voie;"
    "certification_commune;cad_parcelles\n"
)
_COMMUNES: Final = 500
_DOORS: Final = 40  # of one street
_SUFFIXES: Final = ("", "", "", "", "bis", "", "", "ter")


def measure() -> str:
    """Read a file of BAN twice on each database; returns a Markdown table."""
    lines: list[tuple[str, ...]] = []
    with tempfile.TemporaryDirectory(prefix="carillon-bench-sync-") as folder:
        file = Path(folder) / "adresses.csv"
        _write(file, N_ADDRESSES)
        for name in ("PostgreSQL", "SQLite"):
            rounds = [_round(name, file) for _ in range(min(ROUNDS, 3))]
            lines.append(_line(name, rounds))
            say(" | ".join(lines[-1]))
        size = file.stat().st_size / 1e6
    head = (
        "database",
        "first sync, s",
        "most memory, MB",
        "the same file again, s",
        "bare COPY, s",
        "ratio",
    )
    return (
        f"A file of BAN with {N_ADDRESSES:,} addresses ({size:.0f} MB), all of them of "
        "the congregation: read, checked, compared and written, from the claim to the "
        "commit; and a bare COPY of the same values into a table without an index.\n\n"
        f"{table(head, lines)}"
    )


def _line(name: str, rounds: list[dict[str, float]]) -> tuple[str, ...]:
    def middle(what: str) -> float:
        return statistics.median(each[what] for each in rounds)

    copied = f"{middle('copy'):.1f}" if middle("copy") else "–"
    ratio = f"**{middle('first') / middle('copy'):.1f}**" if middle("copy") else "–"
    return (
        name,
        f"{middle('first'):.1f}",
        f"{max(each['memory'] for each in rounds):.0f}",
        f"{middle('again'):.1f}",
        copied,
        ratio,
    )


def _round(name: str, file: Path) -> dict[str, float]:
    with ExitStack() as stack:
        url = empty(stack, name)
        engine = make_engine(url)
        migrations.upgrade(engine)
        copied = _copy(engine, file) if name == "PostgreSQL" else 0.0
        with sessions(engine).begin() as session:
            of = Congregation(slug="bench", name="Bench")
            session.add(of)
            session.flush()
            codes = [f"{54000 + n}" for n in range(_COMMUNES)]
            session.add(AddressArea(congregation_id=of.id, communes=codes))
        first = _in_process(url, of.id, file)
        again = _in_process(url, of.id, file)
        _check(engine)
        engine.dispose()
    return {
        "first": first["seconds"],
        "memory": max(first["memory"], again["memory"]),
        "again": again["seconds"],
        "copy": copied,
    }


def _check(engine: Engine) -> None:
    with sessions(engine)() as session:
        n = session.scalar(select(func.count()).select_from(Address))
        reports = [
            row.report for row in session.scalars(select(Sync).order_by(Sync.id))
        ]
    if n != N_ADDRESSES or reports[1]["updated"] or reports[1]["created"]:
        raise RuntimeError(f"{n} addresses, {reports}")


def _copy(engine: Engine, file: Path) -> float:
    """Return what PostgreSQL needs for the bare rows, in seconds."""
    columns = ", ".join(f"{name} {kind}" for name, kind in COLUMNS.items())
    with engine.begin() as connection:
        connection.execute(text(f"CREATE TABLE bare ({columns})"))
    blocks = list(_blocks(file))
    with engine.begin() as connection:
        started = time.perf_counter()
        copy_in(connection, "bare", tuple(COLUMNS), blocks)
    seconds = time.perf_counter() - started
    with engine.begin() as connection:
        connection.execute(text("DROP TABLE bare"))
    return seconds


def _blocks(file: Path) -> Iterator[str]:
    """Yield the file's values as COPY takes them, without anything being checked."""
    with file.open(encoding="utf-8") as lines:
        next(lines)
        block: list[str] = []
        for line in lines:
            cells = line.split(";")
            kept = [cells[n] for n in (0, 2, 4, 5, 7, 6, 13, 12, 0)]
            block.append(SEPARATOR.join([*kept, "1"]))
            if len(block) == 5_000:
                yield "\n".join(block) + "\n"
                block.clear()
        if block:
            yield "\n".join(block) + "\n"


def _in_process(url: URL, of: UUID, file: Path) -> dict[str, float]:
    answer = subprocess.run(  # noqa: S603  # ourselves
        [
            sys.executable,
            "-m",
            "bench.syncing",
            url.render_as_string(hide_password=False),
            str(of),
            str(file),
        ],
        check=True,
        capture_output=True,
        text=True,
    )
    seconds, memory = answer.stdout.split()
    return {"seconds": float(seconds), "memory": float(memory)}


def _sync(address: str, of: UUID, file: Path) -> tuple[float, float]:
    """Do one sync; returns its seconds, and the most memory of this process in MB."""
    engine = make_engine(make_url(address))
    with tempfile.TemporaryDirectory() as folder:
        storage = LocalStorage(Path(folder))
        bench = replace(make_bench(engine), storage=storage)
        begin, now = sessions(engine).begin, bench.clock()
        with file.open("rb") as stream:
            upload = (file.name, stream)
            source = keep_upload(begin, storage, of, upload, now, limit=10_000_000_000)
        with begin() as session:
            id_ = start_sync(session, of, [source], SYSTEM, now=now).sync.id
        started = time.perf_counter()
        sweep(bench, 1)
        seconds = time.perf_counter() - started
        with sessions(engine)() as session:
            row = session.get_one(Sync, id_)
            if row.state is not LongJobState.DONE:
                raise RuntimeError(f"{row.state}: {row.error}")
    return seconds, _most_memory()


def _most_memory() -> float:
    """Return the most memory that this process had, in MB."""
    # What getrusage says may be the parent's, from before this program was loaded.
    for line in Path("/proc/self/status").read_text(encoding="ascii").splitlines():
        if line.startswith("VmHWM"):
            return int(line.split()[1]) / 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def _write(file: Path, n: int) -> None:
    """Write ``n`` addresses, commune by commune and street by street."""
    with file.open("w", encoding="utf-8") as out:
        out.write(_HEADER)
        streets = -(-n // _DOORS)
        for number in range(n):
            street, door = divmod(number, _DOORS)
            commune = 54000 + street * _COMMUNES // streets
            rep = _SUFFIXES[number % len(_SUFFIXES)]
            lat = 48.0 + (number % 100_000) / 100_000 + number * 1e-9
            lon = 5.0 + (number % 77_777) / 77_777
            out.write(
                f"{commune}_{street:05d}_{door:05d};{commune}_{street:05d};{door + 1};"
                f"{rep};Rue de l'Église Saint-Étienne {street};{commune + 100};"
                f"{commune};Commune-sur-Moselle {commune};;;905959;6917588.2;{lon!r};"
                f"{lat!r};entrée;;;COMMUNE SUR MOSELLE;RUE DE L EGLISE;commune;"
                "commune;1;\n"
            )


if __name__ == "__main__":
    seconds, memory = _sync(sys.argv[1], UUID(sys.argv[2]), Path(sys.argv[3]))
    sys.stdout.write(f"{seconds} {memory}\n")
