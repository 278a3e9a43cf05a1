"""What became of one piece of an operation."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field
from uuid import UUID


@dataclass(slots=True)
class Acted:
    """Rows that were changed, by congregation and id, and those that were not."""

    changed: list[tuple[UUID, UUID]] = field(default_factory=list)
    #: A sentence -> the rows that it holds for.
    skipped: dict[str, list[UUID]] = field(default_factory=lambda: defaultdict(list))
    n_made: int = 0  # executions that came into being

    def skip(self, ids: Iterable[UUID], why: str) -> None:
        """Note rows that are left as they are."""
        if found := list(ids):
            self.skipped[why] += found
