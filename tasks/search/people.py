"""What a search of members means: they are few, so all of them are looked at."""

from __future__ import annotations

from typing import Final

from sqlalchemy import and_, select

from tasks.congregation.names import folded
from tasks.models.member import Group, GroupMember, Member
from tasks.saying import mark
from tasks.search import conditions as mean
from tasks.search.conditions import Condition, Meanings
from tasks.search.fields import Field, Kind
from tasks.search.parsing import Term
from tasks.search.plain import ID, WHERE, Plain, flag, table

#: The words that say how a member stands; each but ``all`` is a tab, too.
STANDS: Final = ("here", "inactive", "left", "held", "anonymised", "all")
_WORDS_MAX: Final = 6
_FIELDS: Final = table(
    Field("state", Kind.WORD, mark("How the member stands"), STANDS, "left"),
    Field("name", Kind.TEXT, mark("Part of the name; accents do not matter")),
    Field("group", Kind.TEXT, mark("Part of the group’s name")),
    Field("publisher", Kind.FLAG, mark("Whether the member is a publisher")),
    Field("elder", Kind.FLAG, mark("Whether the member is an elder")),
    Field("servant", Kind.FLAG, mark("Whether the member is a servant")),
    WHERE,
    ID,
)


def _state(term: Term) -> Condition:
    living = Member.anonymised_at.is_(None)
    here = and_(living, Member.left_on.is_(None))
    return {
        "here": here,
        "inactive": and_(here, Member.inactive_on.is_not(None)),
        "left": and_(living, Member.left_on.is_not(None)),
        "held": and_(living, Member.hold_until.is_not(None)),
        "anonymised": Member.anonymised_at.is_not(None),
        "all": Member.id.is_not(None),
    }[term.value]


def _name(term: Term) -> Condition:
    """Return the meaning: every word occurs, in whatever order."""
    words = folded(term.value).split()[:_WORDS_MAX]
    has = [Member.search_name.contains(word, autoescape=True) for word in words]
    return and_(Member.id.is_not(None), *has)


def _group(term: Term) -> Condition:
    named = Group.name.icontains(term.value, autoescape=True)
    of_group = select(GroupMember.member_id).join(
        Group, Group.id == GroupMember.group_id
    )
    return Member.id.in_(of_group.where(named))


MEMBERS: Final = Plain(
    _FIELDS,
    Meanings(
        {
            "state": _state,
            "name": _name,
            "group": _group,
            "publisher": flag(Member.is_publisher.is_(True)),
            "elder": flag(Member.is_elder.is_(True)),
            "servant": flag(Member.is_servant.is_(True)),
            "congregation": mean.in_congregation(Member.congregation_id),
            "id": mean.is_id(Member.id),
        },
        early=frozenset(_FIELDS),
    ),
    words=_name,
    id=Member.id,
    has_early_words=True,
)
