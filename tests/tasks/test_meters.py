"""What workers count, and how Prometheus gets it."""

from __future__ import annotations

import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from datetime import timedelta

import pytest
from prometheus_client.parser import text_string_to_metric_families
from sqlalchemy import text
from sqlalchemy.exc import OperationalError
from sqlalchemy.orm import Session, sessionmaker

from tasks.health import HealthServer
from tasks.lane import Bench
from tasks.lanes.contact_due import BatchLost
from tasks.meters import watch
from tasks.models import LaneTrigger
from tasks.registry import LANES, lane
from tasks.runner import run_lane
from tests.support import factories
from tests.support.factories import NOW
from tests.support.fakes import FakePost, bench
from tests.support.outreach import engagement

Sessions = sessionmaker[Session]
CONTACT_DUE = {"lane": "contact_due"}


@pytest.fixture
def counted(make_session: Sessions) -> Bench:
    """Return a bench whose meters know of every lane."""
    made = bench(make_session, lambda: NOW, FakePost())
    watch(made.meters, made.begin, made.clock, LANES)
    return made


def value(made: Bench, name: str, **labels: str) -> float | None:
    return made.meters.registry.get_sample_value(f"carillon_{name}", labels)


def due(make_session: Sessions, n: int) -> None:
    with make_session.begin() as session:
        of = factories.congregation(session)
        for number in range(n):
            at = NOW - timedelta(minutes=number)
            engagement(session, of, f"g{number}@example.org", next_action_at=at)


def test_a_lane_counts_what_it_moved_and_what_waits(
    make_session: Sessions, counted: Bench
) -> None:
    due(make_session, 3)
    assert value(counted, "lane_due_rows", **CONTACT_DUE) == 3
    assert value(counted, "lane_oldest_due_seconds", **CONTACT_DUE) == 120
    run_lane(lane("contact_due"), counted, LaneTrigger.CLOCK)
    announced = CONTACT_DUE | {"outcome": "announced"}
    assert value(counted, "lane_rows_total", **announced) == 3
    ok, failed = (CONTACT_DUE | {"result": word} for word in ("ok", "failed"))
    assert value(counted, "lane_sweeps_total", **ok) == 1
    assert value(counted, "lane_sweeps_total", **failed) == 0
    assert value(counted, "lane_sweep_seconds_count", **CONTACT_DUE) == 1
    assert value(counted, "lane_lateness_seconds_sum", **CONTACT_DUE) == 180
    assert value(counted, "lane_due_rows", **CONTACT_DUE) == 3  # of ten seconds ago
    assert value(counted, "database_up") == 1


def test_a_batch_that_is_rolled_back_is_counted_with_its_size(counted: Bench) -> None:
    def lost(_bench: Bench, _limit: int) -> None:
        raise BatchLost(7, OSError("the disk is full"))

    broken = replace(lane("contact_due"), sweep=lost)  # type: ignore[arg-type]
    run_lane(broken, counted, LaneTrigger.CLOCK)
    rolled_back = CONTACT_DUE | {"outcome": "rolled_back"}
    assert value(counted, "lane_rows_total", **rolled_back) == 7
    failed = CONTACT_DUE | {"result": "failed"}
    assert value(counted, "lane_sweeps_total", **failed) == 1


def test_an_outage_of_the_database_hides_no_counter(make_session: Sessions) -> None:
    @contextmanager
    def away() -> Iterator[Session]:
        raise OperationalError("select", {}, OSError("away"))
        yield make_session()

    made = bench(make_session, lambda: NOW, FakePost())
    watch(made.meters, away, made.clock, LANES)
    made.meters.moved("fanout", {"fanned_out": 2})
    assert value(made, "database_up") == 0
    told = {"lane": "fanout", "outcome": "fanned_out"}
    assert value(made, "lane_rows_total", **told) == 2
    assert value(made, "lane_due_rows", lane="fanout") is None


def test_every_lane_is_told_of_over_http(counted: Bench) -> None:
    server = HealthServer(("127.0.0.1", 0), list, counted.meters.text)
    server.start()
    try:
        address = f"http://127.0.0.1:{server.port}/metrics"
        with urllib.request.urlopen(address, timeout=10) as answer:
            kind, body = answer.headers["Content-Type"], answer.read().decode()
    finally:
        server.stop()
    assert kind.startswith("text/plain; version=0.0.4")
    families = {each.name: each for each in text_string_to_metric_families(body)}
    names = {each.name for each in LANES}
    for family in ("carillon_lane_sweeps", "carillon_lane_due_rows"):
        samples = families[family].samples
        assert {each.labels["lane"] for each in samples} == names
    with counted.begin() as session:
        assert session.scalar(text("SELECT 1")) == 1  # nothing is left open
