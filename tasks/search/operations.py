"""What a search of operations means."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from sqlalchemy import or_

from tasks.models.operation import Operation, OperationKind, OperationState
from tasks.saying import mark
from tasks.search import conditions as mean
from tasks.search.conditions import Condition, Meanings
from tasks.search.fields import Field, Kind
from tasks.search.parsing import Term
from tasks.search.plain import ID, WHERE, Plain, flag, table

_K = OperationKind
#: Whose rows each kind moves: the lane that carries them.
LANE_OF: Final[Mapping[OperationKind, str]] = {
    _K.RETRY_EXECUTIONS: "executions",
    _K.CANCEL_EXECUTIONS: "executions",
    _K.REPLAY_EXECUTIONS: "executions",
    _K.RELEASE_EXECUTIONS: "executions",
    _K.DROP_EXECUTIONS: "executions",
    _K.REPLAY_EVENTS: "executions",
    _K.CANCEL_JOBS: "scheduled_jobs",
    _K.RETRY_DELIVERIES: "deliveries",
    _K.RETRY_MAILS: "email",
    _K.WAKE_ENGAGEMENTS: "contact_due",
    _K.STOP_ENGAGEMENTS: "contact_due",
    _K.PAUSE_ENGAGEMENTS: "contact_due",
    _K.RESUME_ENGAGEMENTS: "contact_due",
}
_FIELDS: Final = table(
    Field("state", Kind.WORD, mark("How it stands"), tuple(OperationState), "running"),
    Field("kind", Kind.WORD, mark("What is done"), tuple(OperationKind)),
    Field("by", Kind.TEXT, mark("Part of who asked for it"), example="anna@"),
    Field("why", Kind.TEXT, mark("Part of the reason that was given")),
    Field("error", Kind.TEXT, mark("Part of the error"), example="timeout"),
    Field(
        "lane",
        Kind.ID,
        mark("The lane that carries its rows, or that goes on after it"),
        example="executions",
    ),
    Field("again", Kind.FLAG, mark("Whether it sends again what was sent")),
    Field("rows", Kind.NUMBER, mark("How many rows it is about"), example=">1000"),
    Field("skipped", Kind.NUMBER, mark("How many rows it left alone"), example=">0"),
    Field("made", Kind.MOMENT, mark("When it was asked for")),
    WHERE,
    ID,
)


def _lane(term: Term) -> Condition:
    kinds = [kind for kind, lane in LANE_OF.items() if lane == term.value]
    # As ``tasks.operations.kinds.THEN_RESUME``, which reads what is here.
    goes_on = Operation.matching["then_resume"].as_string() == term.value
    return or_(Operation.kind.in_(kinds), goes_on)


def _words(term: Term) -> Condition:
    columns = (Operation.actor, Operation.why, Operation.error)
    return or_(*(mean.contains(column)(term) for column in columns))


OPERATIONS: Final = Plain(
    _FIELDS,
    Meanings(
        {
            "state": mean.is_word(Operation.state),
            "kind": mean.is_word(Operation.kind),
            "by": mean.contains(Operation.actor),
            "why": mean.contains(Operation.why),
            "error": mean.contains(Operation.error),
            "lane": _lane,
            "again": flag(Operation.is_again.is_(True)),
            "rows": mean.number(Operation.n_total),
            "skipped": mean.number(Operation.n_done - Operation.n_changed),
            "made": mean.born(Operation.id),
            "congregation": mean.in_congregation(Operation.congregation_id),
            "id": mean.is_id(Operation.id),
        },
        early=frozenset({"state", "made", "congregation", "id"}),
    ),
    words=_words,
    id=Operation.id,
    order=(Operation.id.desc(),),
)
