"""Sharing a claim out: no congregation's flood keeps the others waiting."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Sequence
from typing import Final, TypeVar
from uuid import UUID

T = TypeVar("T")

#: Congregations that share one claim; with more of them, a random choice takes turns.
SHARING_MAX: Final = 50


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
