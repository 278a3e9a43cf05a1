"""What a time rule does when it is late."""

from __future__ import annotations

from typing import Any, Final

from wtforms import IntegerField, RadioField, SelectChoice

from dashboard.rules.fields.base import NUMBER, FieldGroup
from dashboard.rules.fields.what import WhatFields
from tasks.models import LatePolicy, Rule
from tasks.saying import later

_HELPS: Final = "helps"
_LIMIT: Final = "limit"
_NEVER: Final = "never"
#: No number at all, which the engine refuses with its limits.
_MISSING: Final = -1


class LateFields(FieldGroup):
    """Lateness; on the page for ``time.*`` triggers only."""

    late_policy = RadioField(
        later("When its moment has passed already as it learns of the date"),
        choices=[
            SelectChoice(LatePolicy.SKIP, later("Skip it")),
            SelectChoice(
                LatePolicy.SEND_NOW, later("Act at once, if the date is still ahead")
            ),
        ],
        default=LatePolicy.SKIP,
    )
    late_kind = RadioField(
        later("When it could not act in time, because the worker was away"),
        choices=[
            SelectChoice(_HELPS, later("Act while it still helps")),
            SelectChoice(_LIMIT, later("Act up to some minutes late")),
            SelectChoice(_NEVER, later("Skip it")),
        ],
        default=_HELPS,
    )
    late_limit = IntegerField(
        later("Minutes late at most"),
        invalid_value_message=NUMBER,
        render_kw={"min": 5, "inputmode": "numeric"},
    )

    def said(self) -> dict[str, Any]:
        """Return what is to happen; a limit that is no number is refused later."""
        limits = {_LIMIT: self.late_limit.data or _MISSING, _NEVER: 0}
        word = self.late_policy.data
        is_known = word in set(LatePolicy)
        return {
            "late_policy": LatePolicy(word) if is_known else LatePolicy.SKIP,
            "late_limit": limits.get(self.late_kind.data),
        }

    @staticmethod
    def shown(rule: Rule) -> dict[str, Any]:
        """Return what the rule does."""
        kinds = {None: _HELPS, 0: _NEVER}
        return {
            "late_policy": rule.late_policy.value,
            "late_kind": kinds.get(rule.late_limit, _LIMIT),
            "late_limit": rule.late_limit or None,
        }

    def drop_unasked(self) -> None:
        """Forget a wrong number that does not count."""
        trigger = self.trigger if isinstance(self, WhatFields) else None
        is_asked = trigger is not None and trigger.is_time
        if not is_asked or self.late_kind.data != _LIMIT:
            self.late_limit.errors = []
