"""What searches of groups, and of accounts that get mails, mean: all are looked at."""

from __future__ import annotations

from typing import Any, Final

from sqlalchemy import Select, or_, select, true

from tasks.congregation.names import folded
from tasks.models.member import Account, Group, GroupMember, Member
from tasks.saying import mark
from tasks.search import conditions as mean
from tasks.search.conditions import Condition, Meanings
from tasks.search.fields import Field, Kind
from tasks.search.parsing import Term
from tasks.search.plain import ID, WHERE, Plain, begins, flag, table

_GROUPED: Final = table(
    Field("name", Kind.TEXT, mark("Part of its name"), example="north"),
    Field("responsible", Kind.TEXT, mark("Part of the name of who leads it")),
    Field("deputy", Kind.TEXT, mark("Part of the deputy’s name")),
    Field("member", Kind.TEXT, mark("Part of the name of who belongs to it")),
    WHERE,
    ID,
)
_MAILED: Final = table(
    Field("address", Kind.TEXT, mark("Part of the address"), example="@example.org"),
    Field("name", Kind.TEXT, mark("Part of the name"), example="anna"),
    Field("active", Kind.FLAG, mark("Whether the account is in use")),
    Field("member", Kind.FLAG, mark("Whether it is a member’s")),
    Field("made", Kind.MOMENT, mark("When it was made")),
    WHERE,
    ID,
)


def _named(text: str) -> Select[Any]:
    """Select members by their names; accents do not matter."""
    words = folded(text).split()
    has = [Member.search_name.contains(word, autoescape=True) for word in words]
    return select(Member.id).where(true(), *has)


def _responsible(term: Term) -> Condition:
    return Group.responsible_id.in_(_named(term.value))


def _member(term: Term) -> Condition:
    inside = GroupMember.member_id.in_(_named(term.value))
    return Group.id.in_(select(GroupMember.group_id).where(inside))


_name: Final = mean.contains(Group.name)

GROUPS: Final = Plain(
    _GROUPED,
    Meanings(
        {
            "name": _name,
            "responsible": _responsible,
            "deputy": lambda term: Group.deputy_id.in_(_named(term.value)),
            "member": _member,
            "congregation": mean.in_congregation(Group.congregation_id),
            "id": mean.is_id(Group.id),
        },
        early=frozenset(_GROUPED),
    ),
    words=lambda term: or_(_name(term), _responsible(term), _member(term)),
    id=Group.id,
    has_early_words=True,
)
RECIPIENTS: Final = Plain(
    _MAILED,
    Meanings(
        {
            "address": mean.contains(Account.email),
            "name": mean.contains(Account.name),
            "active": flag(Account.is_active.is_(True)),
            "member": flag(Account.member_id.is_not(None)),
            "made": mean.moment(Account.created_at),
            "congregation": mean.in_congregation(Account.congregation_id),
            "id": mean.is_id(Account.id),
        },
        early=frozenset(_MAILED),
    ),
    words=begins(Account.email),
    id=Account.id,
    has_early_words=True,
)
