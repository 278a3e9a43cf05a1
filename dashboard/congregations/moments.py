"""One line of a timeline: an event, a job, an execution, an attempt or a deed."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Final, Literal
from uuid import UUID

from dashboard.congregations.places import MILLISECOND, Place
from dashboard.event_titles import event_title
from dashboard.told import told
from tasks.automation.recipients import named
from tasks.idn import in_letters
from tasks.models import Attempt, Event, Execution, ScheduledJob
from tasks.models.reason import SENTENCES, Reason
from tasks.saying import say

Kind = Literal["deed", "event", "job", "execution", "attempt"]
#: The order within one instant: what came of something stands above it.
RANKS: Final[dict[Kind, int]] = {
    "event": 0,
    "job": 1,
    "execution": 2,
    "attempt": 3,
    "deed": 4,
}


@dataclass(frozen=True, slots=True)
class Moment:
    """What stands at one place of a timeline."""

    place: Place
    kind: Kind
    id: UUID  # an attempt's is its execution's
    title: str  # the event's title, the rule's name, or the deed
    state: str | None = None  # of a job, execution or attempt
    note: str | None = None  # the error, the reason's sentence, the recipient, or who

    @property
    def at(self) -> datetime:
        """When it was, or is to be."""
        return self.place.at


def of_event(row: Event) -> Moment:
    """Return the moment at which we heard of it."""
    place = Place(row.created_at, RANKS["event"], row.id)
    return Moment(place, "event", row.id, event_title(row.type))


def of_job(row: ScheduledJob, at: datetime) -> Moment:
    """Return a job's moment; its rule must be loaded."""
    place, note = Place(at, RANKS["job"], row.id), _sentence(row.reason)
    return Moment(place, "job", row.id, row.rule.name, row.state, note)


def of_execution(row: Execution, at: datetime) -> Moment:
    """Return an execution's moment; its rule must be loaded."""
    place = Place(at, RANKS["execution"], row.id)
    note = (
        told(row.error)
        or _sentence(row.reason)
        or in_letters(named(row.action, row.recipient))
    )
    return Moment(place, "execution", row.id, row.rule.name, row.state, note)


def of_attempt(row: Attempt, rule: str) -> Moment:
    """Return the moment at which a worker began."""
    # As late as its execution's is set, so that it never stands below that one.
    at = row.started_at + MILLISECOND
    place = Place(at, RANKS["attempt"], row.execution_id, row.number)
    title = say("Attempt %(number)s of %(rule)s", number=row.number, rule=rule)
    status = (
        say("Answered %(code)s.", code=row.status_code) if row.status_code else None
    )
    note = told(row.error) or status
    return Moment(place, "attempt", row.execution_id, title, row.outcome, note)


def of_deed(id_: UUID, at: datetime, summary: str, actor: str) -> Moment:
    """Return what an operator did."""
    place = Place(at, RANKS["deed"], id_)
    return Moment(place, "deed", id_, summary, note=say("by %(actor)s", actor=actor))


def _sentence(reason: Reason | None) -> str | None:
    return None if reason is None else say(SENTENCES[reason])
