"""The filters of the lists of outreach."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import ClassVar

from sqlalchemy import ColumnElement
from wtforms import HiddenField
from wtforms.validators import AnyOf

from dashboard.filter_fields import clean
from dashboard.outreach.tabs import TABS, Tab
from dashboard.search.kinds import SEARCHED
from dashboard.search.plain import PlainFilter
from tasks.models.base import Json


class EngagementFilter(PlainFilter):
    """Which engagements to list: a tab, which is a search as well, and a search."""

    searched = SEARCHED["engagements"]
    former: ClassVar[Mapping[str, str]] = {"agent": "agent", "campaign": "campaign"}
    tab = HiddenField(validators=[AnyOf(TABS)], filters=[clean])

    @property
    def chosen(self) -> str:
        """The word of the tab that is open."""
        return str(self.tab.data)

    @property
    def open(self) -> Tab:
        """The tab that is open."""
        return TABS[self.chosen]

    def wanted(self, now: datetime) -> Sequence[ColumnElement[bool]]:
        """Return what must hold of each engagement."""
        return self.conditions(now, within=self.open.query)

    def asked(self, now: datetime) -> Json:
        """Return the same as operations keep it."""
        return self.as_json(now, within=self.open.query)


class ContactFilter(PlainFilter):
    """Which contacts to list."""

    searched = SEARCHED["contacts"]


class AgentFilter(PlainFilter):
    """Which agents to list."""

    searched = SEARCHED["agents"]


class CampaignFilter(PlainFilter):
    """Which campaigns of outreach to list."""

    searched = SEARCHED["outreach-campaigns"]


class ImportFilter(PlainFilter):
    """Which imported lists to list."""

    searched = SEARCHED["contact-imports"]
