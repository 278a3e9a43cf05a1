"""The steps of a rule in words: when they come, what a change does to them."""

from __future__ import annotations

from datetime import timedelta

from tasks.automation.step_changes import StepsChanged
from tasks.saying import say, say_many


def after(delay: timedelta) -> str:
    """Return when a step comes.

    >>> after(timedelta(days=2)), after(timedelta(hours=25)), after(timedelta(0))
    ('2 days later', '25 hours later', 'at once')
    """
    n_minutes = delay // timedelta(minutes=1)
    if n_minutes == 0:
        return say("at once")
    if n_minutes % 1440 == 0:
        return say_many(n_minutes // 1440, "%(n)s day later", "%(n)s days later")
    if n_minutes % 60 == 0:
        return say_many(n_minutes // 60, "%(n)s hour later", "%(n)s hours later")
    n = str(n_minutes)
    return say_many(n_minutes, "%(at)s minute later", "%(at)s minutes later", at=n)


def followed(changed: StepsChanged) -> str:
    """Return what became of what waits for changed steps, as the end of a notice.

    >>> followed(StepsChanged(n_ended=1, n_moved=3))
    ' 1 execution ended with its step. 3 executions moved.'
    """
    told = ""
    if n := changed.n_ended:
        told += " " + say_many(
            n,
            "%(n)s execution ended with its step.",
            "%(n)s executions ended with their steps.",
        )
    if n := changed.n_moved:
        told += " " + say_many(n, "%(n)s execution moved.", "%(n)s executions moved.")
    if n := changed.n_skipped:
        told += " " + say_many(
            n,
            "%(n)s execution skipped: by the new delay their time has passed.",
            "%(n)s executions skipped: by the new delay their time has passed.",
        )
    return told
