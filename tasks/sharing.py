"""Sharing a claim out: no congregation's flood keeps the others waiting."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Sequence
from typing import Final, TypeVar
from uuid import UUID

from sqlalchemy import ColumnElement, Select, func, select

from tasks.models.congregation import Congregation

T = TypeVar("T")

#: Congregations that share one claim; with more of them, a random choice takes turns.
SHARING_MAX: Final = 50
#: Congregations that are asked whether they have something due; of more, too, a random
#: choice, so that a claim costs the same however many there are.
ASKED_MAX: Final = 500


def having(
    oldest_of: Callable[[ColumnElement[UUID]], Select[UUID]],
) -> Select[UUID]:
    """Return the statement that finds congregations which have something due.

    Each is looked up singly, which an index on the congregation and the order of
    ``oldest_of`` should serve.  Not with EXISTS: PostgreSQL may join that, and then
    reads everything that is due, for each claim of a long backlog.

    Args:
        oldest_of: what is due of one congregation, oldest first.
    """
    some = select(Congregation.id).order_by(func.random()).limit(ASKED_MAX).subquery()
    oldest = oldest_of(some.c.id).limit(1).scalar_subquery()
    return select(some.c.id).where(oldest.is_not(None)).limit(SHARING_MAX)


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
