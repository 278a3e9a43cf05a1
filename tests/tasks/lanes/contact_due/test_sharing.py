"""The lane ``contact_due`` with much to do: order, turns, workers and cost."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from uuid import UUID

from tasks.lane import tally
from tasks.lanes.contact_due import backlog
from tests.support import factories
from tests.support.factories import NOW
from tests.support.outreach import sweep_due
from tests.support.statements import statements
from tests.tasks.lanes.contact_due.conftest import (
    MINUTE,
    Sessions,
    events_of,
)


def test_the_oldest_go_first_and_the_batch_has_its_limit(
    make_session: Sessions, add: Callable[..., UUID]
) -> None:
    later = add()
    first = add("max@example.org", next_action_at=NOW - MINUTE)
    done = sweep_due(make_session, limit=1)
    assert (done.announced, done.is_full) == ((first,), True)
    assert tally(done) == {"announced": 1}
    done = sweep_due(make_session, limit=2)
    assert (done.announced, done.is_full) == ((later,), False)


def test_tenants_take_turns(make_session: Sessions, add: Callable[..., UUID]) -> None:
    for number in range(8):
        add(f"g{number}@example.org", next_action_at=NOW - timedelta(days=1))
    with make_session.begin() as session:
        small = factories.congregation(session, "small")
    id_ = add(of=small)
    assert id_ in sweep_due(make_session, limit=4).announced


def test_the_backlog_counts_what_is_due(
    make_session: Sessions, add: Callable[..., UUID]
) -> None:
    add(next_action_at=NOW - MINUTE)
    add("max@example.org")
    add("ida@example.org", next_action_at=NOW + MINUTE)
    with make_session() as session:
        waits = backlog(session, NOW)
    assert (waits.n_due, waits.oldest_due_at) == (2, NOW - MINUTE)


def test_two_workers_announce_each_once(
    make_session: Sessions, add: Callable[..., UUID]
) -> None:
    ids = {add(f"g{number}@example.org") for number in range(40)}

    def drain(_worker: int) -> list[UUID]:
        seen: list[UUID] = []
        while (done := sweep_due(make_session, limit=5)).announced or done.is_full:
            seen += done.announced
        return seen

    with ThreadPoolExecutor(2) as pool:
        first, second = pool.map(drain, range(2))
    assert sorted([*first, *second]) == sorted(ids)
    assert len(events_of(make_session)) == 40


def test_a_batch_costs_the_same_few_statements_whatever_its_size(
    make_session: Sessions, add: Callable[..., UUID]
) -> None:
    counts = []
    for size in (2, 20):
        for number in range(size):
            add(f"{size}-{number}@example.org")
        with statements() as seen:
            assert len(sweep_due(make_session).announced) == size
        counts.append(len(seen))
    assert counts[1] <= counts[0] + 1
