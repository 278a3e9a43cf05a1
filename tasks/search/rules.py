"""What searches of rules and of webhook endpoints mean: all of them are looked at."""

from __future__ import annotations

from typing import Final

from sqlalchemy import String, and_, cast, false, func, or_, select

from tasks.automation.actions import ACTIONS
from tasks.automation.triggers import TRIGGERS
from tasks.models.endpoint import Endpoint
from tasks.models.podcast import Podcast
from tasks.models.rule import Rule, RulePodcast
from tasks.saying import mark
from tasks.search import conditions as mean
from tasks.search.conditions import Condition, Meanings
from tasks.search.fields import Field, Kind
from tasks.search.parsing import Term
from tasks.search.plain import ID, WHERE, Plain, flag, table
from tasks.webhooks.filters import EVENT_TYPES

_STANDS: Final = ("on", "off")
_RULED: Final = table(
    Field("name", Kind.TEXT, mark("Part of the rule’s name"), example='"24h reminder"'),
    Field("state", Kind.WORD, mark("Whether it is switched on"), _STANDS, "off"),
    Field("trigger", Kind.WORD, mark("What it waits for"), tuple(TRIGGERS)),
    Field("action", Kind.WORD, mark("How the rule acts"), tuple(ACTIONS), "email"),
    Field("podcast", Kind.TEXT, mark("Part of the title of a podcast it is for")),
    Field("lane", Kind.ID, mark("The lane that it starts"), example="feeds"),
    Field("steps", Kind.NUMBER, mark("How many further steps it has"), example=">0"),
    Field("limited", Kind.FLAG, mark("Whether it has a rate limit")),
    Field("version", Kind.NUMBER, mark("The rule’s version"), example=">1"),
    Field("changed", Kind.MOMENT, mark("When it was changed last")),
    Field("made", Kind.MOMENT, mark("When it was made")),
    WHERE,
    ID,
)
_ENDED: Final = ("enabled", "failing", "disabled")
_ENDPOINTS: Final = table(
    Field("state", Kind.WORD, mark("How it stands"), _ENDED, "failing"),
    Field("name", Kind.TEXT, mark("Part of its name or address"), example="website"),
    Field("type", Kind.WORD, mark("What it hears of"), tuple(EVENT_TYPES)),
    Field("failures", Kind.NUMBER, mark("How often it failed since it worked")),
    Field("by", Kind.TEXT, mark("Part of who made it"), example="anna@"),
    Field("delivered", Kind.MOMENT, mark("When it last answered well")),
    Field("failed", Kind.MOMENT, mark("When it last answered badly")),
    Field("made", Kind.MOMENT, mark("When it was made")),
    WHERE,
    ID,
)


def _podcast(term: Term) -> Condition:
    """Return the meaning: it is for such a podcast, by name or as for all others."""
    named = or_(
        Podcast.id == term.value, Podcast.title.icontains(term.value, autoescape=True)
    )
    own = (
        select(RulePodcast.rule_id)
        .join(
            Podcast,
            and_(
                Podcast.congregation_id == RulePodcast.congregation_id,
                Podcast.id == RulePodcast.podcast_id,
            ),
        )
        .where(named)
    )
    houses = select(Podcast.congregation_id).where(named)
    for_all = and_(Rule.podcast_ids.is_(None), Rule.congregation_id.in_(houses))
    return or_(Rule.id.in_(own), for_all)


def _lane(term: Term) -> Condition:
    lane = Rule.settings["lane"].as_string() == term.value
    return and_(Rule.action == "start_lane", lane)


def _stands(term: Term) -> Condition:
    is_failing = Endpoint.failing_since.is_not(None)
    return {
        "enabled": and_(Endpoint.enabled.is_(True), ~is_failing),
        "failing": and_(Endpoint.enabled.is_(True), is_failing),
        "disabled": Endpoint.enabled.is_(False),
    }[term.value]


def _name(term: Term) -> Condition:
    return mean.any_contains((Endpoint.description, Endpoint.url), term.value)


def _type(term: Term) -> Condition:
    """Return the meaning: it asked for this type, or for all of them."""
    if term.value not in EVENT_TYPES:
        return false()
    written = cast(Endpoint.event_types, String)
    return or_(Endpoint.event_types.is_(None), written.contains(f'"{term.value}"'))


RULES: Final = Plain(
    _RULED,
    Meanings(
        {
            "name": mean.contains(Rule.name),
            "state": lambda term: Rule.enabled.is_(term.value == "on"),
            "trigger": mean.equals(Rule.trigger_type),
            "action": mean.equals(Rule.action),
            "podcast": _podcast,
            "lane": _lane,
            "steps": mean.number(func.json_array_length(Rule.steps)),
            "limited": flag(Rule.rate_limit.is_not(None)),
            "version": mean.number(Rule.version),
            "changed": mean.moment(Rule.updated_at),
            "made": mean.moment(Rule.created_at),
            "congregation": mean.in_congregation(Rule.congregation_id),
            "id": mean.is_id(Rule.id),
        },
        early=frozenset(_RULED),
    ),
    words=mean.contains(Rule.name),
    id=Rule.id,
    has_early_words=True,
)
ENDPOINTS: Final = Plain(
    _ENDPOINTS,
    Meanings(
        {
            "state": _stands,
            "name": _name,
            "type": _type,
            "failures": mean.number(Endpoint.failures),
            "by": mean.contains(Endpoint.created_by),
            "delivered": mean.moment(Endpoint.delivered_at),
            "failed": mean.moment(Endpoint.failed_at),
            "made": mean.moment(Endpoint.created_at),
            "congregation": mean.in_congregation(Endpoint.congregation_id),
            "id": mean.is_id(Endpoint.id),
        },
        early=frozenset(_ENDPOINTS),
    ),
    words=_name,
    id=Endpoint.id,
    has_early_words=True,
)
