"""What searches of territories and of campaigns mean; all of them are looked at."""

from __future__ import annotations

from datetime import date
from typing import Any, Final

from sqlalchemy import (
    ColumnElement,
    Exists,
    Select,
    and_,
    exists,
    func,
    or_,
    select,
    true,
)

from tasks.clock import utcnow
from tasks.congregation.days import a_day, plus_days
from tasks.congregation.names import folded
from tasks.congregation.territories.resting import REST_DAYS
from tasks.models.campaign import Campaign, CampaignState
from tasks.models.member import Member
from tasks.models.territory import Attribution, Territory, TerritoryKind
from tasks.saying import mark
from tasks.search import conditions as mean
from tasks.search.conditions import Condition, Meanings
from tasks.search.fields import Field, Kind
from tasks.search.parsing import Term
from tasks.search.plain import ID, WHERE, Plain, table

#: How a territory stands; each of them is a tab.
STANDS: Final = ("free", "out", "overdue", "paused", "resting")
_GROUNDS: Final = table(
    Field("state", Kind.WORD, mark("How it stands"), STANDS, "overdue"),
    Field("number", Kind.ID, mark("Its number, as on its card"), example="12"),
    Field("name", Kind.TEXT, mark("Part of its name"), example="mill"),
    Field("kind", Kind.WORD, mark("How it is worked"), tuple(TerritoryKind)),
    Field("member", Kind.TEXT, mark("Part of the name of who works on it")),
    Field("campaign", Kind.TEXT, mark("Part of the campaign it is worked on for")),
    Field("due", Kind.MOMENT, mark("The last day that is not late"), example="<today"),
    WHERE,
    ID,
)
_PLANNED: Final = table(
    Field("state", Kind.WORD, mark("How it stands"), tuple(CampaignState), "active"),
    Field("name", Kind.TEXT, mark("Part of its name"), example="spring"),
    Field("starts", Kind.MOMENT, mark("Its first day"), example=">today"),
    Field("ends", Kind.MOMENT, mark("Its last day"), example=">today"),
    Field("by", Kind.TEXT, mark("Part of who planned it"), example="anna@"),
    WHERE,
    ID,
)


def standing(word: str, today: date) -> ColumnElement[bool]:
    """Return the condition of territories that stand so on a day."""
    is_open = _mine().where(Attribution.ended_on.is_(None))
    goes_on = is_open.where(Attribution.paused_on.is_(None))
    rests = exists().where(_rested(today))
    return {
        "free": and_(~is_open, ~rests),
        "out": goes_on,
        "overdue": goes_on.where(Attribution.due_on < today),
        "paused": is_open.where(Attribution.paused_on.is_not(None)),
        "resting": and_(~is_open, rests),
    }[word]


def _mine() -> Exists:
    return exists().where(
        Attribution.congregation_id == Territory.congregation_id,
        Attribution.territory_id == Territory.id,
    )


def _rested(today: date) -> ColumnElement[bool]:
    """Return the condition of work after which its territory still rests."""
    rest = func.coalesce(
        select(Campaign.rest_days)
        .where(Campaign.id == Attribution.campaign_id)
        .scalar_subquery(),
        REST_DAYS,
    )
    return and_(
        Attribution.congregation_id == Territory.congregation_id,
        Attribution.territory_id == Territory.id,
        Attribution.ended_on.is_not(None),
        plus_days(Attribution.ended_on, rest) >= a_day(today),
    )


def _worked(which: Select[Any], column: Any) -> Condition:  # noqa: ANN401  # a column
    """Return the condition of territories with open work of some members, say."""
    is_open = Attribution.ended_on.is_(None)
    ids = select(Attribution.territory_id).where(is_open, column.in_(which))
    return Territory.id.in_(ids)


def _member(term: Term) -> Condition:
    words = folded(term.value).split()
    has = [Member.search_name.contains(word, autoescape=True) for word in words]
    named = select(Member.id).where(true(), *has)
    return _worked(named, Attribution.member_id)


def _campaign(term: Term) -> Condition:
    named = Campaign.name.icontains(term.value, autoescape=True)
    return _worked(select(Campaign.id).where(named), Attribution.campaign_id)


def _due(term: Term) -> Condition:
    is_open = Attribution.ended_on.is_(None)
    is_due = mean.day(Attribution.due_on)(term)
    return Territory.id.in_(select(Attribution.territory_id).where(is_open, is_due))


def _state(term: Term) -> Condition:
    return {
        "scheduled": and_(Campaign.activated_at.is_(None), Campaign.missed_at.is_(None))
        & Campaign.ended_at.is_(None),
        "active": and_(Campaign.activated_at.is_not(None), Campaign.ended_at.is_(None)),
        "ended": Campaign.ended_at.is_not(None),
        "missed": and_(Campaign.missed_at.is_not(None), Campaign.ended_at.is_(None)),
    }[term.value]


_number: Final = mean.equals(Territory.number)
_name: Final = mean.contains(Territory.name)

TERRITORIES: Final = Plain(
    _GROUNDS,
    Meanings(
        {
            # Where several calendars are seen, the day is that of UTC.
            "state": lambda term: standing(term.value, utcnow().date()),
            "number": _number,
            "name": _name,
            "kind": mean.is_word(Territory.kind),
            "member": _member,
            "campaign": _campaign,
            "due": _due,
            "congregation": mean.in_congregation(Territory.congregation_id),
            "id": mean.is_id(Territory.id),
        },
        early=frozenset(_GROUNDS),
    ),
    words=lambda term: or_(_number(term), _name(term), _member(term)),
    id=Territory.id,
    has_early_words=True,
)
CAMPAIGNS: Final = Plain(
    _PLANNED,
    Meanings(
        {
            "state": _state,
            "name": mean.contains(Campaign.name),
            "starts": mean.day(Campaign.starts_on),
            "ends": mean.day(Campaign.ends_on),
            "by": mean.contains(Campaign.created_by),
            "congregation": mean.in_congregation(Campaign.congregation_id),
            "id": mean.is_id(Campaign.id),
        },
        early=frozenset(_PLANNED),
    ),
    words=mean.contains(Campaign.name),
    id=Campaign.id,
    has_early_words=True,
)
