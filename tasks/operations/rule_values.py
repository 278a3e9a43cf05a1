"""A change of a rule, checked and turned into the columns that it would write."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final
from uuid import UUID

from sqlalchemy.orm import Session

from tasks.operations.rule_fields import InvalidRule, RuleChange, clean
from tasks.operations.rule_scope import clean_scope, problem_of_scope
from tasks.operations.rule_times import TIMED_BY

#: A change to one of these moves the jobs that the rule has planned already.
_PLANNED_BY: Final = ("trigger_type", "podcast_ids", *TIMED_BY)


def moves_jobs(before: Mapping[str, Any], after: Mapping[str, Any]) -> bool:
    """Whether a change of a rule's columns moves the jobs that it has planned."""
    return any(before[name] != after[name] for name in _PLANNED_BY)


def values_of(
    session: Session, congregation_id: UUID, change: RuleChange
) -> dict[str, Any]:
    """Return a rule's columns as a change would write them.

    Raises:
        InvalidRule: with everything that is wrong, not only the first.
    """
    problems: dict[str, str] = {}
    try:
        values = clean(change)
    except InvalidRule as refused:
        problems.update(refused.problems)
        values = {}
    if problem := problem_of_scope(session, congregation_id, change.podcast_ids):
        problems["podcast_ids"] = problem
    if problems:
        raise InvalidRule(problems)
    return {**values, "podcast_ids": clean_scope(change.podcast_ids)}
