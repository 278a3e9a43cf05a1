"""The steps of a rule in words: when they come, what a change does to them."""

from __future__ import annotations

from datetime import timedelta
from typing import Final

from dashboard.filters import plural
from tasks.automation.step_changes import StepsChanged

_SIZES: Final = (
    ("day", timedelta(days=1)),
    ("hour", timedelta(hours=1)),
    ("minute", timedelta(minutes=1)),
)


def after(delay: timedelta) -> str:
    """Return when a step comes.

    >>> after(timedelta(days=2)), after(timedelta(hours=25)), after(timedelta(0))
    ('2 days later', '25 hours later', 'at once')
    """
    for name, size in _SIZES:
        if delay and delay % size == timedelta(0):
            count = delay // size
            return f"{count} {name}{'' if count == 1 else 's'} later"
    return "at once"


def followed(changed: StepsChanged) -> str:
    """Return what became of what waits for changed steps, as the end of a notice.

    >>> followed(StepsChanged(n_ended=1, n_moved=3))
    ' 1 execution ended with its step. 3 executions moved.'
    """
    told = ""
    if changed.n_ended:
        whose = "its step" if changed.n_ended == 1 else "their steps"
        told += f" {plural(changed.n_ended, 'execution')} ended with {whose}."
    if changed.n_moved:
        told += f" {plural(changed.n_moved, 'execution')} moved."
    if changed.n_skipped:
        late = plural(changed.n_skipped, "execution")
        told += f" {late} skipped: by the new delay their time has passed."
    return told
