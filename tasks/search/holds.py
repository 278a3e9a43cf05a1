"""What a search of holds means: people set them, so all of them are looked at."""

from __future__ import annotations

from typing import Final

from sqlalchemy import func, or_, select
from sqlalchemy.orm import aliased

from tasks.models.hold import Channel, Hold, HoldKind
from tasks.models.rule import Rule
from tasks.saying import mark
from tasks.search import conditions as mean
from tasks.search.conditions import Condition, Meanings
from tasks.search.fields import Field, Kind
from tasks.search.parsing import Term
from tasks.search.plain import ID, WHERE, Plain, flag, table

#: What a hold of all ways out is called.
_ALL: Final = "everything"
_FIELDS: Final = table(
    Field("channel", Kind.WORD, mark("Which way out is held"), (*Channel, _ALL)),
    Field("rule", Kind.TEXT, mark("Part of the rule’s name"), example='"24h reminder"'),
    Field("why", Kind.TEXT, mark("Part of the reason that was given")),
    Field("by", Kind.TEXT, mark("Part of who set it, or lifted it"), example="anna@"),
    Field("volume", Kind.FLAG, mark("Whether unusual volume was why")),
    Field("lifted", Kind.FLAG, mark("Whether somebody lifted it")),
    Field("held", Kind.MOMENT, mark("When it began"), example=">-30d"),
    Field("ended", Kind.MOMENT, mark("When it ended"), example=">-7d"),
    WHERE,
    ID,
)


def _channel(term: Term) -> Condition:
    if term.value == _ALL:
        return Hold.channel.is_(None)
    return mean.is_word(Hold.channel)(term)


def _rule(term: Term) -> Condition:
    named = aliased(Rule)  # the list shows names of rules as well
    like = named.name.icontains(term.value, autoescape=True)
    return Hold.rule_id.in_(select(named.id).where(like))


def _by(term: Term) -> Condition:
    return or_(
        mean.contains(Hold.held_by)(term),
        mean.contains(func.coalesce(Hold.lifted_by, ""))(term),
    )


def _words(term: Term) -> Condition:
    return or_(mean.contains(Hold.why)(term), _by(term), _rule(term))


HOLDS: Final = Plain(
    _FIELDS,
    Meanings(
        {
            "channel": _channel,
            "rule": _rule,
            "why": mean.contains(Hold.why),
            "by": _by,
            "volume": flag(Hold.kind == HoldKind.VOLUME),
            "lifted": flag(Hold.lifted_at.is_not(None)),
            "held": mean.moment(Hold.held_at),
            "ended": mean.moment(func.coalesce(Hold.lifted_at, Hold.until)),
            "congregation": mean.in_congregation(Hold.congregation_id),
            "id": mean.is_id(Hold.id),
        },
        early=frozenset(_FIELDS),
    ),
    words=_words,
    id=Hold.id,
    has_early_words=True,
)
