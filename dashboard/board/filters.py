"""The filter of the board; it reads the address, so a filtered board is a link."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from sqlalchemy import ColumnElement
from wtforms import HiddenField

from dashboard.board.queries import of_tab
from dashboard.filter_fields import clean
from dashboard.search.kinds import SEARCHED
from dashboard.search.plain import PlainFilter
from tasks.models import Congregation
from tasks.search.documents import STANDS


class BoardFilter(PlainFilter):
    """Which documents to show: how they stand on the board, and a search."""

    searched = SEARCHED["documents"]
    tab = HiddenField(filters=[clean])

    @property
    def chosen(self) -> str:
        """The word of the tab that is open; what is no tab is the first one."""
        return self.tab.data if self.tab.data in STANDS else STANDS[0]

    def wanted(
        self, congregations: Sequence[Congregation], now: datetime
    ) -> Sequence[ColumnElement[bool]]:
        """Return what must hold of each document on the boards of congregations."""
        return self.conditions(now, [of_tab(congregations, self.chosen, now)])
