"""The filter of the list of failures."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from sqlalchemy import ColumnElement
from wtforms import HiddenField

from dashboard.filter_fields import clean
from dashboard.search.kinds import SEARCHED
from dashboard.search.plain import PlainFilter
from tasks.search.failures import STANDS


class FailureFilter(PlainFilter):
    """Which groups of failures to list: how they stand, and a search."""

    searched = SEARCHED["failures"]
    show = HiddenField(filters=[clean])

    @property
    def chosen(self) -> str:
        """The word of the tab that is open; what is no tab is the first one."""
        return self.show.data if self.show.data in STANDS else STANDS[0]

    def wanted(self, now: datetime) -> Sequence[ColumnElement[bool]]:
        """Return what must hold of each group."""
        return self.conditions(now, within=f"state:{self.chosen}")
