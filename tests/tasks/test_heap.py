"""What is loaded at the start is looked at by no collection, for ever."""

from __future__ import annotations

import gc
from collections.abc import Iterator

import pytest

from tasks import heap


@pytest.fixture(autouse=True)
def _as_before() -> Iterator[None]:
    callbacks = list(gc.callbacks)
    yield
    gc.callbacks[:] = callbacks
    gc.unfreeze()


def test_what_lives_through_the_first_full_collections_is_set_aside() -> None:
    heap.set_aside()
    n_at_first = gc.get_freeze_count()
    made_later = [[each] for each in range(1_000)]
    gc.collect()
    assert gc.get_freeze_count() >= n_at_first + len(made_later)


def test_what_is_made_when_all_is_warm_is_collected() -> None:
    callbacks = list(gc.callbacks)
    heap.set_aside()
    for _ in range(5):
        gc.collect()
    n_settled = gc.get_freeze_count()
    _ = [[each] for each in range(1_000)]
    gc.collect()
    assert gc.get_freeze_count() <= n_settled
    assert gc.callbacks == callbacks
