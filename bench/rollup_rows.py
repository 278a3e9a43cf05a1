"""The counts that charts are drawn from: as many, however many executions there are."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final
from uuid import UUID

from sqlalchemy.orm import Session

from bench.crowd import N_TENANTS, Copies, Words, number_within, of_same
from bench.rows import N_RULES
from tasks.models import CongregationRollup, LaneRollup, RuleRollup, Span
from tests.support.factories import NOW
from tests.support.twins import Twin

_LANES: Final = ("executions", "deliveries", "scheduled_jobs")
#: Outcomes, waiting times and running times that each hour has counted.
_N_MEASURES: Final = 16
_MEASURE: Final = (
    "CASE WHEN {n} % 16 < 4 THEN {n} % 16 WHEN {n} % 16 < 11 THEN 100 + {n} % 16"
    " ELSE 192 + {n} % 16 END"
)
_HOURS: Final = 8 * 24
_RULES_HOURS: Final = 7 * 24
_DAYS: Final = 40


def add_samples(session: Session, twin: Twin) -> None:
    """Add a row to copy to each table.  Caller commits."""
    what = {"span": Span.HOUR, "at": NOW, "measure": 0, "n": 7}
    of = {"congregation_id": twin.id}
    session.add(CongregationRollup(**of, **what, lane="executions"))
    session.add(RuleRollup(**of, **what, rule_id=UUID(twin.ids["rule_id"])))
    if twin.slug.endswith("0"):
        session.add(LaneRollup(**what, lane="executions"))


def rollups(of: Words) -> Iterator[Copies]:
    """Yield the tables of counts, as far back as charts look."""
    own = number_within("i")
    passed = of.now.hour * 60
    for span, n, at in (
        ("hour", _HOURS, "-60 * ({left})"),
        ("day", _DAYS, f"-1440 * ({{left}}) - {passed}"),
    ):
        for table, number, times in (
            ("lane_rollups", "i", 1),
            ("congregation_rollups", own, N_TENANTS),
        ):
            left = f"{number} / {_N_MEASURES}"
            row = {"span": f"'{span}'", "measure": _MEASURE.format(n=number)}
            row |= {"lane": _lane(f"{left} % 3")}
            row |= {"at": of.ahead(at.format(left=f"{left} / 3"))}
            yield Copies(table, n * _N_MEASURES * 3 * times, row)
        hours = _RULES_HOURS if span == "hour" else n
        left = f"{own} / {_N_MEASURES}"
        row = {"span": f"'{span}'", "measure": _MEASURE.format(n=own)}
        row |= {"rule_id": of.id("rule", of_same(f"({left} % {N_RULES // N_TENANTS})"))}
        row |= {"at": of.ahead(at.format(left=f"{left} / {N_RULES // N_TENANTS}"))}
        yield Copies("rule_rollups", hours * _N_MEASURES * N_RULES, row)


def _lane(number: str) -> str:
    cases = " ".join(f"WHEN {n} THEN '{lane}'" for n, lane in enumerate(_LANES))
    return f"CASE {number} {cases} END"
