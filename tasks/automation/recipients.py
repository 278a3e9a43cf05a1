"""Who an execution would go to, as far as it can be told when it is made."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from tasks.automation.actions import ACTIONS
from tasks.models.rule import Rule

#: As long as the column; a longer address is no address.
_MAX: Final = 320


def recipient_of(rule: Rule, context: Mapping[str, Any]) -> str | None:
    """Return the address; ``None``: there is none, or the action is not known here."""
    action = ACTIONS.get(rule.action)
    address = action.recipient(rule.settings, context) if action else None
    return address[:_MAX] if address else None
