"""Daily lanes: the hour that strikes, the one that was missed, the one that failed."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from datetime import timedelta
from uuid import UUID

import pytest
from sqlalchemy.orm import Session

from tasks import daily
from tests.support import factories
from tests.support.factories import NOW

Begin = Callable[[], AbstractContextManager[Session]]

DAY, HOUR, LANE = timedelta(days=1), 3, "retention"


@pytest.fixture
def tenants(begin: Begin) -> list[UUID]:
    with begin() as session:
        return sorted(factories.congregation(session, slug) for slug in ("a", "b"))


def _due(begin: Begin, after: timedelta) -> Sequence[UUID]:
    with begin() as session:
        return daily.due(session, LANE, hour=HOUR, now=NOW + after, limit=10)


def test_an_hour_strikes_once_a_day_and_a_missed_one_is_made_up_for_once(
    begin: Begin, tenants: list[UUID]
) -> None:
    nothing = timedelta()
    assert _due(begin, nothing) == tenants  # never done
    with begin() as session:
        for each in tenants:
            daily.mark_done(session, LANE, each, hour=HOUR, now=NOW)
        assert daily.due(session, "campaign", hour=HOUR, now=NOW, limit=1) == [
            tenants[0]
        ]
    assert _due(begin, timedelta(hours=14, minutes=59)) == []
    assert _due(begin, timedelta(hours=15)) == tenants
    assert _due(begin, 9 * DAY) == tenants  # nine days missed
    with begin() as session:
        daily.mark_done(session, LANE, tenants[0], hour=HOUR, now=NOW + 9 * DAY)
        waits = daily.backlog(session, LANE, hour=HOUR, now=NOW + 9 * DAY)
    assert _due(begin, 9 * DAY) == tenants[1:]
    assert waits.n_due == 1
    assert waits.oldest_due_at == NOW.replace(hour=HOUR) + 9 * DAY


def test_who_failed_is_tried_again_after_an_hour_and_stands_as_trouble(
    begin: Begin, tenants: list[UUID]
) -> None:
    with begin() as session:
        daily.mark_failed(session, LANE, tenants[0], "no such table " * 99, NOW)
    assert _due(begin, timedelta(minutes=59)) == tenants[1:]
    assert _due(begin, daily.RETRY_AFTER) == tenants
    with begin() as session:
        (trouble,) = daily.troubles(session, tenants[0])
        assert trouble.error.startswith("no such table")
        assert daily.troubles(session, tenants[1]) == []
        daily.mark_done(session, LANE, tenants[0], hour=HOUR, now=NOW)
    with begin() as session:
        assert daily.troubles(session, tenants[0]) == []
