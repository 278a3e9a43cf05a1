"""The race of the drain: ours beside each other queue, in turn, in one run."""

from __future__ import annotations

from bench import report, servers
from bench.ours import OURS
from bench.race import race
from bench.report import Pair
from bench.rivals import PYTHON, RIVALS, contestant, versions
from bench.settings import LIMIT, N_JOBS, ROUNDS, say


def measure() -> str:
    """Return the tables: one for each kind of our work, against every contestant."""
    titles = [*OURS, *(rival.title for rival in RIVALS)] if PYTHON.exists() else [*OURS]
    rates: dict[str, list[float]] = {title: [] for title in titles}
    keeps = {}
    with servers.postgres() as server, servers.redis_server() as redis_url:
        for number in range(ROUNDS):
            for title in titles:
                with contestant(title, server, redis_url) as one:
                    rates[title].append(race(one, N_JOBS, LIMIT))
                    keeps[title] = one.keeps
                say(f"  {number + 1}: {title}: {rates[title][-1]:,.0f}/s")
    faster = [f"{each}: times as fast" for each in OURS]
    head = ("Queue", "jobs/s, median (range)", "keeps of a job", *faster)
    lines = [_line(title, rates, keeps[title]) for title in titles]
    told = (
        f"{N_JOBS:,} no-op jobs, or what is done in {LIMIT:.0f} s; PostgreSQL 18 "
        f"with every commit on disk, Redis without persistence."
    )
    return f"{told}\n\n{report.table(head, lines)}\n\n{versions()}".rstrip()


def _line(title: str, rates: dict[str, list[float]], keeps: str) -> tuple[str, ...]:
    ratios = []
    for ours in OURS:
        pair = Pair(title, ours=rates[ours], other=rates[title])
        ratios.append("" if title in OURS else f"**{pair.ratio:.3g}**")
    name, rate, *_ = Pair(title, ours=rates[title], other=rates[title]).line()
    return (name, rate, keeps, *ratios)
