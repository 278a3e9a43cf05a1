"""Whether the event that a rule waits for came, and what the rule made of it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from tasks.automation.entities import kind_of
from tasks.automation.explaining.parts import (
    Check,
    Facts,
    Holds,
    Link,
    sentence_of,
    status_of,
    when,
    with_article,
)
from tasks.automation.triggers import Trigger
from tasks.models.event import Decision, DecisionOutcome, Event
from tasks.models.reason import Reason
from tasks.models.rule import Rule

#: Reasons that are about an instant: then they were true, by now they may not be.
_AT_THAT_TIME: Final = frozenset({Reason.RULE_DISABLED, Reason.OUT_OF_SCOPE})


def of_event(facts: Facts, trigger: Trigger) -> Iterator[Check]:
    """Yield the steps from the event to the decision."""
    event = facts.event
    if event is None:
        yield Check(Holds.NO, _never(facts, trigger))
        return
    yield Check(
        Holds.YES,
        f"{trigger.name} was reported on {when(event.created_at)}.",
        Link("event", event.id),
    )
    decision = facts.decision
    if decision is None:
        yield Check(Holds.NO, why_undecided(facts.rule, event))
    elif decision.outcome is DecisionOutcome.NO:
        first = decision.execution_id  # of a duplicate
        yield Check(
            Holds.NO, _said_no(decision), Link("execution", first) if first else None
        )
    else:
        yield Check(Holds.YES, "The rule fired.")


def _never(facts: Facts, trigger: Trigger) -> str:
    kind = kind_of(facts.record)
    if trigger.subject != kind:
        return (
            f"The rule waits for {trigger.name}, which is about "
            f"{with_article(trigger.subject)}; none was reported that names this "
            f"{kind}."
        )
    since = facts.kept_since
    if since is not None and facts.record.created_at < since:
        return (
            f"No {trigger.name} is known of it{status_of(facts.record)}. What was "
            f"reported before {when(since)} is no longer kept."
        )
    return f"No {trigger.name} was ever reported for it{status_of(facts.record)}."


def why_undecided(rule: Rule, event: Event) -> str:
    """Return why a rule of the event's trigger left no decision about it."""
    if not rule.covers(event.podcast_id):
        return "The rule belongs to another podcast."
    if rule.created_at > event.created_at:
        return (
            f"The rule was made on {when(rule.created_at)}, after that: rules do not "
            "act on what was before them."
        )
    if rule.version > 1 and rule.updated_at > event.created_at:
        return (
            f"The rule was changed on {when(rule.updated_at)}, after that, and did not "
            "wait for this before."
        )
    return "Nothing is noted of what the rule made of it: it is too long ago."


def _said_no(decision: Decision) -> str:
    sentence = sentence_of(decision.reason, decision.detail)
    if decision.reason in _AT_THAT_TIME:
        return f"When it was reported, the rule said no. At that time: {sentence}"
    return f"When it was reported, the rule said no: {sentence}"
