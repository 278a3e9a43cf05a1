"""The filters of the list of congregations whom somebody left, and of a ledger."""

from __future__ import annotations

from wtforms import HiddenField
from wtforms.validators import InputRequired

from dashboard.filter_fields import clean
from dashboard.search.kinds import SEARCHED
from dashboard.search.plain import PlainFilter


class RetentionFilter(PlainFilter):
    """Which congregations to list."""

    searched = SEARCHED["retention"]


class LedgerFilter(PlainFilter):
    """Which erasures of a congregation to list."""

    searched = SEARCHED["ledger"]
    slug = HiddenField(validators=[InputRequired()], filters=[clean])
