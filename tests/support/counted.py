"""What a lane is counted to have done."""

from __future__ import annotations

from sqlalchemy import select
from sqlalchemy.orm import Session, sessionmaker

from tasks.lanes import rollups
from tasks.models import LaneRollup, Span
from tests.support.factories import NOW
from tests.support.fakes import FakePost, bench


def counted(make_session: sessionmaker[Session], lane: str) -> dict[int, int]:
    """Count what was noted; return what the hours of a lane hold, by measure."""
    rollups.sweep(bench(make_session, lambda: NOW, FakePost()), 100)
    wanted = select(LaneRollup.measure, LaneRollup.n).filter_by(
        lane=lane, span=Span.HOUR
    )
    with make_session() as session:
        found: dict[int, int] = {}
        for measure, n in session.execute(wanted):
            found[measure] = found.get(measure, 0) + n
        return found
