"""The filter of the audit log; it reads the address, so a filtered list is a link."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Final

from werkzeug.datastructures import MultiDict
from wtforms import DateTimeLocalField, Form, SelectChoice, SelectField, StringField
from wtforms.validators import Length, Optional

from dashboard.audit.queries import AuditFilter
from tasks.saying import later

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
#: What browsers send for a datetime-local field, with and without seconds.
_FORMATS: Final = ["%Y-%m-%dT%H:%M", "%Y-%m-%dT%H:%M:%S"]


class AuditFilterForm(Form):  # type: ignore[misc]  # WTForms has no types
    """Which entries to list; every field may be empty."""

    actor = StringField(later("Who"), [Length(max=255)])
    action = StringField(
        later("Action"),
        [Length(max=64)],
        render_kw={"placeholder": later("rule. or rule.edited")},
    )
    kind = SelectField(
        later("Subject"),
        choices=[
            SelectChoice("", later("Any")),
            *(SelectChoice(word, name) for word, name in SUBJECT_KINDS.items()),
        ],
        validate_choice=False,
    )
    subject = StringField(later("Subject's id"), [Length(max=128)])
    since = DateTimeLocalField(later("From (UTC)"), [Optional()], format=_FORMATS)
    until = DateTimeLocalField(later("Before (UTC)"), [Optional()], format=_FORMATS)

    @classmethod
    def of(cls, args: MultiDict[str, str]) -> AuditFilterForm:
        """Return the form filled from an address; what is wrong has its errors."""
        form = cls(args)
        form.validate()
        return form

    def wanted(self) -> AuditFilter:
        """Return what is asked for; a field with an error does not count."""
        return AuditFilter(
            actor=self._text("actor"),
            action=self._text("action"),
            subject_kind=self._text("kind"),
            subject_id=self._text("subject"),
            since=self._instant("since"),
            until=self._instant("until"),
        )

    def _text(self, name: str) -> str:
        field = self[name]
        return "" if field.errors else (field.data or "").strip()

    def _instant(self, name: str) -> datetime | None:
        field = self[name]
        if field.errors or field.data is None:
            return None
        moment: datetime = field.data
        return moment.replace(tzinfo=UTC)
