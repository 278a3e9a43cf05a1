"""The filter of the list of territories."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from sqlalchemy import ColumnElement
from sqlalchemy.orm import Session
from wtforms import HiddenField
from wtforms.validators import AnyOf

from dashboard.filter_fields import clean
from dashboard.office import places
from dashboard.search.kinds import SEARCHED
from dashboard.search.plain import PlainFilter
from tasks.search.territories import STANDS, standing


class TerritoryFilter(PlainFilter):
    """Which territories to list: how they stand, and a search."""

    searched = SEARCHED["territories"]
    tab = HiddenField(validators=[AnyOf(["", *STANDS])], filters=[clean])

    def wanted(self, session: Session, now: datetime) -> Sequence[ColumnElement[bool]]:
        """Return what must hold of each territory.

        Where several calendars are seen, the tabs go by the day of UTC: a row may stand
        in its tab some hours early or late, and says how it really is.
        """
        if not self.tab.data:
            return self.conditions(now)
        seen = places(session)
        today = seen[0].today if len(seen) == 1 else now.date()
        return self.conditions(now, [standing(self.tab.data, today)])
