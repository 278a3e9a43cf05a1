"""Why a rule did, or did not, do anything for one record.  Pure: no database.

``explain`` goes the way that the engine goes, from the rule over the event or the date
to what came of it, and says in a sentence for each step whether it held.
``evidence`` reads what it needs.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import Final

from tasks.automation.entities import Kind, kind_of
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
)
from tasks.automation.triggers import TRIGGERS
from tasks.saying import mark, say
from tasks.saying.formats import instant

__all__ = [
    "Check",
    "Explanation",
    "Facts",
    "Holds",
    "Link",
    "Present",
    "explain",
    "sentence_of",
]

_ELSEWHERE: Final[Mapping[Kind, str]] = {
    "booking": mark(
        "The rule belongs to other podcasts than this booking, which is of %(podcast)s."
    ),
    "episode": mark(
        "The rule belongs to other podcasts than this episode, which is of %(podcast)s."
    ),
    "guest": mark(
        "The rule belongs to other podcasts than this guest, which is of %(podcast)s."
    ),
}


def explain(facts: Facts, now: datetime) -> Explanation:
    """Return why the rule did, or did not, do anything for the record."""
    trigger = TRIGGERS.get(facts.rule.trigger_type)
    checks = list(_of_rule(facts))
    if trigger is None:
        word = facts.rule.trigger_type
        unknown = say("It waits for %(trigger)s, which is unknown.", trigger=word)
        checks.append(Check(Holds.NO, unknown))
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
        at = instant(rule.deleted_at)
        yield Check(bad, say("The rule was deleted on %(when)s.", when=at))
    elif not rule.enabled:
        yield Check(bad, say("The rule is switched off."))
    else:
        yield Check(Holds.YES, say("The rule is switched on."))
    if not rule.covers(facts.record.podcast_id):
        elsewhere = _ELSEWHERE[kind_of(facts.record)]
        yield Check(bad, say(elsewhere, podcast=facts.record.podcast_id))
    elif rule.podcast_ids is not None:
        podcast = facts.record.podcast_id
        here = say("It belongs to the podcast %(podcast)s.", podcast=podcast)
        yield Check(Holds.YES, here)
