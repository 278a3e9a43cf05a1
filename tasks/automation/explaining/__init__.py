"""Why a rule did, or did not, do anything for one record.  Pure: no database.

``explain`` goes the way that the engine goes, from the rule over the event or the date
to what came of it, and says in a sentence for each step whether it held.
``evidence`` reads what it needs.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime

from tasks.automation.entities import kind_of
from tasks.automation.explaining.dates import of_date
from tasks.automation.explaining.events import of_event
from tasks.automation.explaining.outcomes import of_execution, of_present
from tasks.automation.explaining.parts import (
    Check,
    Explanation,
    Facts,
    Holds,
    Link,
    Present,
    sentence_of,
    when,
)
from tasks.automation.triggers import TRIGGERS

__all__ = [
    "Check",
    "Explanation",
    "Facts",
    "Holds",
    "Link",
    "Present",
    "explain",
    "sentence_of",
    "when",
]


def explain(facts: Facts, now: datetime) -> Explanation:
    """Return why the rule did, or did not, do anything for the record."""
    trigger = TRIGGERS.get(facts.rule.trigger_type)
    checks = list(_of_rule(facts))
    if trigger is None:
        checks.append(
            Check(
                Holds.NO, f"It waits for {facts.rule.trigger_type}, which is unknown."
            )
        )
    elif trigger.is_time:
        checks += of_date(facts, trigger, now)
    else:
        checks += of_event(facts, trigger)
    checks += of_execution(facts, now)
    checks += of_present(facts)
    return Explanation(facts.rule, tuple(checks))


def _of_rule(facts: Facts) -> Iterator[Check]:
    rule = facts.rule
    # What came of it already was decided by how the rule stood then.
    bad = Holds.NOTE if facts.decision or facts.job or facts.execution else Holds.NO
    if rule.deleted_at is not None:
        yield Check(bad, f"The rule was deleted on {when(rule.deleted_at)}.")
    elif not rule.enabled:
        yield Check(bad, "The rule is switched off.")
    else:
        yield Check(Holds.YES, "The rule is switched on.")
    if not rule.covers(facts.record.podcast_id):
        yield Check(
            bad,
            "The rule belongs to other podcasts than this "
            f"{kind_of(facts.record)}, which is of {facts.record.podcast_id}.",
        )
    elif rule.podcast_ids is not None:
        yield Check(Holds.YES, f"It belongs to the podcast {facts.record.podcast_id}.")
