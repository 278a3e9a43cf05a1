"""What a search of congregations means where their members who left are told of."""

from __future__ import annotations

from typing import Final

from sqlalchemy import or_, select

from tasks.models.congregation import Congregation
from tasks.models.daily import DailyRun
from tasks.models.erasure import RetentionBlock
from tasks.models.member import Member
from tasks.saying import mark
from tasks.search import conditions as mean
from tasks.search.conditions import Condition, Meanings
from tasks.search.fields import Field, Kind
from tasks.search.parsing import Term
from tasks.search.plain import ID, Plain, flag, table

#: As ``tasks.lanes.retention.NAME``; lanes are further out than searches.
_LANE: Final = "retention"
_FIELDS: Final = table(
    Field("name", Kind.TEXT, mark("Part of its name"), example="mary"),
    Field("slug", Kind.ID, mark("The congregation’s short name"), example="st-mary"),
    Field(
        "months", Kind.NUMBER, mark("For how many months who left is kept"), example="6"
    ),
    Field("left", Kind.FLAG, mark("Whether somebody left and is still known by name")),
    Field("stays", Kind.FLAG, mark("Whether somebody has to stay")),
    Field("failed", Kind.FLAG, mark("Whether the last run failed")),
    Field("run", Kind.MOMENT, mark("When the last run was done"), example="<-2d"),
    ID,
)


def _has_left() -> Condition:
    return (
        select(Member.id)
        .where(
            Member.congregation_id == Congregation.id,
            # As the index says it.
            Member.left_on.is_not(None),
            Member.anonymised_at.is_(None),
        )
        .correlate(Congregation)
        .exists()
    )


def _has_blocked() -> Condition:
    return (
        select(RetentionBlock.member_id)
        .where(RetentionBlock.congregation_id == Congregation.id)
        .correlate(Congregation)
        .exists()
    )


def _has_run(condition: Condition) -> Condition:
    return (
        select(DailyRun.lane)
        .where(
            DailyRun.congregation_id == Congregation.id,
            DailyRun.lane == _LANE,
            condition,
        )
        .correlate(Congregation)
        .exists()
    )


def _run(term: Term) -> Condition:
    return _has_run(mean.moment(DailyRun.done_at)(term))


def _words(term: Term) -> Condition:
    columns = (Congregation.name, Congregation.slug)
    return or_(*(mean.contains(column)(term) for column in columns))


RETENTION: Final = Plain(
    _FIELDS,
    Meanings(
        {
            "name": mean.contains(Congregation.name),
            "slug": mean.equals(Congregation.slug),
            "months": mean.number(Congregation.retention_months),
            "left": flag(_has_left()),
            "stays": flag(_has_blocked()),
            "failed": flag(_has_run(DailyRun.failed_at.is_not(None))),
            "run": _run,
            "id": mean.is_id(Congregation.id),
        },
        early=frozenset(_FIELDS),
    ),
    words=_words,
    id=Congregation.id,
    has_early_words=True,
)
