"""Sharing a claim out: no congregation's flood keeps the others waiting."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Sequence
from datetime import datetime
from typing import Any, Final, TypeVar
from uuid import UUID

from sqlalchemy import BindParameter, ColumnElement, Select, and_, func, select
from sqlalchemy.orm import InstrumentedAttribute

from tasks.models.base import OfCongregation
from tasks.models.congregation import Congregation

T = TypeVar("T")

#: Congregations that share one claim; with more of them, a random choice takes turns.
SHARING_MAX: Final = 50
#: Congregations that are asked whether they have something due; of more, too, a random
#: choice, so that a claim costs the same however many there are.
ASKED_MAX: Final = 500


def having(
    model: type[OfCongregation],
    waits: ColumnElement[bool],
    order: Sequence[InstrumentedAttribute[Any]],
    now: datetime | BindParameter[datetime],
) -> Select[UUID]:
    """Return the statement that finds congregations which have something due.

    Each is looked up singly: what is first in the index from it on is its own, and due,
    or it has nothing.  Neither EXISTS nor "its own, soonest first" would do.  When
    PostgreSQL expects that little waits, both may read what is due of all, and that for
    each claim of a long backlog.

    Args:
        waits: what may be due, in the words of the index.
        order: what the index has behind the congregation: the instant at which
            something is due, and the rest.
    """
    some = select(Congregation.id).order_by(func.random()).limit(ASKED_MAX).subquery()
    of = model.congregation_id
    first_is_due = (
        select(and_(of == some.c.id, order[0] <= now))
        .where(waits, of >= some.c.id)
        .order_by(of, *order)
        .limit(1)
        .scalar_subquery()
    )
    return select(some.c.id).where(first_is_due).limit(SHARING_MAX)


def share_out(
    oldest: Sequence[T],
    limit: int,
    sharing: Callable[[], Sequence[UUID]],
    own: Callable[[UUID, int], Iterable[T]],
    key: Callable[[T], Hashable],
) -> list[T]:
    """Return up to ``limit`` due rows: equal shares first, then the oldest of all.

    ``sharing`` says which congregations have some, and is asked only when the oldest
    fill the claim; ``own`` takes the oldest few of one congregation.
    """
    if len(oldest) < limit or len(present := sharing()) < 2:
        return list(oldest)
    share = max(1, limit // len(present))
    chosen = {key(row): row for of in present for row in own(of, share)}
    chosen |= {key(row): row for row in oldest}
    return list(chosen.values())[:limit]
