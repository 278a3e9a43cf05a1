"""Conditions of a rule: what must hold besides its trigger, and what was seen instead.

Kept in ``Rule.conditions`` as ``{"match": "all", "rows": [{"field": "booking.status",
"operator": "is", "value": "confirmed"}]}``; an empty object asks for nothing.  Texts
are compared without regard to case and to space around them.  A field that is missing
or has no value meets ``is empty`` only.  Nothing here raises, whatever the JSON is.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any, Final

from tasks.automation import comparing
from tasks.automation.condition_rows import (
    Condition,
    Match,
    Operator,
    choices,
    match_of,
    rows_of,
)
from tasks.models.base import Json
from tasks.saying import say

DETAIL_MAX: Final = 500
_SEEN_MAX: Final = 80


def unmet(conditions: Mapping[str, Any], context: Mapping[str, Any]) -> str | None:
    """Return why the conditions do not hold, in a sentence; ``None``: they hold.

    Whoever keeps it in a row asks ``in_english``.

    Args:
        context: what messages are made from, with its section ``event``.
    """
    if not conditions:
        return None
    rows = rows_of(conditions)
    if not rows:
        return say("The rule's conditions cannot be read; save the rule anew.")
    failed = [
        (row, seen)
        for row in rows
        if not _holds(row, seen := comparing.value_at(context, row.field))
    ]
    if match_of(conditions) is Match.ANY:
        if len(failed) < len(rows):
            return None
        each = "; ".join(
            say("%(condition)s (seen: %(seen)s)", condition=row, seen=_shown(seen))
            for row, seen in failed
        )
        return _cut(say("Wanted one of: %(conditions)s.", conditions=each))
    if not failed:
        return None
    row, seen = failed[0]
    told = say("Wanted: %(wanted)s. Seen: %(seen)s.", wanted=row, seen=_shown(seen))
    return _cut(told)


def with_event(context: Json, trigger_type: str, at: datetime) -> Json:
    """Return a context with its section ``event``, as conditions and messages see it.

    Args:
        at: when the rule was to act.
    """
    return context | {"event": {"type": trigger_type, "occurred_at": at.isoformat()}}


def _holds(row: Condition, seen: object) -> bool:
    match row.operator:
        case Operator.EMPTY:
            return comparing.is_empty(seen)
        case _ if comparing.is_empty(seen):
            return False
        case Operator.NOT_EMPTY:
            return True
        case Operator.TRUE | Operator.FALSE:
            return comparing.is_same(seen, row.operator.value)
        case Operator.LESS | Operator.MORE:
            order = comparing.order_of_numbers(seen, row.value)
        case Operator.BEFORE | Operator.AFTER:
            order = comparing.order_of_dates(seen, row.value)
        case _:
            return _text_holds(row, seen)
    wanted = 1 if row.operator in {Operator.MORE, Operator.AFTER} else -1
    return order == wanted


def _text_holds(row: Condition, seen: object) -> bool:
    match row.operator:
        case Operator.IS:
            return comparing.is_same(seen, row.value)
        case Operator.IS_NOT:
            return not comparing.is_same(seen, row.value)
        case Operator.CONTAINS:
            return comparing.contains(seen, row.value)
        case Operator.CONTAINS_NOT:
            return not comparing.contains(seen, row.value)
        case Operator.STARTS_WITH:
            return comparing.starts_with(seen, row.value)
        case _:
            return any(comparing.is_same(seen, each) for each in choices(row.value))


def _shown(seen: object) -> str:
    if comparing.is_empty(seen):
        return say("no value") if comparing.is_known(seen) else say("no such value")
    text = comparing.plain(seen)
    shown = text if len(text) <= _SEEN_MAX else f"{text[:_SEEN_MAX]}…"
    return say("“%(text)s”", text=shown)


def _cut(text: str) -> str:
    # Databases refuse NUL and lone surrogates, which JSON may carry.
    clean = text.replace("\x00", "�").encode("utf-8", "replace").decode()
    return clean if len(clean) <= DETAIL_MAX else f"{clean[: DETAIL_MAX - 1]}…"
