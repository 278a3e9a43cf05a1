"""How many rows verbs on all that match would change, at the cost of a page.

The page that asks counts all of them.  Beside a list, which is opened far more often,
the newest ``COUNT_CAP`` rows are looked at: where there are more, what was counted is a
lower bound, and says so.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sqlalchemy import ColumnElement, Select, and_, case, func, select, true
from sqlalchemy.orm import Session

from dashboard.paging import Key
from dashboard.tallies import AtLeast
from tasks.lane import COUNT_CAP
from tasks.operations.kinds import KINDS, Asked, rows_of
from tasks.search.window import is_among_first


def amounts(
    session: Session,
    asked: Sequence[Asked],
    order: Sequence[Key],
    bounds: Sequence[ColumnElement[bool]] = (),
) -> list[int]:
    """Return how many rows each verb would change; one statement.

    Args:
        session: where to read.
        asked: the verbs, all of the same rows.
        order: the newest of them first, as an index has them.
        bounds: what must hold of each row, and is found by that index.
    """
    ids = KINDS[asked[0].kind].model.id
    window: Select[Any] = select(ids).where(*bounds).order_by(*order).limit(COUNT_CAP)
    meant = (rows_of(session, each).whereclause for each in asked)
    # What is no yes is a null, which is not counted.
    counts = (func.count(case((and_(true(), *_only(each)), 1))) for each in meant)
    counted = select(func.count(), *counts).where(is_among_first(ids, window))
    n_looked, *found = session.execute(counted).one()
    return [AtLeast(n) if n_looked == COUNT_CAP else n for n in found]


def as_many(n: int) -> int:
    """Return what chooses between one and many: what may be more is many.

    >>> as_many(1), as_many(AtLeast(1))
    (1, 2)
    """
    return max(int(n), 2) if isinstance(n, AtLeast) else n


def _only(condition: ColumnElement[bool] | None) -> list[ColumnElement[bool]]:
    return [] if condition is None else [condition]
