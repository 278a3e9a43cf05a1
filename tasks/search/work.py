"""What a search of executions and of scheduled jobs means."""

from __future__ import annotations

from datetime import timedelta
from typing import Any, Final

from sqlalchemy import and_, literal_column, select, true

from tasks.automation.actions import START_LANE
from tasks.clock import utcnow
from tasks.models import (
    Booking,
    Congregation,
    Episode,
    EpisodeGuest,
    Execution,
    Podcast,
    Rule,
    ScheduledJob,
)
from tasks.search import conditions as mean
from tasks.search.conditions import Condition, Conditions, Meaning, Meanings, conditions
from tasks.search.lists import LISTS
from tasks.search.parsing import Term, parse

#: Waiting for so long past its time is late; a busy second is not.
LATE_AFTER: Final = timedelta(minutes=1)
_Model = type[Execution] | type[ScheduledJob]
_STATE_ALL: Final = "all"


def _shared(model: _Model) -> dict[str, Meaning]:
    owner = model.congregation_id
    return {
        "state": _state(model),
        "rule": _rule(model),
        "guest": mean.named(
            owner,
            (Booking, Booking.guest_name, model.booking_id),
            (EpisodeGuest, EpisodeGuest.name, model.guest_id),
        ),
        "episode": mean.named(owner, (Episode, Episode.title, model.episode_id)),
        "podcast": mean.named(owner, (Podcast, Podcast.title, model.podcast_id)),
        "booking": _booking(model),
        "reason": mean.is_word(model.reason),
        "trigger": mean.equals(model.trigger_type),
        "late": _late(model),
        "version": mean.number(model.rule_version),
        "congregation": mean.in_congregation(owner),
        "id": mean.is_id(model.id),
    }


def _state(model: _Model) -> Meaning:
    is_word = mean.is_word(model.state)
    return lambda term: true() if term.value == _STATE_ALL else is_word(term)


def _rule(model: _Model) -> Meaning:
    return lambda term: model.rule_id.in_(
        select(Rule.id).where(Rule.name.icontains(term.value, autoescape=True))
    )


def _booking(model: _Model) -> Meaning:
    # The index begins with the congregation: naming all of them lets it be used.
    return lambda term: and_(
        model.congregation_id.in_(select(Congregation.id)),
        model.booking_id == term.value,
    )


def _late(model: _Model) -> Meaning:
    """Return the meaning: it waits past its time, or does not."""

    def late(term: Term) -> Condition:
        waits = model.state == literal_column("'pending'")
        is_late = and_(waits, model.run_at < utcnow() - LATE_AFTER)
        return is_late if term.value == "yes" else is_late.is_not(true())

    return late


def _of_executions(model: Any) -> Meanings:  # noqa: ANN401  # the table, or a part of it
    return Meanings(
        {
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
        },
        early=frozenset({"state", "booking", "event", "id", "made"}),
    )


def _of_jobs(model: Any) -> Meanings:  # noqa: ANN401  # the table, or a part of it
    return Meanings(
        {
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
        },
        early=frozenset({"state", "booking", "id", "due"}),
    )


def work_conditions(model: _Model, among: _Model, query: str) -> Conditions:
    """Return what a search asks of each execution, or of each scheduled job.

    Args:
        model: what the early conditions are about.
        among: what the late ones are about: some rows of the same table.
        query: the search's terms.

    Raises:
        InvalidInput: ``bad_search``.
    """
    is_execution = model is Execution
    parsed = parse(query, LISTS["executions" if is_execution else "scheduled"])
    meanings = _of_executions if is_execution else _of_jobs
    return Conditions(
        conditions(parsed, meanings(model)).early,
        conditions(parsed, meanings(among)).late,
    )
