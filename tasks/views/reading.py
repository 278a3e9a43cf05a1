"""What the engine asks of the console: who is to hear of a view, and what they see.

A view's filter is one of the console's lists, which the engine does not know.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from tasks.models.saved_view import SavedView


@dataclass(frozen=True, slots=True)
class Seen:
    """What one person sees of a view."""

    operator_id: UUID
    address: str
    language: str | None  # None: none was chosen
    #: How many rows, counted to where the view warns; None: its filter cannot be read.
    n: int | None


#: Returns who is to hear when a view warns.  Everybody counts their own rows.
ViewReader = Callable[[SavedView, datetime], Sequence[Seen]]
