"""What searches of congregations, and of tokens for the API, mean: they are few."""

from __future__ import annotations

from typing import Final

from sqlalchemy import and_, func, literal, or_

from tasks.clock import utcnow
from tasks.models.access import ApiToken
from tasks.models.congregation import Congregation
from tasks.saying import mark
from tasks.search import conditions as mean
from tasks.search.conditions import Condition, Meanings
from tasks.search.fields import Field, Kind
from tasks.search.parsing import Term
from tasks.search.plain import ID, WHERE, Plain, table

#: How a token stands.
STANDS: Final = ("active", "expired", "revoked")
_HOUSES: Final = table(
    Field("name", Kind.TEXT, mark("Part of its name"), example="mary"),
    Field("slug", Kind.ID, mark("The congregation’s short name"), example="st-mary"),
    Field("locale", Kind.WORD, mark("The language it writes in"), ("en", "fr")),
    Field("zone", Kind.TEXT, mark("Part of its timezone"), example="paris"),
    Field("made", Kind.MOMENT, mark("When it was made")),
    ID,
)
_TOKENS: Final = table(
    Field("state", Kind.WORD, mark("How it stands"), STANDS, "active"),
    Field("name", Kind.TEXT, mark("Part of its name"), example="website"),
    Field("scope", Kind.ID, mark("What it may do"), example="events:write"),
    Field("by", Kind.TEXT, mark("Part of who made it"), example="anna@"),
    Field("made", Kind.MOMENT, mark("When it was made")),
    Field("used", Kind.MOMENT, mark("When it was used last"), example="<-30d"),
    Field("expires", Kind.MOMENT, mark("When it expires"), example="<+30d"),
    WHERE,
    ID,
)


def _state(term: Term) -> Condition:
    is_over = and_(ApiToken.expires_at.is_not(None), ApiToken.expires_at <= utcnow())
    lives = ApiToken.revoked_at.is_(None)
    return {
        "active": and_(lives, is_over.is_not(True)),
        "expired": and_(lives, is_over),
        "revoked": ApiToken.revoked_at.is_not(None),
    }[term.value]


def _scope(term: Term) -> Condition:
    spaced = literal(" ") + ApiToken.scopes + literal(" ")
    return func.lower(spaced).contains(f" {term.value.lower()} ", autoescape=True)


_name: Final = mean.contains(Congregation.name)

CONGREGATIONS: Final = Plain(
    _HOUSES,
    Meanings(
        {
            "name": _name,
            "slug": mean.equals(Congregation.slug),
            "locale": mean.is_word(Congregation.locale),
            "zone": mean.contains(Congregation.timezone),
            "made": mean.moment(Congregation.created_at),
            "id": mean.is_id(Congregation.id),
        },
        early=frozenset(_HOUSES),
    ),
    words=lambda term: or_(_name(term), mean.contains(Congregation.slug)(term)),
    id=Congregation.id,
    has_early_words=True,
)
TOKENS: Final = Plain(
    _TOKENS,
    Meanings(
        {
            "state": _state,
            "name": mean.contains(ApiToken.name),
            "scope": _scope,
            "by": mean.contains(ApiToken.created_by),
            "made": mean.moment(ApiToken.created_at),
            "used": mean.moment(ApiToken.last_used_at),
            "expires": mean.moment(ApiToken.expires_at),
            "congregation": mean.in_congregation(ApiToken.congregation_id),
            "id": mean.is_id(ApiToken.id),
        },
        early=frozenset(_TOKENS),
    ),
    words=mean.contains(ApiToken.name),
    id=ApiToken.id,
    has_early_words=True,
)
