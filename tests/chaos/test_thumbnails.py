"""Workers die while they draw: the page is drawn by the next one, and told of once."""

from __future__ import annotations

from datetime import timedelta

import pytest
from sqlalchemy import func, select, update
from sqlalchemy.orm import Session

from tasks.clock import utcnow
from tasks.config import Config
from tasks.models import Event, LooseFile, StoredFile, ThumbnailState
from tasks.storage import make_storage
from tests.chaos.harness import CALM, Installation
from tests.chaos.tiers import TIER
from tests.support import board_rows, pdfs
from tests.support.processes import until


@pytest.mark.timeout(TIER.timeout)
def test_a_death_between_drawing_and_its_record_loses_and_repeats_nothing(
    system: Installation,
) -> None:
    storage = make_storage(Config.from_environ(system.environ))
    with system.begin() as session:
        file = board_rows.stored_file(session, system.tenant, pdfs.pdf(), storage)
        board_rows.document(session, system.tenant, file)
    (victim,) = system.start(CRASH_AT="in_thumbnail")
    system.died(victim, in_flight=0)
    with system.begin() as session:
        row = session.get_one(StoredFile, file.id)
        assert (row.thumbnail_state, row.attempt) == (ThumbnailState.PENDING, 1)
        assert _n_told(session) == 0
        past = utcnow() - timedelta(seconds=1)
        session.execute(update(StoredFile).values(lease_until=past))

    system.start(**CALM)
    until(lambda: _is_ready(system), 60, 0.1)
    system.drain()
    with system.begin() as session:
        row = session.get_one(StoredFile, file.id)
        assert row.attempt == 2
        assert _n_told(session) == 1
        # What the dead one was about to write is watched, until it is removed.
        assert len(session.scalars(select(LooseFile)).all()) == 1
        kept = {row.key, row.thumbnail_key}
    assert set(storage.keys("")) == kept


def _is_ready(system: Installation) -> bool:
    with system.begin() as session:
        states = session.scalars(select(StoredFile.thumbnail_state)).all()
    return states == [ThumbnailState.READY]


def _n_told(session: Session) -> int:
    told = select(func.count()).where(Event.type == "document.thumbnail_ready")
    return session.scalar(told) or 0
