"""Operations, syncs and transfers that have not begun say why, as all rows do."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import timedelta
from uuid import UUID

import pytest
from sqlalchemy import Engine
from sqlalchemy.orm import Session

from dashboard.waiting.evidence import answer
from dashboard.waiting.standing import standings
from tasks.clock import utcnow
from tasks.config import Config
from tasks.db import CongregationSession, set_scope
from tasks.models import (
    Congregation,
    LaneSetting,
    Operation,
    OperationKind,
    OperationState,
    Sync,
    SyncKind,
    Transfer,
    TransferKind,
    WorkerProcess,
)
from tasks.models.long_job import LongJobState
from tasks.registry import LANES
from tests.dashboard.conftest import Browser
from tests.support import factories


@pytest.fixture
def session(engine: Engine) -> Iterator[Session]:
    """Return a session that sees everything, on both databases in turn."""
    with Session(engine, expire_on_commit=False) as opened:
        yield opened


def _worker(session: Session, threads: int = 1) -> None:
    now = utcnow()
    session.add(
        WorkerProcess(
            id="host:7:ab",
            hostname="host",
            pid=7,
            lanes={lane.name: threads for lane in LANES},
            started_at=now,
            heartbeat_at=now,
        )
    )


def _sync(session: Session, of: UUID, **values: object) -> Sync:
    row = Sync(
        congregation_id=of, kind=SyncKind.PERIMETER, requested_by="a@e.org", **values
    )
    session.add(row)
    session.flush()
    return row


def _transfer(session: Session, of: UUID, **values: object) -> Transfer:
    row = Transfer(
        congregation_id=of, kind=TransferKind.EXPORT, requested_by="a@e.org", **values
    )
    session.add(row)
    session.flush()
    return row


def _operation(session: Session, of: UUID | None, **values: object) -> Operation:
    row = Operation(
        congregation_id=of,
        kind=OperationKind.RETRY_EXECUTIONS,
        matching={},
        n_total=3,
        **{"actor": "a@e.org", "high_water": utcnow(), "touched_at": utcnow()} | values,
    )
    session.add(row)
    session.flush()
    return row


def _words(session: Session, row: Sync | Transfer | Operation) -> list[str]:
    now = utcnow() + timedelta(seconds=1)
    config = Config.from_environ({})
    found = answer(session, row, standings(session, config, now), now)
    is_known = found.starts_at is not None
    return [*(each.word for each in found.reasons), "known" if is_known else "unknown"]


def test_a_lane_that_is_at_another_one_is_told_also_of_what_is_not_seen(
    session: Session, engine: Engine
) -> None:
    _worker(session)
    here, there = (factories.congregation(session, slug) for slug in ("here", "there"))
    for add in (_sync, _transfer):
        waits = add(session, here)
        assert _words(session, waits) == ["about to begin", "known"]
        running = add(session, there, state=LongJobState.RUNNING)
        session.commit()
        with CongregationSession(engine) as scoped:  # of who does not see the other
            set_scope(scoped, frozenset({here}))
            assert _words(scoped, waits) == ["lane busy", "unknown"]
        running.state = LongJobState.DONE
        session.flush()
        add(session, here, state=LongJobState.RUNNING)
        assert _words(session, waits) == ["lane busy", "unknown"]


def test_a_lane_of_two_workers_begins_a_second_one_behind_those_before_it(
    session: Session,
) -> None:
    _worker(session, threads=2)
    here, there, far = (factories.congregation(session, slug) for slug in "abc")
    _sync(session, there, state=LongJobState.RUNNING)
    waits = _sync(session, here)
    assert _words(session, waits) == ["about to begin", "known"]
    _sync(session, far, run_at=utcnow() - timedelta(minutes=1))
    assert _words(session, waits) == ["others before it", "unknown"]
    waits.failures, waits.run_at = 1, utcnow() + timedelta(minutes=3)
    assert _words(session, waits) == ["backing off", "known"]


def test_operations_take_turns_with_those_that_one_sees(
    session: Session, engine: Engine
) -> None:
    _worker(session)
    here, there = (factories.congregation(session, slug) for slug in ("here", "there"))
    early = utcnow() - timedelta(minutes=1)
    _operation(session, there, state=OperationState.RUNNING, touched_at=early)
    waits = _operation(session, here)
    assert _words(session, waits) == ["others before it", "known"]
    session.commit()
    with CongregationSession(engine) as scoped:
        set_scope(scoped, frozenset({here}))
        assert _words(scoped, waits) == ["about to begin", "known"]


def test_pages_and_lists_tell_it_until_the_work_begins(
    as_operator: Browser, sqlite_engine: Engine, congregation: Congregation
) -> None:
    with Session(sqlite_engine, expire_on_commit=False) as session, session.begin():
        of = congregation.id
        rows: list[tuple[str, str, Sync | Transfer | Operation]] = [
            ("sync", "/addresses/syncs", _sync(session, of)),
            ("transfer", "/transfers", _transfer(session, of)),
            ("operation", "/operations", _operation(session, of)),
        ]
    for kind, path, row in rows:
        for asked in (f"{path}/{row.id}", f"/waiting/{kind}/{row.id}"):
            assert "No worker is alive" in as_operator.get(asked).text, asked
        listed = as_operator.get(path, follow_redirects=True).text
        assert '<small class="waits">no worker</small>' in listed, path
    with Session(sqlite_engine) as session, session.begin():
        _worker(session)
        for lane in ("sync", "data_transfer", "operations"):
            session.add(
                LaneSetting(
                    lane=lane,
                    is_paused=True,
                    paused_by="ines@example.org",
                    paused_at=utcnow(),
                )
            )
    for _, path, row in rows:
        told = as_operator.get(f"{path}/{row.id}").text
        assert "paused by ines@example.org" in told, path
        assert "Nobody can say when it begins." in told, path
    with Session(sqlite_engine) as session, session.begin():
        for _, _, row in rows:
            found = session.get_one(type(row), row.id)
            found.state = type(found.state)("running")
    for kind, path, row in rows:
        assert "Why is it waiting?" not in as_operator.get(f"{path}/{row.id}").text
        assert as_operator.get(f"/waiting/{kind}/{row.id}").text.strip() == ""


def test_nothing_of_other_congregations_is_told(
    log_in: Callable[..., Browser], sqlite_engine: Engine, congregation: Congregation
) -> None:
    with Session(sqlite_engine, expire_on_commit=False) as session, session.begin():
        of, other = congregation.id, factories.congregation(session, "other")
        paths = [
            f"/waiting/sync/{_sync(session, of).id}",
            f"/waiting/transfer/{_transfer(session, of).id}",
            f"/waiting/operation/{_operation(session, of).id}",
            f"/waiting/operation/{_operation(session, None).id}",
        ]
    browser = log_in("admin", sees_all=False, congregations=[other])
    assert [browser.get(path).status_code for path in paths] == [404] * len(paths)
