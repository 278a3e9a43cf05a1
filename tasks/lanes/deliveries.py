"""Deliveries: post messages to webhook endpoints, and try again what failed.

Fed by the lane ``fanout``, by tests of endpoints and by replays.  Shape: claim · act ·
settle.  A row is claimed only when it can be posted at once.  When the worker dies, the
lease lapses and ``rescue`` takes the row back; the attempt shuts out a late writer.
"""

from __future__ import annotations

import logging
from collections import defaultdict
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from typing import Final
from uuid import UUID

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from tasks.automation.actions.base import TryAgain
from tasks.executing.apart import apart
from tasks.executing.hosts import PATIENCE
from tasks.executing.recording import AWAY, Ended, patiently
from tasks.lane import COUNT_CAP, Backlog, Bench
from tasks.models.delivery import Delivery
from tasks.webhooks.claiming import Held, claim, host_of_url
from tasks.webhooks.room import IS_PENDING
from tasks.webhooks.settling import Acted, settle
from tasks.window import Window

logger = logging.getLogger(__name__)

#: Posts under way at once in one sweep, besides those that linger.
AT_ONCE: Final = 8


@dataclass(frozen=True, slots=True)
class DeliveriesSweep:
    """What one sweep did, as delivery ids."""

    delivered: tuple[UUID, ...] = ()
    retried: tuple[UUID, ...] = ()
    failed: tuple[UUID, ...] = ()
    disabled: tuple[UUID, ...] = ()
    lost: tuple[UUID, ...] = ()  # somebody else owns them now
    slow: tuple[UUID, ...] = ()  # still under way; seen to their end elsewhere
    is_full: bool = False


def sweep(bench: Bench, limit: int) -> DeliveriesSweep:
    """Post up to ``limit`` due deliveries, oldest first, endpoints taking turns."""
    ended: Ended = defaultdict(list)
    with ExitStack() as stack:
        window = stack.enter_context(Window[Acted](AT_ONCE, patience=PATIENCE))
        begun = _run(bench, window, ended, limit)
        if window.n_open:
            known = {id_ for ids in ended.values() for id_ in ids}
            ended["slow"] = [id_ for id_ in begun if id_ not in known]
            rest = stack.pop_all()
            bench.stragglers.hand_over(partial(_see_out, bench, window, rest))
    moved = {word: tuple(ids) for word, ids in ended.items()}
    return DeliveriesSweep(**moved, is_full=len(begun) >= limit)


def backlog(session: Session, now: datetime) -> Backlog:
    """Return how many deliveries are due, and since when."""
    due = select(Delivery.run_at).where(IS_PENDING, Delivery.run_at <= now)
    counted = due.limit(COUNT_CAP).subquery()
    n_due, oldest = session.execute(
        select(func.count(), func.min(counted.c.run_at))
    ).one()
    return Backlog(n_due=n_due, oldest_due_at=oldest)


def _run(
    bench: Bench, window: Window[Acted], ended: Ended, limit: int
) -> Sequence[UUID]:
    """Claim, post and settle until nothing more may begin; returns what began."""
    begun: list[UUID] = []
    while True:
        n_free = AT_ONCE - (window.n_open - window.n_lingering)
        held = _claimed(bench, min(n_free, limit - len(begun)))
        begun += [each.delivery_id for each in held]
        for each in held:
            window.submit(_act, bench, each)
        if not held and not _has_work(bench, window):
            return begun
        acted = window.finished(PATIENCE.total_seconds())
        _write_down(bench, acted, ended)


def _claimed(bench: Bench, limit: int) -> Sequence[Held]:
    if limit <= 0 or bench.stopping.is_set():
        return ()
    with bench.begin() as session:
        return claim(session, bench, limit=limit)


def _has_work(bench: Bench, window: Window[Acted]) -> bool:
    if window.n_open > window.n_lingering:
        return True
    stays = bench.stragglers.is_full or bench.stopping.is_set()
    return stays and window.n_open > 0


def _act(bench: Bench, held: Held) -> Acted:
    """Post one letter; no transaction is open."""
    try:
        with bench.hosts.calling(host_of_url(held.letter.url)):
            outcome = bench.effects.courier.deliver(held.letter)
        return Acted(held, outcome)
    except Exception:
        # One row's bug must not stop the others' work, nor be hidden.
        logger.exception("delivery.act_failed", extra={"id": str(held.delivery_id)})
        sentence = "It ended with an error in the program, see the worker's log."
        return Acted(held, TryAgain(sentence, is_unknown=True))


def _write_down(bench: Bench, acted: Sequence[Acted], ended: Ended) -> None:
    if not acted:
        return
    words = apart(
        lambda some: patiently(bench, partial(_settled, bench, some)),
        acted,
        _not_settled,
        of_all=AWAY,
    )
    for each, word in zip(acted, words, strict=True):
        ended[word].append(each.held.delivery_id)


def _settled(bench: Bench, acted: Sequence[Acted]) -> list[str]:
    with bench.begin() as session:
        words = settle(session, acted, worker=bench.worker, now=bench.clock())
    return [words[each.held.delivery_id] for each in acted]


def _not_settled(acted: Acted, error: Exception) -> str:
    """Leave to rescue what cannot be written down; the others are."""
    id_ = str(acted.held.delivery_id)
    logger.error("delivery.not_settled", exc_info=error, extra={"id": id_})
    return "lost"


def _see_out(bench: Bench, window: Window[Acted], rest: ExitStack) -> None:
    """Wait for what a sweep has left under way, and settle it."""
    ended: Ended = defaultdict(list)
    try:
        with rest:
            while window.n_open:
                _write_down(bench, window.finished(PATIENCE.total_seconds()), ended)
    except Exception:  # a thread of its own: nobody else would hear of it
        logger.exception("deliveries.stragglers_failed")  # rescue takes over
    moved = {word: len(ids) for word, ids in ended.items()}
    bench.meters.moved("deliveries", moved)
    logger.info("deliveries.stragglers_ended", extra={"moved": moved})
