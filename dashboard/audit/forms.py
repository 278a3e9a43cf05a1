"""The filter of the audit log; it reads the address, so a filtered list is a link."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any, ClassVar, Final

from sqlalchemy import ColumnElement
from wtforms import HiddenField, SelectChoice, SelectField
from wtforms.validators import Length

from dashboard.filter_fields import MomentField, by_own_clock, clean
from dashboard.search.kinds import SEARCHED
from dashboard.search.plain import PlainFilter
from tasks.models import AuditEntry
from tasks.saying import later, meant

#: What may be acted on, as the entries' subjects are called.
SUBJECT_KINDS: Final = {
    "rule": later("Rule"),
    "execution": later("Execution"),
    "scheduled_job": later("Scheduled job"),
    "operation": later("Operation"),
    "lane": later("Lane"),
    "congregation": later("Congregation"),
    "token": later("Token"),
    "suppression": later("Suppression"),
    "endpoint": later("Endpoint"),
    "delivery": later("Delivery"),
    "engagement": later("Engagement"),
    "contact": later("Contact"),
    "agent": later("Agent"),
    "contact_import": later("Contact import"),
    "operator": later("Operator"),
}


class AuditFilter(PlainFilter):
    """Which entries to list; every field may be empty."""

    searched = SEARCHED["audit"]
    former: ClassVar[Mapping[str, str]] = {"actor": "who", "action": "action"}
    kind = SelectField(
        later("Subject"),
        choices=[
            SelectChoice("", later("Any")),
            *(SelectChoice(word, name) for word, name in SUBJECT_KINDS.items()),
        ],
        validate_choice=False,
        filters=[clean],
    )
    subject = HiddenField(later("Subject's id"), [Length(max=128)], filters=[clean])
    since = MomentField(by_own_clock(later(meant("a time", "From"))))
    until = MomentField(by_own_clock(later(meant("a time", "Before"))))

    def wanted(self, now: datetime) -> Sequence[ColumnElement[bool]]:
        """Return what must hold; a field with an error does not count."""
        return self.conditions(now, [*self._simple()])

    def _simple(self) -> Iterator[ColumnElement[bool]]:
        if kind := self._value("kind"):
            yield AuditEntry.subject_kind == kind
        if subject := self._value("subject"):
            yield AuditEntry.subject_id == subject
        if since := self._value("since"):
            yield AuditEntry.created_at >= since
        if until := self._value("until"):
            yield AuditEntry.created_at < until

    def _value(self, name: str) -> Any:  # noqa: ANN401  # WTForms has no types
        field = self[name]
        return None if field.errors else field.data
