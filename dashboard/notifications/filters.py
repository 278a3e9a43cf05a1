"""The filter of the list of mails."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from sqlalchemy import ColumnElement
from wtforms import HiddenField

from dashboard.filter_fields import clean
from dashboard.search.kinds import SEARCHED
from dashboard.search.plain import PlainFilter
from tasks.models import MailState
from tasks.models.base import Json

_STATES = frozenset(MailState)


class MailFilter(PlainFilter):
    """Which mails to list: how they stand, and a search."""

    searched = SEARCHED["mails"]
    state = HiddenField(filters=[clean])

    @property
    def chosen(self) -> MailState | None:
        """The state whose tab is open; None: any."""
        return MailState(self.state.data) if self.state.data in _STATES else None

    def wanted(self, now: datetime) -> Sequence[ColumnElement[bool]]:
        """Return what must hold of each mail."""
        return self.conditions(now, within=self._within())

    def asked(self, now: datetime) -> Json:
        """Return the same as operations keep it."""
        return self.as_json(now, within=self._within())

    def _within(self) -> str:
        return f"state:{self.chosen.value}" if self.chosen else ""


class RecipientFilter(PlainFilter):
    """Which accounts to list."""

    searched = SEARCHED["recipients"]
