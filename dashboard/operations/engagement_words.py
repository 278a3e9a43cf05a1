"""How waking, stopping, pausing and resuming many engagements speaks."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from dashboard.operations.speech import Noun, Words, capped
from tasks.models import OperationKind
from tasks.saying import mark, say_many

_K = OperationKind
_LATER: Final = mark(
    "Engagements that are made after this page was opened stay as they are."
)


def _unfit(n: int) -> str:
    return say_many(
        n,
        "%(n)s of those you selected stays as it is.",
        "%(n)s of those you selected stay as they are.",
    )


def _missed(n: int) -> str:
    return say_many(
        n, "%(n)s skipped: left as they were.", "%(n)s skipped: left as they were."
    )


ENGAGEMENTS: Final = Noun(
    lambda n, done, total: say_many(
        n,
        "%(done)s of %(total)s engagement looked at",
        "%(done)s of %(total)s engagements looked at",
        done=done,
        total=total,
    ),
    lambda n, shown: say_many(n, "%(shown)s skipped", "%(shown)s skipped", shown=shown),
)
OF_ENGAGEMENTS: Final[Mapping[OperationKind, Words]] = {
    _K.WAKE_ENGAGEMENTS: Words(
        "bell",
        "primary",
        ENGAGEMENTS,
        deed=lambda n: say_many(
            n, "Wake %(n)s engagement", "Wake %(n)s engagements", n=capped(n)
        ),
        happens=lambda n: say_many(
            n,
            "%(n)s engagement is scheduled for now: its agent is woken at once.",
            "%(n)s engagements are scheduled for now: their agents are woken at once.",
            n=capped(n),
        ),
        unfit=_unfit,
        stays=(mark("Caps and quiet hours hold as always."),),
        later=_LATER,
        done=lambda n: say_many(n, "%(n)s woken.", "%(n)s woken."),
        missed=_missed,
        nothing=(mark("Nobody to wake"), mark("None of them can be woken now.")),
        changed=lambda n, shown: say_many(
            n, "%(shown)s woken", "%(shown)s woken", shown=shown
        ),
        title=mark("Wake the agents of engagements"),
    ),
    _K.STOP_ENGAGEMENTS: Words(
        "stop-fill",
        "danger",
        ENGAGEMENTS,
        deed=lambda n: say_many(
            n, "Stop %(n)s engagement", "Stop %(n)s engagements", n=capped(n)
        ),
        happens=lambda n: say_many(
            n,
            "%(n)s engagement loses its schedule: nothing wakes its agent for it.",
            "%(n)s engagements lose their schedules: nothing wakes their agents.",
            n=capped(n),
        ),
        unfit=_unfit,
        stays=(mark("The agents may set new schedules at any time."),),
        later=_LATER,
        done=lambda n: say_many(n, "%(n)s stopped.", "%(n)s stopped."),
        missed=_missed,
        nothing=(mark("Nothing to stop"), mark("None of them has a schedule.")),
        changed=lambda n, shown: say_many(
            n, "%(shown)s stopped", "%(shown)s stopped", shown=shown
        ),
        title=mark("Stop engagements"),
    ),
    _K.PAUSE_ENGAGEMENTS: Words(
        "pause-fill",
        "danger",
        ENGAGEMENTS,
        deed=lambda n: say_many(
            n, "Pause %(n)s engagement", "Pause %(n)s engagements", n=capped(n)
        ),
        happens=lambda n: say_many(
            n,
            "%(n)s engagement is paused: what comes due passes.",
            "%(n)s engagements are paused: what comes due passes.",
            n=capped(n),
        ),
        unfit=_unfit,
        stays=(mark("What was announced already is not called back."),),
        later=_LATER,
        done=lambda n: say_many(n, "%(n)s paused.", "%(n)s paused."),
        missed=_missed,
        nothing=(mark("Nothing to pause"), mark("All of them are paused already.")),
        changed=lambda n, shown: say_many(
            n, "%(shown)s paused", "%(shown)s paused", shown=shown
        ),
        title=mark("Pause engagements"),
    ),
    _K.RESUME_ENGAGEMENTS: Words(
        "play-fill",
        "primary",
        ENGAGEMENTS,
        deed=lambda n: say_many(
            n, "Resume %(n)s engagement", "Resume %(n)s engagements", n=capped(n)
        ),
        happens=lambda n: say_many(
            n,
            "%(n)s engagement is announced again when it comes due.",
            "%(n)s engagements are announced again when they come due.",
            n=capped(n),
        ),
        unfit=_unfit,
        stays=(mark("What came due meanwhile stays passed."),),
        later=_LATER,
        done=lambda n: say_many(n, "%(n)s resumed.", "%(n)s resumed."),
        missed=_missed,
        nothing=(mark("Nothing to resume"), mark("None of them is paused.")),
        changed=lambda n, shown: say_many(
            n, "%(shown)s resumed", "%(shown)s resumed", shown=shown
        ),
        title=mark("Resume engagements"),
    ),
}
