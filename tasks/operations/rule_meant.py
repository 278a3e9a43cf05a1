"""Which rule of a congregation a file means."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import replace
from uuid import UUID

from sqlalchemy import select
from sqlalchemy.orm import Session

from tasks.models import Rule
from tasks.operations.rule_files import Entry


def numbered(entry: Entry, rule: Rule) -> Entry:
    """Return the entry with its steps taken for those of the rule, by their places."""
    steps = tuple(
        replace(step, number=rule.steps[place]["number"])
        if place < len(rule.steps)
        else step
        for place, step in enumerate(entry.change.steps)
    )
    return replace(entry, change=replace(entry.change, steps=steps))


class LivingRules:
    """The living rules of a congregation, found as a file means them."""

    def __init__(self, session: Session, congregation_id: UUID) -> None:
        found: Sequence[Rule] = session.scalars(
            select(Rule).where(
                Rule.congregation_id == congregation_id, Rule.deleted_at.is_(None)
            )
        ).all()
        self._by_id = {rule.id: rule for rule in found}
        self._by_name: dict[str, list[Rule]] = defaultdict(list)
        for rule in found:
            self._by_name[rule.name].append(rule)

    def meant(self, entry: Entry) -> Rule | None:
        """Return the rule with the entry's id, else the only one with its name."""
        if entry.id in self._by_id:
            return self._by_id[entry.id]
        named = self._by_name.get(entry.change.name.strip(), [])
        return named[0] if len(named) == 1 else None
