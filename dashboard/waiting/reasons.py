"""Why something waits, and when it is expected to begin: pure decisions.

Several reasons may hold at once.  They are told in the order in which they would have
to go: what an operator stopped, who would do it, its own time, the others before it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final, NamedTuple
from uuid import UUID

from dashboard.filters import duration, number, plural
from dashboard.zones import here, zone_sign
from tasks.lane import COUNT_CAP
from tasks.saying import mark, say, say_many
from tasks.saying.formats import dated

#: A lane that looks seldom is waited for; others begin "within seconds".
_SOON: Final = timedelta(seconds=10)


class Why(NamedTuple):
    """One reason."""

    word: str  # a few words, for lists; marked for the catalogs
    sentence: str
    #: Until when it holds; None: until somebody does something, or nobody knows.
    until: datetime | None = None
    hold_id: UUID | None = None  # the hold that it is


@dataclass(frozen=True, slots=True)
class Stopped:
    """A hold that covers the row."""

    id: UUID
    by: str
    why: str
    since: datetime
    until: datetime | None


@dataclass(frozen=True, slots=True)
class Standing:
    """How the lane stands that has to do it."""

    title: str
    every: timedelta
    batch: int
    paused_by: str | None = None  # None: it is not paused, if paused_at is None, too
    paused_at: datetime | None = None
    has_any_worker: bool = True  # in any lane
    has_worker: bool = True  # in this one
    n_workers: int = 1  # in this one, of all processes
    swept_at: datetime | None = None  # when it last looked


@dataclass(frozen=True, slots=True)
class Row:
    """What of a waiting row says why it waits."""

    run_at: datetime
    failures: int = 0  # since it was last asked for
    max_attempts: int | None = None  # None: it is tried for days
    error: str | None = None
    #: Why its last attempt was put off, in a sentence: a turn, or a host that hangs.
    put_off: str | None = None
    is_host_silent: bool = False  # it was put off because its host does not answer
    is_hushed: bool = False  # quiet hours sent it back
    is_suspect: bool = False  # it runs only while no other suspect does
    settles: bool = False  # more of the same may still be added
    ends: str | None = None  # why it will end without being done, in a sentence


@dataclass(frozen=True, slots=True)
class Queue:
    """What is before a row that is due."""

    n_ahead: int = 0  # up to COUNT_CAP
    oldest_at: datetime | None = None  # when the first of them was due
    per_second: float | None = None  # what the lane did lately; None: not known
    full: str | None = None  # why its receiver gets no more at once, in a sentence
    busy: str | None = None  # why its lane begins no more at once, in a sentence


@dataclass(frozen=True, slots=True)
class Answer:
    """Why a row waits."""

    reasons: Sequence[Why]  # never empty
    starts_at: datetime | None  # when it is expected to begin; None: nobody can say
    is_rough: bool = False  # the expected start is reckoned from what the lane did

    @property
    def word(self) -> str:
        """The first reason in a few words."""
        return self.reasons[0].word


def explain(
    row: Row,
    lane: Standing,
    now: datetime,
    *,
    stopped: Stopped | None = None,
    queue: Queue | None = None,
) -> Answer:
    """Return every reason for which a row waits, and the expected start.

    Args:
        queue: None: it is not due, or it was not looked at.
    """
    blocks = [*_stops(stopped), *_nobody(lane)]
    reasons = [*blocks, *_own_time(row, now)]
    if row.ends is not None:
        reasons.append(Why(mark("will end"), row.ends))
    is_due = row.run_at <= now
    if is_due:
        reasons += _others(row, lane, queue or Queue(), now)
    if any(each.until is None for each in blocks):
        return Answer(reasons, None)
    earliest = max([row.run_at, *(each.until for each in blocks if each.until)])
    if not is_due or queue is None:
        return Answer(reasons, max(earliest, _next_look(lane, now)))
    behind, is_rough = _behind(lane, queue, now)
    return Answer(reasons, behind and max(earliest, behind), is_rough)


def _stops(stopped: Stopped | None) -> Iterator[Why]:
    if stopped is not None:
        says = say(
            "Held by %(who)s: “%(why)s”. It uses up no attempt.",
            who=stopped.by,
            why=stopped.why,
        )
        yield Why(mark("held"), says, stopped.until, stopped.id)


def _nobody(lane: Standing) -> Iterator[Why]:
    if lane.paused_at is not None:
        yield Why(mark("lane paused"), _paused(lane, lane.paused_at))
    elif not lane.has_any_worker:
        says = say("No worker is alive; it begins once one starts.")
        yield Why(mark("no worker"), says)
    elif not lane.has_worker:
        says = say(
            "No worker that is alive serves the lane %(lane)s.", lane=say(lane.title)
        )
        yield Why(mark("no worker"), says)


def _paused(lane: Standing, at: datetime) -> str:
    facts = {
        "lane": say(lane.title),
        "time": f"{dated(here(at), 'HH:mm')} {zone_sign(at)}",
        "day": dated(here(at), "d MMMM"),
    }
    if not lane.paused_by:
        return say(
            "The lane %(lane)s was paused at %(time)s on %(day)s; somebody has to "
            "resume it.",
            **facts,
        )
    return say(
        "The lane %(lane)s was paused by %(who)s at %(time)s on %(day)s; somebody has "
        "to resume it.",
        who=lane.paused_by,
        **facts,
    )


def _own_time(row: Row, now: datetime) -> Iterator[Why]:
    """Yield why its own time has not come; nothing once it has."""
    if row.run_at <= now:
        if row.is_suspect:
            says = say(
                "It took workers down before, so it runs only while nothing else that "
                "is suspected of that does."
            )
            yield Why(mark("runs alone"), says)
    elif row.settles:
        says = say("More of the same may still be added to it.")
        yield Why(mark("settling"), says, row.run_at)
    elif row.put_off is not None:
        word = mark("host hangs") if row.is_host_silent else mark("its turn")
        yield Why(word, row.put_off, row.run_at)
    elif row.is_hushed:
        says = say("It waits for the quiet hours of its rule to end.")
        yield Why(mark("quiet hours"), says, row.run_at)
    elif row.failures:
        yield Why(mark("backing off"), _backing_off(row), row.run_at)
    else:
        says = say("Its time has not come yet.")
        yield Why(mark("not due yet"), says, row.run_at)


def _backing_off(row: Row) -> str:
    tried = plural(row.failures, "time")
    if row.max_attempts is None:
        return say(
            "It failed %(times)s; attempt %(next)s comes next.",
            times=tried,
            next=row.failures + 1,
        )
    return say(
        "It failed %(times)s; attempt %(next)s of %(all)s comes next.",
        times=tried,
        next=row.failures + 1,
        all=row.max_attempts,
    )


def _others(row: Row, lane: Standing, queue: Queue, now: datetime) -> Iterator[Why]:
    """Yield why something that is due has not begun."""
    if queue.busy is not None:
        yield Why(mark("lane busy"), queue.busy)
    if queue.full is not None:
        yield Why(mark("receiver busy"), queue.full)
    if queue.n_ahead:
        yield Why(mark("others before it"), _ahead(queue, now))
    elif queue.full is None and queue.busy is None:
        says = say(
            "It is due since %(late)s; the lane %(lane)s looks every %(span)s.",
            late=duration(now - row.run_at, 1),
            lane=say(lane.title),
            span=duration(lane.every, 1),
        )
        yield Why(mark("about to begin"), says)


def _ahead(queue: Queue, now: datetime) -> str:
    shown = number(queue.n_ahead, COUNT_CAP)
    if queue.oldest_at is None:
        return say_many(
            queue.n_ahead,
            "It is due; %(shown)s is due before it.",
            "It is due; %(shown)s are due before it.",
            shown=shown,
        )
    return say_many(
        queue.n_ahead,
        "It is due; %(shown)s is due before it, the first since %(span)s.",
        "It is due; %(shown)s are due before it, the first since %(span)s.",
        shown=shown,
        span=duration(now - queue.oldest_at, 1),
    )


def _next_look(lane: Standing, now: datetime) -> datetime:
    if lane.every <= _SOON or lane.swept_at is None:
        return now
    return max(now, lane.swept_at + lane.every)


def _behind(
    lane: Standing, queue: Queue, now: datetime
) -> tuple[datetime | None, bool]:
    """Return when it is its turn behind the others, and whether that is rough."""
    if queue.busy is not None:
        return None, True  # how long that takes, nobody knows
    if queue.n_ahead < lane.batch and queue.full is None:
        return _next_look(lane, now), False
    if not queue.per_second or queue.n_ahead >= COUNT_CAP:
        return None, True
    return now + timedelta(seconds=queue.n_ahead / queue.per_second), True
