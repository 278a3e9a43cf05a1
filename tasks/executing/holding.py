"""Holding back what goes to a host that hangs."""

from __future__ import annotations

from collections.abc import Sequence

from tasks.executing.hosts import host_of
from tasks.executing.preparing import Ready
from tasks.executing.recording import Ended, take_back_marks, write_down
from tasks.executing.verdicts import defer
from tasks.lane import Bench


def hold_back(bench: Bench, ready: Sequence[Ready], ended: Ended) -> list[Ready]:
    """Return what may begin; what goes to a host that hangs waits for later."""
    names = [host_of(each.action.name, each.message) for each in ready]
    waits = bench.hosts.waits(names)
    if not any(waits):
        return list(ready)
    now = bench.clock()
    verdicts = [
        defer(each.claim, now + wait, f"Waits for {name}, which does not answer.")
        for each, name, wait in zip(ready, names, waits, strict=True)
        if wait is not None
    ]
    held = {each.claim for each in verdicts}
    take_back_marks(bench, list(held))
    write_down(bench, verdicts, ended)
    return [each for each in ready if each.claim not in held]
