"""A console over a house full of rows, and what its pages are asked."""

from __future__ import annotations

import base64
import html
import json
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Final
from uuid import UUID

from flask.testing import FlaskClient
from sqlalchemy import Engine
from sqlalchemy.engine import URL
from sqlalchemy.orm import Session

from bench import crowd, rollup_rows, rows
from bench.crowd import N_TENANTS, PAST, Words
from bench.settings import say
from bench.size import console, csrf_token
from bench.visits import DEEP, visits
from tasks import migrations, registry
from tasks.clock import utcnow
from tasks.db import make_engine, sessions
from tasks.models import LaneRun, LaneTrigger, WorkerProcess
from tasks.storage.local import LocalStorage
from tests.support.factories import NOW
from tests.support.twins import Twin, twin

#: Values of addresses that are the same for every size.
_PLAIN: Final = ("kind", "version", "number", "category", "slug", "podcast_id")


@dataclass(frozen=True, slots=True)
class Visit:
    """One address that is asked for."""

    name: str  # with the names of what stands in it, the same for every size
    path: str
    is_post: bool = False  # an export: only the beginning of its answer is awaited


@dataclass(frozen=True, slots=True)
class House:
    """An installation and somebody who looks at all of it."""

    client: FlaskClient
    token: str
    visits: list[Visit]

    def see(self, visit: Visit) -> int:
        """Read a page to its end, or an export's beginning; returns its bytes.

        Raises:
            RuntimeError: it is none.
        """
        if visit.is_post:
            answer = self.client.post(
                visit.path, data={"csrf_token": self.token}, buffered=False
            )
            size = len(next(iter(answer.response)))
            answer.close()
        else:
            answer = self.client.get(visit.path)
            size = len(answer.data)
        if answer.status_code >= 400:
            raise RuntimeError(f"{visit.path} answers {answer.status_code}")
        return size


@contextmanager
def house(url: URL, n: int, folder: Path) -> Iterator[House]:
    """Fill an empty database with ``n`` executions, and open its console."""
    engine = make_engine(url)
    migrations.upgrade(engine)
    now = utcnow().replace(minute=0, second=0, microsecond=0)
    of = Words(engine.dialect.name, now, rows.counts(n))
    with sessions(engine).begin() as session:
        twins = _settle(session, folder, now)
    tables = [*rows.tables(of), *rollup_rows.rollups(of)]
    crowd.fill(engine, tables)
    say(f"  {n:,} executions and what belongs to them")
    with lived_in(engine, folder, known(twins[0], of, n)) as found:
        yield found
    engine.dispose()


def _settle(session: Session, folder: Path, now: datetime) -> list[Twin]:
    """Add ten congregations with one row of each kind, and a worker that is alive."""
    storage = LocalStorage(folder / "files")
    twins = [twin(session, f"house{n}", f"mark{n}", storage) for n in range(N_TENANTS)]
    for one in twins:
        rollup_rows.add_samples(session, one)
    session.add(LaneRun(lane="executions", trigger=LaneTrigger.CLOCK, started_at=NOW))
    session.add(
        WorkerProcess(
            id="bench",
            hostname="bench",
            pid=1,
            lanes={lane.name: 1 for lane in registry.LANES},
            started_at=now,
            heartbeat_at=now.replace(year=now.year + 1),
        )
    )
    return twins


def known(one: Twin, of: Words, n: int) -> Mapping[str, str]:
    """Return what addresses name: rows in the middle of all, of one congregation."""

    def middle(kind: str, step: int = 1, plus: int = 0) -> str:
        own = of.counts[kind] // N_TENANTS // 2 // step * step + plus
        return str(of.id_of(kind, own * N_TENANTS))

    return {
        **one.ids,
        "execution_id": middle("execution", rows.FAILS_ONE_IN),
        "row_id": str(of.id_of("execution", (n // N_TENANTS // 400 * 200 + 3) * 10)),
        "event_id": middle("event"),
        "job_id": middle("job", 20, 1),
        "delivery_id": middle("delivery", 50),
        "booking_id": f"c{n // N_TENANTS // rows.PER_BOOKING // 2}",
        "rule_id": str(of.id_of("rule", 0)),
        "rare_rule_id": str(of.id_of("rule", rows.N_RULES - N_TENANTS)),
        "failure_id": str(of.id_of("group", 0)),
        "mail_id": middle("mail"),
        "digest_id": middle("digest"),
        "contact_id": middle("contact"),
        "engagement_id": middle("engagement"),
    }


@contextmanager
def lived_in(engine: Engine, folder: Path, ids: Mapping[str, str]) -> Iterator[House]:
    """Open the console of a house, and find out what may be asked there."""
    with console(engine, folder) as client:
        middle = utcnow() - PAST / 2
        found = list(visits(client.application, ids))
        named = [Visit(_named(path, ids), path) for _, path in found]
        for endpoint, path in found:
            if endpoint in DEEP and "?" not in path:
                page = client.get(path).text
                if cursor := _deep(page, middle):
                    named.append(
                        Visit(f"{_named(path, ids)}, middle", f"{path}?cursor={cursor}")
                    )
                if (watched := _watched(page)) is not None:
                    named.append(Visit(f"{_named(path, ids)}, live", watched))
        exports = ("executions", "scheduled", "events", "deliveries")
        named += [
            Visit(f"/exports/{name}/csv, first rows", f"/exports/{name}/csv", True)
            for name in exports
        ]
        yield House(client, csrf_token(client.get("/account/password").text), named)


def _named(path: str, ids: Mapping[str, str]) -> str:
    """Return an address with the names of what differs from size to size."""
    for name, value in sorted(ids.items(), key=lambda item: -len(item[1])):
        if name not in _PLAIN:
            path = path.replace(value, f"<{name}>")
    return path


def _deep(page: str, middle: datetime) -> str | None:
    """Return a cursor in the middle of the list whose first page this is."""
    found = re.findall(r"cursor=([\w-]+)", page)
    if not found:
        return None
    padded = found[-1] + "=" * (-len(found[-1]) % 4)
    side, *values = json.loads(base64.urlsafe_b64decode(padded))
    moved = json.dumps([side, *(_moved(value, middle) for value in values)])
    return base64.urlsafe_b64encode(moved.encode()).decode().rstrip("=")


def _moved(value: str, middle: datetime) -> str:
    try:
        low = UUID(value).int & ((1 << 80) - 1)
        return str(UUID(int=int(middle.timestamp() * 1_000) << 80 | low))
    except ValueError:
        return middle.isoformat()


def _watched(page: str) -> str | None:
    """Return what the list asks for by itself, again and again."""
    found = re.search(r'hx-get="(/\w+/live\?[^"]*)"', page)
    return html.unescape(found[1]) if found else None
