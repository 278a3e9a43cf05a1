"""Why fewer rows were acted on than the question had said."""

from __future__ import annotations

from collections.abc import Mapping

from dashboard.filters import number
from tasks.models import Execution, OperationKind, ScheduledJob
from tasks.operations.kinds import KINDS
from tasks.operations.matching import Matching, is_looked_for
from tasks.saying import say_many
from tasks.search.conditions import SEARCH_WINDOW


def moved_on(
    n: int, n_shown: int, kind: OperationKind, matching: Mapping[str, str]
) -> str:
    """Return that so many of those that were shown matched no more, and why.

    Empty: all of them did.
    """
    if n <= 0:
        return ""
    if not _has_window(kind, matching):
        return say_many(
            n,
            "%(n)s of the %(shown)s that were counted did not match any more when its "
            "turn came: it had changed meanwhile.",
            "%(n)s of the %(shown)s that were counted did not match any more when "
            "their turn came: they had changed meanwhile.",
            shown=number(n_shown),
        )
    return say_many(
        n,
        "%(n)s of the %(shown)s that were counted did not match any more when its turn "
        "came: it had changed meanwhile, or newer ones took its place among the newest "
        "%(window)s that a search looks at.",
        "%(n)s of the %(shown)s that were counted did not match any more when their "
        "turn came: they had changed meanwhile, or newer ones took their place among "
        "the newest %(window)s that a search looks at.",
        shown=number(n_shown),
        window=number(SEARCH_WINDOW),
    )


def _has_window(kind: OperationKind, matching: Mapping[str, str]) -> bool:
    """Whether the filter looked at the newest rows only."""
    text, query = matching.get("text", ""), matching.get("query", "")
    model = KINDS[kind].model
    if model is Execution or model is ScheduledJob:
        return is_looked_for(model, Matching(text=text, query=query))
    return bool(text or query)
