"""The filter of the list of members."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from sqlalchemy import ColumnElement
from wtforms import HiddenField
from wtforms.validators import AnyOf

from dashboard.filter_fields import clean
from dashboard.search.kinds import SEARCHED
from dashboard.search.plain import PlainFilter
from tasks.search.people import STANDS

#: What is open when nothing was chosen.
_HERE = STANDS[0]


class MemberFilter(PlainFilter):
    """Which members to list: how they stand, and a search."""

    searched = SEARCHED["members"]
    tab = HiddenField(validators=[AnyOf(["", *STANDS])], filters=[clean])

    @property
    def chosen(self) -> str:
        """The word of the tab that is open."""
        return "" if self.tab.data == _HERE else str(self.tab.data)

    def wanted(self, now: datetime) -> Sequence[ColumnElement[bool]]:
        """Return what must hold of each member."""
        return self.conditions(now, within=f"state:{self.chosen or _HERE}")
