"""What came of it, and what the last look before an effect would find now."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from typing import Final

from tasks.automation.explaining.parts import (
    Check,
    Facts,
    Holds,
    Link,
    end_of,
    sentence_of,
)
from tasks.automation.recipients import named
from tasks.models.execution import Execution, ExecutionState
from tasks.models.scheduled_job import JobState
from tasks.saying import mark, say
from tasks.saying.formats import instant
from tasks.told import told

#: What things wait for, in the middle of a sentence.
_LANES: Final = {
    "executions": mark("executions"),
    "scheduled_jobs": mark("scheduled jobs"),
}


def of_execution(facts: Facts, now: datetime) -> Iterator[Check]:
    """Yield how the execution stands, if there is one."""
    row = facts.execution
    if row is None:
        return
    link = Link("execution", row.id)
    match row.state:
        case ExecutionState.SUCCEEDED:
            yield Check(Holds.YES, _acted(row), link)
        case ExecutionState.PENDING:
            name = say("Another attempt") if row.failures else say("An execution")
            yield waiting(name, row.run_at, "executions", facts.paused, now, link)
        case ExecutionState.RUNNING:
            yield Check(Holds.OPEN, _at_work(row), link)
        case _:
            yield Check(Holds.NO, _ended(row), link)


def _acted(row: Execution) -> str:
    at = instant(row.settled_at or row.run_at)
    if not row.recipient:
        return say("It acted on %(when)s.", when=at)
    return say(
        "It acted for %(to)s on %(when)s.", to=named(row.action, row.recipient), when=at
    )


def _at_work(row: Execution) -> str:
    if not row.recipient:
        return say("A worker is at it now.")
    return say("A worker is at it now for %(to)s.", to=named(row.action, row.recipient))


def _ended(row: Execution) -> str:
    end, why = end_of(row.state), told(row.error) or sentence_of(row.reason)
    if not row.recipient:
        return say("Its execution %(ended)s: %(why)s", ended=end, why=why)
    return say(
        "Its execution for %(to)s %(ended)s: %(why)s",
        to=named(row.action, row.recipient),
        ended=end,
        why=why,
    )


def waiting(
    name: str,
    run_at: datetime,
    lane: str,
    paused: frozenset[str],
    now: datetime,
    link: Link,
) -> Check:
    """Return how something stands that waits for its time and for its lane."""
    if lane in paused:
        told = say(
            "%(what)s waits, and the lane “%(lane)s” is paused.",
            what=name,
            lane=say(_LANES.get(lane, lane)),
        )
        return Check(Holds.NO, told, link)
    at = instant(run_at)
    if run_at > now:
        told = say("%(what)s waits for its time, %(when)s.", what=name, when=at)
        return Check(Holds.OPEN, told, link)
    told = say(
        "%(what)s is due since %(when)s; no worker has taken it yet.",
        what=name,
        when=at,
    )
    return Check(Holds.OPEN, told, link)


def of_present(facts: Facts) -> Iterator[Check]:
    """Yield what would stop it now; nothing, when it acted or would act."""
    row, job = facts.execution, facts.job
    if row is not None and row.state is ExecutionState.SUCCEEDED:
        return
    why = facts.present.why_not
    if why is None:
        if until := facts.present.quiet_until:
            told = say(
                "If it were to act now, it would wait until %(when)s, when the "
                "recipient's quiet hours end.",
                when=instant(until),
            )
            yield Check(Holds.NOTE, told)
        return
    waits = (row is not None and row.state is ExecutionState.PENDING) or (
        row is None and job is not None and job.state is JobState.PENDING
    )
    if waits:
        told = say(
            "When its time comes it is skipped, unless this changes: %(why)s", why=why
        )
        yield Check(Holds.NO, told)
    else:
        told = say("If it were to act now, this would stop it: %(why)s", why=why)
        yield Check(Holds.NOTE, told)
