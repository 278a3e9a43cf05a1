"""The words of an explanation: facts, steps, and how they are told."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Final, Literal
from uuid import UUID

from tasks.automation.entities import Record, status_word
from tasks.automation.planner import No, Wanted
from tasks.models.base import Json
from tasks.models.episode import EpisodeGuest
from tasks.models.event import Decision, Event
from tasks.models.execution import Execution
from tasks.models.reason import SENTENCES, Reason
from tasks.models.rule import Rule
from tasks.models.scheduled_job import ScheduledJob
from tasks.saying import mark, say

#: How jobs and executions ended, in the middle of a sentence.
_ENDS: Final = {
    "failed": mark("ended as failed"),
    "quarantined": mark("ended as quarantined"),
    "cancelled": mark("ended as cancelled"),
    "skipped": mark("ended as skipped"),
    "missed": mark("ended as missed"),
    "superseded": mark("ended as superseded"),
}


class Holds(StrEnum):
    """How one step stands."""

    YES = "yes"  # it is as it must be
    NO = "no"  # it goes no further than this
    OPEN = "open"  # it is still to come
    NOTE = "note"  # worth knowing; it decided nothing


@dataclass(frozen=True, slots=True)
class Link:
    """The row that a step is about."""

    kind: Literal["event", "job", "execution"]
    id: UUID


@dataclass(frozen=True, slots=True)
class Check:
    """One step."""

    holds: Holds
    sentence: str
    link: Link | None = None


@dataclass(frozen=True, slots=True)
class Present:
    """What the last look before an effect would find, if it were made now."""

    guard: Reason | None = None  # why it would not go out
    unmet: str | None = None  # which condition does not hold
    quiet_until: datetime | None = None  # it would wait for the quiet hours' end
    context: Json = field(default_factory=dict)  # what the message is made from

    @property
    def why_not(self) -> str | None:
        """Why it would not go out, in a sentence; ``None``: it would."""
        if self.guard is not None:
            return say(SENTENCES[self.guard])
        if self.unmet is not None:
            return sentence_of(Reason.CONDITION_FALSE, self.unmet)
        return None


@dataclass(frozen=True, slots=True)
class Facts:
    """What is known of one rule and one record."""

    rule: Rule
    record: Record
    event: Event | None = None  # the newest of the rule's trigger that names the record
    decision: Decision | None = None  # what the rule made of that event
    job: ScheduledJob | None = None  # of a time rule: the newest, a pending one first
    execution: Execution | None = None  # what came of the event or the job
    #: Of a time rule: what would be planned now; ``None``: its date is not told.
    plan: Wanted | No | None = None
    present: Present = Present()  # what the last look would find now
    paused: frozenset[str] = frozenset()  # names of lanes
    kept_since: datetime | None = None  # older events may be gone


@dataclass(frozen=True, slots=True)
class Explanation:
    """Every step for one rule, in the order in which the engine takes them."""

    rule: Rule
    checks: tuple[Check, ...]

    @property
    def verdict(self) -> Check:
        """The step that decided: the first "no", else the last one."""
        noes = (check for check in self.checks if check.holds is Holds.NO)
        told = [check for check in self.checks if check.holds is not Holds.NOTE]
        return next(noes, (told or list(self.checks))[-1])


def sentence_of(reason: str | None, detail: str | None = None) -> str:
    """Return a reason code as a sentence, with what was seen."""
    try:
        words = say(SENTENCES[Reason(reason or "")])
    except ValueError:
        words = f"{reason.replace('_', ' ').capitalize()}." if reason else ""
        words = words or say("No reason.")
    return f"{words} {detail}" if detail else words


def end_of(state: str) -> str:
    """Return how a job or an execution ended, for the middle of a sentence."""
    return say(_ENDS.get(state, f"ended as {state}"))


def status_of(record: Record) -> str:
    """Return the end of a sentence that says where the record stands."""
    if isinstance(record, EpisodeGuest):
        return ""
    return say("; its status is %(status)s", status=status_word(record.status))
