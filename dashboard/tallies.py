"""How many rows of a list are in each state, at the cost of a page.

What an index of the state has is counted to ``LOOKED_AT``; everything else among so
many of the newest rows.  A number that is no more than a lower bound says so.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from enum import StrEnum
from typing import Any, Final, TypeVar

from sqlalchemy import ColumnElement, and_, case, func, select, true
from sqlalchemy.orm import Session

from tasks.operations.matching import (
    Matching,
    Model,
    fitting,
    is_state,
    narrow,
    newest,
    order_of,
)
from tasks.search.window import Rows

#: Rows that are looked at for one number.
LOOKED_AT: Final = 1_000
S = TypeVar("S", bound=StrEnum)


class AtLeast(int):
    """A number that may be higher: counting has stopped there.

    >>> AtLeast(3) + 4, 4 + AtLeast(3)
    (AtLeast(7), AtLeast(7))
    """

    def __add__(self, other: int) -> AtLeast:
        return AtLeast(int(self) + int(other))

    __radd__ = __add__

    def __repr__(self) -> str:
        return f"AtLeast({int(self)})"


def capped(n: int, cap: int) -> int:
    """Return a count that stopped at ``cap`` as what it is."""
    return n if n < cap else AtLeast(n)


def tally(
    session: Session,
    model: Model,
    states: type[S],
    matching: Matching,
    *,
    indexed: Collection[S],
    shown: Iterable[str] = (),
) -> Mapping[S, int]:
    """Return how many match in each state, whatever state is asked for.

    One statement.

    Args:
        session: where to read.
        model: what is listed.
        states: the states that it knows.
        matching: the filter.
        indexed: the states whose rows an index has, also within a congregation.
        shown: the states of rows that the page shows: so many there are at least.
    """
    anything = replace(matching, state=None)
    is_plain = anything == Matching(congregation_id=matching.congregation_id)
    by_index = [state for state in states if is_plain and state in indexed]
    others = [state for state in states if state not in by_index]
    found = (
        _by_index(session, model, anything, by_index, others)
        if by_index
        else _among_newest(session, model, anything, others)
    )
    least = Counter(shown)
    return {state: max(found[state], AtLeast(least[state.value])) for state in states}


def _by_index(
    session: Session,
    model: Model,
    matching: Matching,
    states: Sequence[S],
    others: Sequence[S],
) -> dict[S, int]:
    """Count what an index has of ``states``, and ``others`` among the newest."""
    rows = Rows(model)
    columns: list[Any] = [_sum(is_state(rows, state)) for state in others]
    columns += [_of_state(model, matching, state) for state in states]
    n_looked, *counts = session.execute(
        rows.of(select(func.count(), *columns), newest(model, matching, LOOKED_AT))
    ).one()
    found = {state: n or 0 for state, n in zip([*others, *states], counts, strict=True)}
    stopped = {state for state, n in found.items() if n == LOOKED_AT}
    if n_looked == LOOKED_AT:
        stopped |= set(others)
    return {state: AtLeast(n) if state in stopped else n for state, n in found.items()}


def _of_state(model: Model, matching: Matching, state: S) -> ColumnElement[int]:
    """Return how many rows of a state there are, to ``LOOKED_AT``."""
    of_state = replace(matching, state=state.value)
    # Its order leads every planner to the state's own index.
    some = (
        narrow(select(model.id), model, of_state)
        .order_by(*order_of(model, of_state))
        .limit(LOOKED_AT)
    )
    return select(func.count()).select_from(some.subquery()).scalar_subquery()


def _among_newest(
    session: Session, model: Model, matching: Matching, states: Sequence[S]
) -> dict[S, int]:
    rows, late = fitting(model, matching)
    wanted = select(rows.state, func.count(), _sum(and_(true(), *late)))
    some = newest(model, matching, LOOKED_AT, ids_first=bool(late))
    counted = session.execute(rows.of(wanted, some).group_by(rows.state)).all()
    found = {state: int(n) for state, _, n in counted}
    is_all = sum(n for _, n, _ in counted) < LOOKED_AT
    return {
        state: found.get(state, 0) if is_all else AtLeast(found.get(state, 0))
        for state in states
    }


def _sum(condition: ColumnElement[bool]) -> ColumnElement[int]:
    return func.sum(case((condition, 1), else_=0))
