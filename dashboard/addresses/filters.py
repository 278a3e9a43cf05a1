"""The filters of the lists of addresses and of syncs."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from sqlalchemy import ColumnElement
from wtforms import HiddenField
from wtforms.validators import AnyOf

from dashboard.filter_fields import clean
from dashboard.search.kinds import SEARCHED
from dashboard.search.plain import PlainFilter
from tasks.search.addresses import STANDS


class AddressFilter(PlainFilter):
    """Which addresses to list: how they stand, and a search."""

    searched = SEARCHED["addresses"]
    tab = HiddenField(validators=[AnyOf(["", *STANDS])], filters=[clean])

    def wanted(self, now: datetime) -> Sequence[ColumnElement[bool]]:
        """Return what must hold of each address."""
        within = f"state:{self.tab.data}" if self.tab.data else ""
        return self.conditions(now, within=within)


class SyncFilter(PlainFilter):
    """Which syncs to list."""

    searched = SEARCHED["syncs"]
