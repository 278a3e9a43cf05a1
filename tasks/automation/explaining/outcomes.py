"""What came of it, and what the last look before an effect would find now."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime

from tasks.automation.explaining.parts import (
    Check,
    Facts,
    Holds,
    Link,
    sentence_of,
    when,
)
from tasks.models.execution import ExecutionState
from tasks.models.scheduled_job import JobState


def of_execution(facts: Facts, now: datetime) -> Iterator[Check]:
    """Yield how the execution stands, if there is one."""
    row = facts.execution
    if row is None:
        return
    link, to = (
        Link("execution", row.id),
        f" for {row.recipient}" if row.recipient else "",
    )
    match row.state:
        case ExecutionState.SUCCEEDED:
            at = when(row.settled_at or row.run_at)
            yield Check(Holds.YES, f"It acted{to} on {at}.", link)
        case ExecutionState.PENDING:
            name = "An execution" if not row.failures else "Another attempt"
            yield waiting(name, row.run_at, "executions", facts.paused, now, link)
        case ExecutionState.RUNNING:
            yield Check(Holds.OPEN, f"A worker is at it now{to}.", link)
        case _:
            why = row.error or sentence_of(row.reason)
            yield Check(
                Holds.NO, f"Its execution{to} ended as {row.state}: {why}", link
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
        title = lane.replace("_", " ")
        return Check(Holds.NO, f"{name} waits, and the lane “{title}” is paused.", link)
    if run_at > now:
        return Check(Holds.OPEN, f"{name} waits for its time, {when(run_at)}.", link)
    return Check(
        Holds.OPEN,
        f"{name} is due since {when(run_at)}; no worker has taken it yet.",
        link,
    )


def of_present(facts: Facts) -> Iterator[Check]:
    """Yield what would stop it now; nothing, when it acted or would act."""
    row, job = facts.execution, facts.job
    if row is not None and row.state is ExecutionState.SUCCEEDED:
        return
    why = facts.present.why_not
    if why is None:
        if until := facts.present.quiet_until:
            quiet = f"until {when(until)}, when the recipient's quiet hours end"
            yield Check(Holds.NOTE, f"If it were to act now, it would wait {quiet}.")
        return
    waits = (row is not None and row.state is ExecutionState.PENDING) or (
        row is None and job is not None and job.state is JobState.PENDING
    )
    if waits:
        yield Check(
            Holds.NO, f"When its time comes it is skipped, unless this changes: {why}"
        )
    else:
        yield Check(Holds.NOTE, f"If it were to act now, this would stop it: {why}")
