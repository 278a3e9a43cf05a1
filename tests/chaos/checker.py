"""What must hold after any fault, checked on a history: invariants I1 to I8.

I9, order within an ordering key, has nothing to check: executions have no such key.
"""

from __future__ import annotations

import itertools
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

#: Instants of two workers are compared this closely, in seconds.
SLACK: Final = 0.5
SETTLED: Final = frozenset(
    {"succeeded", "failed", "quarantined", "cancelled", "skipped"}
)
#: What an attempt's outcome says when its execution has the given state.
ENDS: Final[Mapping[str, frozenset[str]]] = {
    "succeeded": frozenset({"succeeded"}),
    "failed": frozenset({"failed", "unknown"}),
    "quarantined": frozenset({"crashed", "unknown"}),
    "skipped": frozenset({"skipped"}),
}
#: Outcomes after which the same message may come again.
REPEATABLE: Final = frozenset({"unknown", "retry", "released"})


@dataclass(frozen=True, slots=True)
class Delivery:
    """What a receiver outside of the system wrote down."""

    execution: str
    identity: str  # Message-ID or webhook-id
    at: float  # seconds since the epoch, as all instants here


@dataclass(frozen=True, slots=True)
class Execution:
    id: str
    event: str | None
    job: str | None
    state: str
    reason: str | None
    attempt: int
    is_leased: bool = False


@dataclass(frozen=True, slots=True)
class Attempt:
    execution: str
    number: int
    started_at: float
    finished_at: float | None
    has_effect: bool
    outcome: str | None


@dataclass(frozen=True, slots=True)
class Job:
    id: str
    key: str  # rule, subject and reference instant
    state: str
    reason: str | None = None


@dataclass(frozen=True, slots=True)
class History:
    """Everything that is known once the system is at rest."""

    acknowledged: Mapping[str, int] = field(default_factory=dict)  # event: executions
    executions: Sequence[Execution] = ()
    attempts: Sequence[Attempt] = ()
    deliveries: Sequence[Delivery] = ()
    jobs: Sequence[Job] = ()
    planned: frozenset[str] = frozenset()  # acknowledged jobs
    cancelled: Mapping[str, float] = field(default_factory=dict)  # execution: when
    audited: frozenset[str] = frozenset()  # executions with an audit entry
    leftovers: Sequence[str] = ()  # temporary files
    lease: float = 60.0  # seconds
    #: Deliveries that may have come twice: kills x effects under way, and answers
    #: that a fault of the network cut off.
    n_ambiguous: int = 0


def check(history: History) -> list[str]:
    """Return one sentence for each violation; nothing when all invariants hold."""
    return [f"{each.__name__}: {say}" for each in INVARIANTS for say in each(history)]


def i1_nothing_is_lost(history: History) -> Iterator[str]:
    """Acknowledged work was delivered, or has ended with a reason."""
    by_event = Counter(each.event for each in history.executions)
    for event, n in history.acknowledged.items():
        if by_event[event] < n:
            yield f"event {event} has {by_event[event]} of {n} executions"
    delivered = {each.execution for each in history.deliveries}
    for each in history.executions:
        if each.state == "succeeded" and each.id not in delivered:
            yield f"execution {each.id} succeeded, but nothing arrived"
        if each.state not in {"succeeded", "pending", "running"} and not each.reason:
            yield f"execution {each.id} is {each.state} without a reason"
    yield from _lost_jobs(history)


def _lost_jobs(history: History) -> Iterator[str]:
    jobs = {each.id: each for each in history.jobs}
    for id_ in history.planned - set(jobs):
        yield f"job {id_} is gone"
    for job in jobs.values():
        if job.state not in {"pending", "dispatched"} and not job.reason:
            yield f"job {job.id} is {job.state} without a reason"


def i2_one_end_by_the_last_attempt(history: History) -> Iterator[str]:
    """Each execution has ended once, and as its highest attempt says."""
    attempts = _by_execution(history)
    for each in history.executions:
        if each.state not in SETTLED:
            yield f"execution {each.id} is still {each.state}"
            continue
        mine = attempts[each.id]
        if not mine:
            if each.state not in {"cancelled", "skipped"}:
                yield f"execution {each.id} is {each.state} without an attempt"
            continue
        if each.state in ENDS and mine[-1].outcome not in ENDS[each.state]:
            yield f"execution {each.id} is {each.state} after {mine[-1].outcome}"
        if any(earlier.outcome == "succeeded" for earlier in mine[:-1]):
            yield f"execution {each.id} went on after it had succeeded"


def i3_attempts_are_counted_and_apart(history: History) -> Iterator[str]:
    """Attempts are numbered 1 to n, and no two of one execution overlap."""
    attempts = _by_execution(history)
    for each in history.executions:
        mine = attempts[each.id]
        if [a.number for a in mine] != list(range(1, each.attempt + 1)):
            yield f"execution {each.id}: attempts {[a.number for a in mine]}"
        for one, next_ in itertools.pairwise(mine):
            if one.finished_at is None or next_.started_at < one.finished_at - SLACK:
                yield f"execution {each.id}: attempts {one.number} and next overlap"


def i4_repeats_are_few_and_alike(history: History) -> Iterator[str]:
    """What came twice came under one id, and an attempt tells why."""
    came: dict[str, list[Delivery]] = defaultdict(list)
    for each in history.deliveries:
        came[each.execution].append(each)
    attempts = _by_execution(history)
    known = {each.id for each in history.executions}
    n_extra = 0
    for id_, copies in came.items():
        if id_ not in known:
            yield f"something arrived for the unknown execution {id_}"
        if len({copy.identity for copy in copies}) > 1:
            yield f"execution {id_} came under several ids"
        begun = [a for a in attempts[id_] if a.has_effect]
        if len(copies) > len(begun):
            yield f"execution {id_} came {len(copies)} times in {len(begun)} tries"
        n_extra += len(copies) - 1
        told = sum(a.outcome in REPEATABLE for a in begun)
        if len(copies) - 1 > told:
            yield f"execution {id_} came again, and no attempt tells why"
    if n_extra > history.n_ambiguous:
        yield f"{n_extra} repeats, at most {history.n_ambiguous} are explained"


def i5_nothing_after_a_cancellation(history: History) -> Iterator[str]:
    """Nothing arrives more than a lease after its cancellation."""
    for each in history.deliveries:
        cancelled_at = history.cancelled.get(each.execution)
        if cancelled_at is not None and each.at > cancelled_at + history.lease:
            yield f"execution {each.execution} arrived after its cancellation"


def i6_nothing_is_left_behind(history: History) -> Iterator[str]:
    """At rest there is no lease, no open attempt and no temporary file."""
    for execution in history.executions:
        if execution.is_leased:
            yield f"execution {execution.id} still has a lease"
    for each in history.attempts:
        if each.outcome is None or each.finished_at is None:
            yield f"attempt {each.number} of {each.execution} is open"
    for name in history.leftovers:
        yield f"the file {name} is left"


def i7_every_act_is_audited(history: History) -> Iterator[str]:
    """Each acknowledged act of an operator has its audit entry."""
    for id_ in history.cancelled.keys() - history.audited:
        yield f"the cancellation of {id_} has no audit entry"


def i8_one_execution_for_a_plan(history: History) -> Iterator[str]:
    """A job that was dispatched has one execution; a plan is dispatched once."""
    made = Counter(each.job for each in history.executions if each.job)
    for job in history.jobs:
        wanted = 1 if job.state == "dispatched" else 0
        if made[job.id] != wanted:
            yield f"job {job.id} is {job.state} and has {made[job.id]} executions"
    plans = Counter(job.key for job in history.jobs if job.state == "dispatched")
    for key, n in plans.items():
        if n > 1:
            yield f"the plan {key} was dispatched {n} times"


INVARIANTS: Final[Sequence[Callable[[History], Iterator[str]]]] = (
    i1_nothing_is_lost,
    i2_one_end_by_the_last_attempt,
    i3_attempts_are_counted_and_apart,
    i4_repeats_are_few_and_alike,
    i5_nothing_after_a_cancellation,
    i6_nothing_is_left_behind,
    i7_every_act_is_audited,
    i8_one_execution_for_a_plan,
)


def _by_execution(history: History) -> defaultdict[str, list[Attempt]]:
    grouped: defaultdict[str, list[Attempt]] = defaultdict(list)
    for each in sorted(history.attempts, key=lambda attempt: attempt.number):
        grouped[each.execution].append(each)
    return grouped
