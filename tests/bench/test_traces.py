"""The limit that the engine is measured against writes the same rows and bytes."""

from __future__ import annotations

from sqlalchemy import Engine, func, select, text

from bench.emitting import bare_rate, engine_rate, library_rate, trace_of
from bench.world import World, add_tenant
from tasks.db import sessions
from tasks.models import Base

N = 20


def _world(engine: Engine) -> World:
    with sessions(engine).begin() as session:
        return add_tenant(session, "bench")


def _sizes(engine: Engine) -> dict[str, tuple[int, int]]:
    """Return how many rows and bytes each table holds, as text."""
    found = {}
    for table in Base.metadata.sorted_tables:
        wide = "+".join(
            f"coalesce(length(CAST({name} AS text)), 0)"
            for name in table.columns.keys()  # noqa: SIM118  # names
        )
        with engine.connect() as connection:
            n = connection.scalar(select(func.count()).select_from(table)) or 0
            size = connection.scalar(text(f"SELECT sum({wide}) FROM {table.name}"))  # noqa: S608  # ours
        found[table.name] = (n, int(size or 0))
    return found


def _grown(
    before: dict[str, tuple[int, int]], after: dict[str, tuple[int, int]]
) -> dict[str, tuple[int, int]]:
    return {
        name: (n - before[name][0], size - before[name][1])
        for name, (n, size) in after.items()
        if n != before[name][0]
    }


def test_bare_rows_are_as_many_and_as_long_as_the_engines(engine: Engine) -> None:
    world = _world(engine)
    trace = trace_of(engine, world)
    start = _sizes(engine)
    engine_rate(engine, world, N, 1)
    middle = _sizes(engine)
    bare_rate(engine, trace, N, 1)
    bare_rate(engine, trace, N, N)
    end = _sizes(engine)

    _assert_twice(_grown(middle, end), _grown(start, middle))


def test_so_are_those_of_sqlalchemy_alone(engine: Engine) -> None:
    world = _world(engine)
    trace = trace_of(engine, world)
    start = _sizes(engine)
    engine_rate(engine, world, N, 1)
    middle = _sizes(engine)
    library_rate(engine, trace, N, 1)
    library_rate(engine, trace, N, N)
    end = _sizes(engine)

    _assert_twice(_grown(middle, end), _grown(start, middle))


def _assert_twice(
    other: dict[str, tuple[int, int]], ours: dict[str, tuple[int, int]]
) -> None:
    assert ours.keys() == other.keys() >= {"events", "executions", "decisions"}
    for name, (n, size) in ours.items():
        assert other[name][0] == 2 * n
        # The number of a booking has one digit to three.
        assert abs(other[name][1] / 2 - size) < 0.05 * size
