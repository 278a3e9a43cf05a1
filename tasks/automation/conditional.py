"""Asking the conditions of many rows' rules, at the last moment."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from uuid import UUID

from tasks.automation import conditions
from tasks.automation.candidates import Candidate
from tasks.models.base import Json
from tasks.models.rule import Rule


def unmet_of(
    rows: Sequence[Candidate],
    rules: Mapping[UUID, Rule],
    contexts: Mapping[UUID, Json],
) -> dict[UUID, str]:
    """Return why conditions do not hold, by row; a row that is left out may go.

    Args:
        contexts: by row; needed of those only whose rule has conditions.
    """
    found: dict[UUID, str] = {}
    if not any(rule.conditions for rule in rules.values()):
        return found
    for row in rows:
        wanted = rules[row.rule_id].conditions
        if not wanted:
            continue
        told = conditions.with_event(contexts[row.id], row.trigger_type, row.due_at)
        if (detail := conditions.unmet(wanted, told)) is not None:
            found[row.id] = detail
    return found
