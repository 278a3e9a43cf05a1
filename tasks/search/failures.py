"""What a search of groups of failures means."""

from __future__ import annotations

from typing import Final

from sqlalchemy import and_, or_, select, true

from tasks.clock import utcnow
from tasks.failures.groups import asks, is_open, is_quiet
from tasks.models.endpoint import Endpoint
from tasks.models.failure import FailureGroup
from tasks.models.reason import Reason
from tasks.models.rule import Rule
from tasks.saying import mark
from tasks.search import conditions as mean
from tasks.search.conditions import Condition, Meanings
from tasks.search.fields import Field, Kind
from tasks.search.parsing import Term
from tasks.search.plain import ID, WHERE, Plain, flag, table

#: How a group stands; each of them is a tab.
STANDS: Final = ("open", "acknowledged", "all")
_FIELDS: Final = table(
    Field("state", Kind.WORD, mark("Whether it asks for somebody"), STANDS),
    Field("error", Kind.TEXT, mark("Part of the cause"), example="timeout"),
    Field("reason", Kind.WORD, mark("Why it ended"), tuple(Reason)),
    Field("rule", Kind.TEXT, mark("Part of the rule’s name"), example='"24h reminder"'),
    Field("endpoint", Kind.TEXT, mark("Part of the endpoint’s name or address")),
    Field("delivery", Kind.FLAG, mark("Whether deliveries failed, not executions")),
    Field("n", Kind.NUMBER, mark("How many failures there were"), example=">10"),
    Field("first", Kind.MOMENT, mark("When it failed first")),
    Field("last", Kind.MOMENT, mark("When it failed last")),
    Field("by", Kind.TEXT, mark("Part of who took note of it"), example="anna@"),
    Field("note", Kind.TEXT, mark("Part of the note"), example="known"),
    WHERE,
    ID,
)


def _state(term: Term) -> Condition:
    now = utcnow()
    return {
        "open": asks(now),
        "acknowledged": and_(is_quiet(now), is_open()),
        "all": true(),
    }[term.value]


def _rule(term: Term) -> Condition:
    named = Rule.name.icontains(term.value, autoescape=True)
    return FailureGroup.rule_id.in_(select(Rule.id).where(named))


def _endpoint(term: Term) -> Condition:
    names = (Endpoint.description, Endpoint.url)
    is_meant = mean.any_contains(names, term.value)
    return FailureGroup.endpoint_id.in_(select(Endpoint.id).where(is_meant))


_error: Final = mean.contains(FailureGroup.cause)

FAILURES: Final = Plain(
    _FIELDS,
    Meanings(
        {
            "state": _state,
            "error": _error,
            "reason": mean.is_word(FailureGroup.reason),
            "rule": _rule,
            "endpoint": _endpoint,
            "delivery": flag(FailureGroup.endpoint_id.is_not(None)),
            "n": mean.number(FailureGroup.n),
            "first": mean.moment(FailureGroup.first_at),
            "last": mean.moment(FailureGroup.last_at),
            "by": mean.contains(FailureGroup.acknowledged_by),
            "note": mean.contains(FailureGroup.note),
            "congregation": mean.in_congregation(FailureGroup.congregation_id),
            "id": mean.is_id(FailureGroup.id),
        },
        early=frozenset({"last", "congregation", "id"}),
    ),
    words=lambda term: or_(_error(term), _rule(term), _endpoint(term)),
    id=FailureGroup.id,
    order=(FailureGroup.last_at.desc(), FailureGroup.id.desc()),
)
