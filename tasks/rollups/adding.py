"""Adding counts to the tables that charts read, by hour and by day."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from functools import lru_cache
from typing import Any, Final

from sqlalchemy import Insert, Table
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.orm import Session

from tasks.bulk import is_postgres
from tasks.models.base import Base
from tasks.models.rollup import CongregationRollup, LaneRollup, RuleRollup, Span
from tasks.rollups.counting import Place

_LANES: Final = ("lane",)
_HOUSES: Final = ("congregation_id", "lane")
_RULES: Final = ("congregation_id", "rule_id")
_SPAN: Final = ("span", "at", "measure")


def add(session: Session, counted: Mapping[Place, int]) -> None:
    """Add ``counted`` to hours and days of lanes, congregations and rules.

    Two may add at once: what one adds, the other does not overwrite.  Caller commits.
    """
    of_houses = {place: n for place, n in counted.items() if place.congregation_id}
    of_rules = {place: n for place, n in counted.items() if place.rule_id}
    _add(session, LaneRollup, _LANES, counted.items())
    _add(session, CongregationRollup, _HOUSES, of_houses.items())
    _add(session, RuleRollup, _RULES, of_rules.items())


def _add(
    session: Session,
    model: type[Base],
    owner: Sequence[str],
    counted: Iterable[tuple[Place, int]],
) -> None:
    sums: Counter[tuple[Any, ...]] = Counter()
    for place, n in counted:
        key = tuple(getattr(place, name) for name in owner)
        for span in Span:
            sums[(*key, span, start_of(span, place.at), int(place.measure))] += n
    if not sums:
        return
    names = (*owner, *_SPAN)
    # In one order for all, so that two who add at once wait instead of deadlocking.
    rows = [
        {**dict(zip(names, key, strict=True)), "n": n}
        for key, n in sorted(sums.items(), key=lambda item: str(item[0]))
    ]
    session.execute(_upsert(model, is_postgres(session)), rows)


def start_of(span: Span, hour: datetime) -> datetime:
    """Return the start of the span that an hour belongs to."""
    return hour if span is Span.HOUR else hour.replace(hour=0)


@lru_cache
def _upsert(
    model: type[Base],
    for_postgres: bool,  # a key of the cache
) -> Insert:
    table: Table = model.metadata.tables[model.__tablename__]
    insert = postgresql.insert if for_postgres else sqlite.insert
    statement = insert(table)
    keys = [each.name for each in table.primary_key]
    return statement.on_conflict_do_update(
        index_elements=keys, set_={"n": table.c.n + statement.excluded.n}
    )
