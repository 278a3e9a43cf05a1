"""What a search of the lanes' runs means."""

from __future__ import annotations

from typing import Final

from sqlalchemy import and_

from tasks.models.lane import LaneRun, LaneTrigger
from tasks.saying import mark
from tasks.search import conditions as mean
from tasks.search.conditions import Condition, Meanings
from tasks.search.fields import Field, Kind
from tasks.search.parsing import Term
from tasks.search.plain import Plain, table

STATES: Final = ("waiting", "running", "done", "failed")
_FIELDS: Final = table(
    Field("lane", Kind.ID, mark("The lane’s word"), example="executions"),
    Field("state", Kind.WORD, mark("How it stands"), STATES, "failed"),
    Field("trigger", Kind.WORD, mark("What started it"), tuple(LaneTrigger), "cron"),
    Field("by", Kind.TEXT, mark("Part of who asked for it"), example="anna@"),
    Field("worker", Kind.TEXT, mark("Part of the worker’s name")),
    Field("moved", Kind.NUMBER, mark("How many rows it moved"), example=">100"),
    Field("asked", Kind.MOMENT, mark("When it was asked for"), example=">-24h"),
    Field("id", Kind.UUID, mark("Its own id")),
)


def _state(term: Term) -> Condition:
    has_ended = LaneRun.ended_at.is_not(None)
    return {
        "waiting": LaneRun.started_at.is_(None),
        "running": and_(LaneRun.started_at.is_not(None), LaneRun.ended_at.is_(None)),
        "done": and_(has_ended, LaneRun.error.is_(None)),
        "failed": and_(has_ended, LaneRun.error.is_not(None)),
    }[term.value]


RUNS: Final = Plain(
    _FIELDS,
    Meanings(
        {
            "lane": mean.equals(LaneRun.lane),
            "state": _state,
            "trigger": mean.is_word(LaneRun.trigger),
            "by": mean.contains(LaneRun.requested_by),
            "worker": mean.contains(LaneRun.worker),
            "moved": mean.number(LaneRun.n_moved),
            "asked": mean.moment(LaneRun.requested_at),
            "id": mean.is_id(LaneRun.id),
        },
        early=frozenset({"lane", "asked", "id"}),
    ),
    words=mean.contains(LaneRun.lane),
    id=LaneRun.id,
    order=(LaneRun.requested_at.desc(), LaneRun.id.desc()),
)
