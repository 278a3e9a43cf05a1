"""Whether the event that a rule waits for came, and what the rule made of it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

from tasks.automation.entities import Kind, kind_of
from tasks.automation.explaining.parts import (
    Check,
    Facts,
    Holds,
    Link,
    sentence_of,
    status_of,
)
from tasks.automation.triggers import Trigger
from tasks.models.event import Decision, DecisionOutcome, Event
from tasks.models.reason import SENTENCES, Reason
from tasks.models.rule import Rule
from tasks.saying import mark, say
from tasks.saying.formats import instant

#: Reasons that are about an instant: then they were true, by now they may not be.
_AT_THAT_TIME: Final = frozenset({Reason.RULE_DISABLED, Reason.OUT_OF_SCOPE})

#: What triggers are about, in the middle of a sentence.
_ABOUT: Final = {
    "booking": mark("a booking"),
    "episode": mark("an episode"),
    "guest": mark("a guest"),
    "contact": mark("a contact"),
    "work": mark("a work"),
}
_NOT_NAMED: Final[Mapping[Kind, str]] = {
    "booking": mark(
        "The rule waits for “%(trigger)s”, which is about %(about)s; none was "
        "reported that names this booking."
    ),
    "episode": mark(
        "The rule waits for “%(trigger)s”, which is about %(about)s; none was "
        "reported that names this episode."
    ),
    "guest": mark(
        "The rule waits for “%(trigger)s”, which is about %(about)s; none was "
        "reported that names this guest."
    ),
}


def of_event(facts: Facts, trigger: Trigger) -> Iterator[Check]:
    """Yield the steps from the event to the decision."""
    event = facts.event
    if event is None:
        yield Check(Holds.NO, _never(facts, trigger))
        return
    yield Check(
        Holds.YES,
        say(
            "“%(trigger)s” was reported on %(when)s.",
            trigger=say(trigger.title),
            when=instant(event.created_at),
        ),
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
        yield Check(Holds.YES, say("The rule fired."))


def _never(facts: Facts, trigger: Trigger) -> str:
    kind = kind_of(facts.record)
    if trigger.subject != kind:
        about = say(_ABOUT[trigger.subject])
        return say(_NOT_NAMED[kind], trigger=say(trigger.title), about=about)
    since = facts.kept_since
    status = status_of(facts.record)
    if since is not None and facts.record.created_at < since:
        return say(
            "No “%(trigger)s” is known of it%(status)s. What was reported before "
            "%(when)s is no longer kept.",
            trigger=say(trigger.title),
            status=status,
            when=instant(since),
        )
    return say(
        "No “%(trigger)s” was ever reported for it%(status)s.",
        trigger=say(trigger.title),
        status=status,
    )


def why_undecided(rule: Rule, event: Event) -> str:
    """Return why a rule of the event's trigger left no decision about it."""
    if not rule.covers(event.podcast_id):
        return say(SENTENCES[Reason.OUT_OF_SCOPE])
    if rule.created_at > event.created_at:
        return say(
            "The rule was made on %(when)s, after that: rules do not act on what was "
            "before them.",
            when=instant(rule.created_at),
        )
    if rule.version > 1 and rule.updated_at > event.created_at:
        return say(
            "The rule was changed on %(when)s, after that, and did not wait for this "
            "before.",
            when=instant(rule.updated_at),
        )
    return say("Nothing is noted of what the rule made of it: it is too long ago.")


def _said_no(decision: Decision) -> str:
    sentence = sentence_of(decision.reason, decision.detail)
    if decision.reason in _AT_THAT_TIME:
        return say(
            "When it was reported, the rule said no. At that time: %(why)s",
            why=sentence,
        )
    return say("When it was reported, the rule said no: %(why)s", why=sentence)
