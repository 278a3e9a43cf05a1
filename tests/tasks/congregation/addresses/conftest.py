"""A congregation that wants addresses, files to take them from, and the lane."""

from __future__ import annotations

import io
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest
from sqlalchemy import Engine, select
from sqlalchemy.orm import Session, sessionmaker

from tasks.congregation.addresses.starting import start_sync
from tasks.congregation.addresses.uploads import keep_upload
from tasks.db import sessions
from tasks.lane import Bench
from tasks.lanes.sync import SyncSweep, sweep
from tasks.models import Address, Event, Sync
from tasks.operations.audit import Actor
from tasks.storage.local import LocalStorage
from tests.support import address_rows, factories
from tests.support.fakes import FakePost, bench

ACTOR = Actor("ada@example.org")


@dataclass
class Desk:
    """A congregation's addresses, and a lane that can be moved through time."""

    make_session: sessionmaker[Session]
    storage: LocalStorage
    of: UUID
    now: datetime = factories.NOW
    bench: Bench = field(init=False)

    def __post_init__(self) -> None:
        made = bench(self.make_session, lambda: self.now, FakePost())
        self.bench = replace(made, storage=self.storage)

    def ask(self, *files: bytes, **values: Any) -> Sync:
        """Ask for a sync of uploaded files."""
        sources = [
            keep_upload(
                self.make_session.begin,
                self.storage,
                self.of,
                (f"file-{n}.csv", io.BytesIO(data)),
                self.now,
                limit=10_000_000,
            )
            for n, data in enumerate(files)
        ]
        return self.ask_for(sources, **values)

    def ask_for(self, sources: Sequence[dict[str, Any]], **values: Any) -> Sync:
        with self.make_session.begin() as session:
            return start_sync(
                session, self.of, sources, ACTOR, now=self.now, **values
            ).sync

    def sweep(self) -> SyncSweep:
        swept = sweep(self.bench, 1)
        self.now += timedelta(minutes=1)
        return swept

    def sync(self, *files: bytes, **values: Any) -> Sync:
        """Do a sync of uploaded files to its end."""
        asked = self.ask(*files, **values)
        self.sweep()
        return self.seen(asked)

    def seen(self, sync: Sync) -> Sync:
        with self.make_session() as session:
            return session.scalars(select(Sync).where(Sync.id == sync.id)).one()

    @property
    def addresses(self) -> list[Address]:
        with self.make_session() as session:
            return list(session.scalars(select(Address).order_by(Address.key)))

    @property
    def keys(self) -> list[str]:
        return [row.key for row in self.addresses]

    @property
    def events(self) -> list[str]:
        with self.make_session() as session:
            return list(session.scalars(select(Event.type).order_by(Event.id)))

    def change(self, key: str, **values: Any) -> None:
        with self.make_session.begin() as session:
            row = session.scalars(select(Address).where(Address.key == key)).one()
            for name, value in values.items():
                setattr(row, name, value)


@pytest.fixture
def desk(make_session: sessionmaker[Session], tmp_path: Path) -> Desk:
    return make_desk(make_session, tmp_path)


@pytest.fixture
def sqlite_desk(sqlite_engine: Engine, tmp_path: Path) -> Desk:
    """Return a desk on SQLite only, where the database is not the point."""
    return make_desk(sessions(sqlite_engine), tmp_path)


def make_desk(make_session: sessionmaker[Session], folder: Path) -> Desk:
    with make_session.begin() as session:
        of = factories.congregation(session)
        address_rows.area(session, of)
    return Desk(make_session, LocalStorage(folder / "files"), of)
