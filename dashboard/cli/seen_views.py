"""The console's way to count the rows of views, for the worker's mails about them."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from importlib import import_module
from typing import cast

from sqlalchemy import Engine

from tasks.models import SavedView
from tasks.views.reading import Seen, ViewReader


class ConsoleViews:
    """Counts rows as the console's lists do.

    The worker stays small where nobody wants such mails: the console's lists are
    imported with the first view that is counted.
    """

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._read: ViewReader | None = None

    def __call__(self, view: SavedView, now: datetime) -> Sequence[Seen]:
        """Return who is to hear of a view, and how many rows each of them sees."""
        if self._read is None:
            mailing = import_module("dashboard.saved_views.mailing")
            self._read = cast(ViewReader, mailing.Reader(self._engine))
        return self._read(view, now)
