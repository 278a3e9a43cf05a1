"""The filter of the list of a rule's versions."""

from __future__ import annotations

from datetime import datetime
from typing import Final
from uuid import UUID

from sqlalchemy import ColumnElement
from wtforms import HiddenField, validators

from dashboard.filter_fields import clean
from dashboard.search.kinds import SEARCHED
from dashboard.search.plain import PlainFilter
from tasks.models import RuleVersion

#: How versions are listed.
KEYS: Final = (RuleVersion.version.desc(),)


class VersionFilter(PlainFilter):
    """Which versions of a rule to list."""

    searched = SEARCHED["versions"]
    rule_id = HiddenField(
        validators=[validators.InputRequired(), validators.UUID()], filters=[clean]
    )

    def wanted(self, now: datetime) -> list[ColumnElement[bool]]:
        """Return what must hold of each version."""
        own = RuleVersion.rule_id == UUID(self.rule_id.data)
        return self.conditions(now, [own])
