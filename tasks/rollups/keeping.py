"""How long counts are kept: hours for a week's charts, days for more than a year."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime, timedelta
from typing import Any, Final

from sqlalchemy import ColumnElement
from sqlalchemy.orm import InstrumentedAttribute

from tasks.models.rollup import CongregationRollup, LaneRollup, RuleRollup, Span

KEEP: Final = {Span.HOUR: timedelta(days=40), Span.DAY: timedelta(days=400)}

_Past = tuple[str, InstrumentedAttribute[Any], tuple[ColumnElement[bool], ...]]


def past(now: datetime) -> Iterator[_Past]:
    """Yield the counts that are past their time; each has an index that finds it."""
    for span, keep in KEEP.items():
        for model, key in (
            (LaneRollup, LaneRollup.lane),
            (CongregationRollup, CongregationRollup.lane),
            (RuleRollup, RuleRollup.rule_id),
        ):
            name = f"{model.__tablename__}_{span}s"
            yield name, key, (model.span == span, model.at < now - keep)
