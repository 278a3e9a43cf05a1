"""What a search of executions and of scheduled jobs means."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import timedelta
from typing import Any, Final

from sqlalchemy import and_, literal_column, select, true

from tasks.automation.actions import START_LANE
from tasks.clock import utcnow
from tasks.models import Congregation, Execution, Rule, ScheduledJob
from tasks.search import conditions as mean
from tasks.search.anywhere import BOOKING, EPISODE, GUEST, PODCAST
from tasks.search.conditions import Condition, Meaning, all_of, apart
from tasks.search.lists import LISTS
from tasks.search.parsing import Term, parse
from tasks.search.window import Rows

#: Waiting for so long past its time is late; a busy second is not.
LATE_AFTER: Final = timedelta(minutes=1)
_Model = type[Execution] | type[ScheduledJob]
#: The table, or rows of it that were found first.
_Source = _Model | Rows
_STATE_ALL: Final = "all"


def _shared(model: _Source) -> dict[str, Meaning]:
    owner = model.congregation_id
    return {
        "state": _state(model),
        "rule": _rule(model),
        "guest": mean.named(model, BOOKING, GUEST),
        "episode": mean.named(model, EPISODE),
        "podcast": mean.named(model, PODCAST),
        "booking": _booking(model),
        "reason": mean.is_word(model.reason),
        "trigger": mean.equals(model.trigger_type),
        "late": _late(model),
        "version": mean.number(model.rule_version),
        "congregation": mean.in_congregation(owner),
        "id": mean.is_id(model.id),
    }


def _state(model: _Source) -> Meaning:
    is_word = mean.is_word(model.state)
    return lambda term: true() if term.value == _STATE_ALL else is_word(term)


def _rule(model: _Source) -> Meaning:
    return lambda term: model.rule_id.in_(
        select(Rule.id).where(Rule.name.icontains(term.value, autoescape=True))
    )


def _booking(model: _Source) -> Meaning:
    # The index begins with the congregation: naming all of them lets it be used.
    return lambda term: and_(
        model.congregation_id.in_(select(Congregation.id)),
        model.booking_id == term.value,
    )


def _late(model: _Source) -> Meaning:
    """Return the meaning: it waits past its time, or does not."""

    def late(term: Term) -> Condition:
        waits = model.state == literal_column("'pending'")
        is_late = and_(waits, model.run_at < utcnow() - LATE_AFTER)
        return is_late if term.value == "yes" else is_late.is_not(true())

    return late


def _of_executions(model: Any) -> dict[str, Meaning]:  # noqa: ANN401  # its source
    return {
        **_shared(model),
        "action": mean.equals(model.action),
        "to": mean.contains(model.recipient),
        "error": mean.contains(model.error),
        "event": mean.is_id(model.event_id),
        "lane": lambda term: and_(
            model.action == START_LANE.name, model.recipient == term.value
        ),
        "made": mean.born(model.id),
        "due": mean.moment(model.due_at),
        "failures": mean.number(model.failures),
    }


def _of_jobs(model: Any) -> dict[str, Meaning]:  # noqa: ANN401  # its source
    return {
        **_shared(model),
        "action": lambda term: model.rule_id.in_(
            select(Rule.id).where(Rule.action == term.value)
        ),
        "lane": lambda term: model.rule_id.in_(
            select(Rule.id).where(
                Rule.action == START_LANE.name,
                Rule.settings["lane"].as_string() == term.value,
            )
        ),
        "due": mean.moment(model.due_at),
        "made": mean.born(model.id),
    }


_OF: Final = {Execution: _of_executions, ScheduledJob: _of_jobs}
#: Fields that an index serves, or that are a bound of the list's own order.
_EARLY: Final = {
    Execution: frozenset({"state", "booking", "event", "id", "made"}),
    ScheduledJob: frozenset({"state", "booking", "id", "due"}),
}


def work_terms(model: _Model, query: str) -> tuple[list[Term], list[Term]]:
    """Return the terms of a search that an index serves, and all others.

    Raises:
        InvalidInput: ``bad_search``.
    """
    fields = LISTS["executions" if model is Execution else "scheduled"]
    return apart(parse(query, fields), _EARLY[model])


def work_conditions(
    model: _Model,
    terms: Iterable[Term],
    rows: Rows | None = None,
) -> list[Condition]:
    """Return what terms ask of each execution, or of each scheduled job.

    Args:
        model: what is searched.
        terms: all must hold.
        rows: some rows of it, found first; None: the table itself.
    """
    return all_of(terms, _OF[model](model if rows is None else rows))
