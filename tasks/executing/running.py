"""Acting on claimed executions: look, act, settle, until nothing of them is left."""

from __future__ import annotations

import logging
import time
from collections import defaultdict
from collections.abc import Container, Iterable, Sequence
from contextlib import ExitStack
from datetime import timedelta
from functools import partial
from typing import Final

from tasks.automation.actions.base import Outcome, TryAgain
from tasks.crashpoints import reached
from tasks.executing.claiming import Running, look_again
from tasks.executing.holding import hold_back
from tasks.executing.hosts import PATIENCE, host_of
from tasks.executing.preparing import Ready, prepare
from tasks.executing.recording import (
    Ended,
    patiently,
    take_back_marks,
    write_down,
)
from tasks.executing.verdicts import Verdict, judge, release
from tasks.held import Claim
from tasks.lane import Bench
from tasks.window import Window

logger = logging.getLogger(__name__)

#: Actions under way at once inside one sweep.
AT_ONCE: Final = 8
#: An action that could not begin this long after the guard looked is looked at anew:
#: then only the time that it stands in line counts, for a slow database is slow again.
FRESH_SECONDS: Final = 0.2
#: What came of one action; without an outcome it has not begun.
Acted = tuple[Ready, Outcome | None]


def run(
    bench: Bench, running: Sequence[Running], prepared: Sequence[Ready | Verdict] = ()
) -> Ended:
    """Act on what was claimed, a few at once; returns what became of each.

    Args:
        prepared: what of ``running`` was prepared when it was claimed; ``AT_ONCE`` of
            it at most.
    """
    ended: Ended = defaultdict(list)
    claims = [row.claim for row in running]
    begun = {each.claim for each in prepared}
    with ExitStack() as stack:
        stack.enter_context(bench.held.holding(claims))
        window = stack.enter_context(Window[Acted](AT_ONCE, patience=PATIENCE))
        _begin(bench, prepared, window, ended, again=set())
        _run(bench, [each for each in claims if each not in begun], window, ended)
        if window.n_open:
            known = {id_ for ids in ended.values() for id_ in ids}
            ended["slow"] = [
                each.execution_id for each in claims if each.execution_id not in known
            ]
            rest = stack.pop_all()
            bench.stragglers.hand_over(partial(_see_out, bench, window, rest))
    return ended


def _see_out(bench: Bench, window: Window[Acted], rest: ExitStack) -> None:
    """Wait for what a sweep has left under way, and settle it."""
    ended: Ended = defaultdict(list)
    try:
        with rest:
            _run(bench, [], window, ended, to_the_end=True)
    except Exception:  # a thread of its own: nobody else would hear of it
        logger.exception("stragglers.failed")  # their leases lapse, rescue takes over
    moved = {word: len(ids) for word, ids in ended.items()}
    bench.meters.moved("executions", moved)
    logger.info("stragglers.ended", extra={"moved": moved})


def _begin(
    bench: Bench,
    prepared: Sequence[Ready | Verdict],
    window: Window[Acted],
    ended: Ended,
    *,
    again: Container[Claim],
) -> None:
    """Settle what must not go ahead, and let the others act.

    Args:
        again: what was looked at before, and could not begin.
    """
    write_down(bench, [each for each in prepared if isinstance(each, Verdict)], ended)
    ready = [each for each in prepared if isinstance(each, Ready)]
    for each in hold_back(bench, ready, ended):
        since = time.monotonic() if each.claim in again else each.made_at
        window.submit(_act, bench, each, since + FRESH_SECONDS)


def _run(
    bench: Bench,
    claims: Sequence[Claim],
    window: Window[Acted],
    ended: Ended,
    *,
    to_the_end: bool = False,
) -> None:
    """Prepare what can begin soon, act on it, settle it, until nothing is left.

    What lingers may be left under way, unless it is ``to_the_end``.
    """
    waiting = list(claims)
    again: set[Claim] = set()
    while waiting or _has_work(bench, window, to_the_end=to_the_end):
        if bench.stopping.is_set() and waiting:
            write_down(bench, [release(each, bench.clock()) for each in waiting], ended)
            waiting = []
        # Also what was handed over without ``claims`` may come back, not begun.
        n_all = max(len(claims), AT_ONCE)
        n_ahead = bench.pace.ahead(limit=n_all, at_once=AT_ONCE)
        # Half of it before more is prepared: few large steps, yet nobody idles.
        n_busy = window.n_open - window.n_lingering
        room = n_ahead - n_busy
        chunk = waiting[:room] if 2 * room > n_ahead or n_busy <= 0 else []
        waiting = waiting[len(chunk) :]
        _begin(bench, _prepare(bench, chunk, ended), window, ended, again=again)
        acted = window.finished(PATIENCE.total_seconds())
        # First what was sent: nothing else may keep it from being written down.
        write_down(bench, patiently(bench, partial(_judged, bench, acted)), ended)
        not_begun = _not_begun(bench, acted)
        again.update(not_begun)
        waiting = not_begun + waiting


def _has_work(bench: Bench, window: Window[Acted], *, to_the_end: bool) -> bool:
    if window.n_open > window.n_lingering:
        return True
    stays = to_the_end or bench.stragglers.is_full or bench.stopping.is_set()
    return stays and window.n_open > 0


def _prepare(
    bench: Bench, chunk: Sequence[Claim], ended: Ended
) -> Sequence[Ready | Verdict]:
    """Look at what is claimed; what is not ours any more is let go."""
    if not chunk:
        return ()
    prepared = patiently(bench, lambda: _looked(bench, chunk))
    known = {each.claim for each in prepared}
    lost = [each for each in chunk if each not in known]
    bench.held.let_go(lost)
    ended["lost"].extend(each.execution_id for each in lost)
    return prepared


def _looked(bench: Bench, chunk: Sequence[Claim]) -> list[Ready | Verdict]:
    with bench.begin() as session:
        return prepare(session, look_again(session, chunk), now=bench.clock())


def _act(bench: Bench, ready: Ready, fresh_until: float) -> Acted:
    """Let one effect leave the house, unless the last look at it is too long ago.

    No transaction is open.

    Args:
        fresh_until: when that is, monotonic.
    """
    started = time.monotonic()
    if started > fresh_until or bench.stopping.is_set():
        return ready, None
    reached("before_effect")
    try:
        with bench.hosts.calling(host_of(ready.action.name, ready.message)):
            outcome = ready.action.act(ready.message, ready.envelope, bench.effects)
    except Exception:
        # One row's bug must not stop the others' work, nor be hidden.
        logger.exception("execution.act_failed", extra={"id": str(ready.claim)})
        outcome = TryAgain(
            "It ended with an error in the program, see the worker's log.",
            is_unknown=True,
        )
    reached("after_effect")
    # What lingers leaves its place to others, so that nobody waits behind it.
    took = timedelta(seconds=time.monotonic() - started)
    bench.pace.took(min(took, PATIENCE))
    return ready, outcome


def _not_begun(bench: Bench, acted: Iterable[Acted]) -> list[Claim]:
    """Return what waited too long behind others, marked as not begun again."""
    claims = [ready.claim for ready, outcome in acted if outcome is None]
    take_back_marks(bench, claims)
    return claims


def _judged(bench: Bench, acted: Iterable[Acted]) -> list[Verdict]:
    now = bench.clock()
    return [
        judge(
            ready.claim,
            outcome,
            failures=ready.failures,
            max_attempts=ready.max_attempts,
            pauses=ready.pauses,
            now=now,
        )
        for ready, outcome in acted
        if outcome is not None
    ]
