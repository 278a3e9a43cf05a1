"""What the console calls each kind of operation, and what it says will happen."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from dashboard.operations.engagement_words import OF_ENGAGEMENTS
from dashboard.operations.execution_words import OF_EXECUTIONS
from dashboard.operations.release_words import RELEASES
from dashboard.operations.sending_words import OF_SENDING
from dashboard.operations.speech import EVENTS, JOBS, Words, capped
from tasks.models import OperationKind
from tasks.saying import mark, say_many

__all__ = ["WORDS", "Words"]

_K = OperationKind

WORDS: Final[Mapping[OperationKind, Words]] = {
    **OF_EXECUTIONS,
    **RELEASES,
    **OF_SENDING,
    **OF_ENGAGEMENTS,
    _K.CANCEL_JOBS: Words(
        "slash-circle",
        "danger",
        JOBS,
        deed=lambda n: say_many(
            n, "Cancel %(n)s scheduled job", "Cancel %(n)s scheduled jobs", n=capped(n)
        ),
        happens=lambda n: say_many(
            n,
            "%(n)s scheduled job does not happen. This cannot be undone.",
            "%(n)s scheduled jobs do not happen. This cannot be undone.",
            n=capped(n),
        ),
        unfit=lambda n: say_many(
            n,
            "%(n)s of those you selected does not wait any more and stays as it is.",
            "%(n)s of those you selected do not wait any more and stay as they are.",
        ),
        stays=(
            mark("What has become an execution already is not called back."),
            mark(
                "Where the booking or the episode is moved later, the rule plans a new "
                "job."
            ),
        ),
        later=mark("What is planned after this page was opened is left alone."),
        done=lambda n: say_many(
            n,
            "%(n)s cancelled; they will not happen.",
            "%(n)s cancelled; they will not happen.",
        ),
        missed=lambda n: say_many(
            n,
            "%(n)s skipped: they did not wait any more.",
            "%(n)s skipped: they did not wait any more.",
        ),
        nothing=(mark("Nothing to cancel"), mark("None of them waits any more.")),
        changed=lambda n, shown: say_many(
            n, "%(shown)s cancelled", "%(shown)s cancelled", shown=shown
        ),
        title=mark("Cancel scheduled jobs"),
    ),
    _K.REPLAY_EVENTS: Words(
        "arrow-counterclockwise",
        "primary",
        EVENTS,
        deed=lambda n: say_many(
            n, "Replay %(n)s event", "Replay %(n)s events", n=capped(n)
        ),
        happens=lambda n: say_many(
            n,
            "The rules as they are now look at %(n)s event once more.",
            "The rules as they are now look at %(n)s events once more.",
            n=capped(n),
        ),
        unfit=lambda n: say_many(
            n,
            "%(n)s of those you selected cannot be replayed and stays as it is.",
            "%(n)s of those you selected cannot be replayed and stay as they are.",
        ),
        stays=(
            mark(
                "A rule that has acted on an event does not act on it again; its "
                "decision then says “duplicate”."
            ),
            mark(
                "What a rule would do now is done at once, and is checked once more "
                "right before. What dates lead to is planned from bookings and "
                "episodes, not from events."
            ),
        ),
        later=mark("Events that come in after this page was opened are left alone."),
        done=lambda n: say_many(n, "%(n)s replayed.", "%(n)s replayed."),
        missed=lambda n: say_many(
            n,
            "%(n)s skipped: led to nothing new.",
            "%(n)s skipped: led to nothing new.",
        ),
        nothing=(mark("Nothing to replay"), mark("No event matches.")),
        changed=lambda n, shown: say_many(
            n,
            "%(shown)s led to something new",
            "%(shown)s led to something new",
            shown=shown,
        ),
        title=mark("Replay events"),
    ),
}
